"""Programs of the CPU, run on host arrays.

Comes in: a program, arrays. Goes out: arrays.
Never: an array that somebody changes while the program runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brimstone.ir.payloads import Array
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm.program import Program


def played(
    program: Program, arrays: Sequence[Any], sizes: Mapping[str, int] | None = None
) -> tuple[Array, ...]:
    """What the program makes of arrays, where its symbols have these sizes."""
    lent = [shared_host().borrowed(_plain(array)) for array in arrays]
    return tuple([each.array() for each in program([lent], sizes or {})])


def _plain(array: Any) -> Array:
    return np.require(array, requirements=("C", "A")).reshape(np.shape(array))
