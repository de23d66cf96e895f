"""Batches on their way to a device.

Comes in: a tree of numpy arrays, a device. Goes out: the tree with tensors in the place of numbers.
Never: an upload of what is no number: texts stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..frontend.tree import tree_map
from .in_memory import NUMBER_KINDS

if TYPE_CHECKING:  # what tensors need is loaded when there are some, and never by workers
    from ..runtime.device import Device

HOST = "host"


def place_of(name: Any) -> Device | None:
    """The device that a user means; None for "host", where batches are numpy's."""
    from ..frontend.functions.creation import as_device
    from ..runtime.device import current_device

    return None if name == HOST else as_device(name, "Loader") or current_device()


def uploaded(batch: Any, device: Device | None) -> Any:
    """A batch on a device."""
    if device is None:
        return batch
    from ..frontend.functions.creation import asarray

    return tree_map(lambda leaf: asarray(leaf, device=device) if _numbers(leaf) else leaf, batch)


def _numbers(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in NUMBER_KINDS
