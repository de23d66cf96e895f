"""Devices as users name them: strings, objects, and contexts that choose one.

Comes in: names. Goes out: devices. `with bs.device("reference"):` makes tensors there meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..runtime.device import Device, device_named
from ..targets import TARGETS
from .errors import DeviceError, fail
from .functions.creation import as_device

if TYPE_CHECKING:
    from ..runtime.arrays import Use


def device(name: Any) -> Device:
    """The device of that name; as a context, the place where this thread makes tensors."""
    found = as_device(name, "device")
    if found is None:
        fail(DeviceError, "device", "a device has a name", name, hint='`bs.device("cpu")`')
    return found


def memory_use() -> Use:
    """Bytes that tensors of the CPU use: now, at most so far, kept for tensors to come."""
    from ..runtime.arrays import use  # which opens the native library

    return use()


def devices() -> list[Device]:
    """Every device there is."""
    return [device_named(name) for name in TARGETS]
