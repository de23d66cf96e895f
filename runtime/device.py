"""Devices: which there are, which is meant where none is named, and where a buffer lives.

Comes in: names such as "reference" or "cuda:0". Goes out: one `Device` a name.
Never: a kernel, or a tensor.
"""

import os
from threading import local

from ..targets import TARGETS, Target

VARIABLE = "BRIMSTONE_DEVICE"


class Device:
    """One device: a target and which of its machines."""

    __slots__ = ("_hash", "_name", "index", "kind", "target")

    def __init__(self, kind: str, index: int, target: Target) -> None:
        self.kind, self.index, self.target = kind, index, target
        self._name = f"{kind}:{index}" if index else kind
        self._hash = hash(self._name)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and _canonical(other) == str(self))

    def __hash__(self) -> int:
        return self._hash

    def __enter__(self) -> "Device":
        """Let tensors made from nothing in this thread live here, until the context ends."""
        _CHOSEN.devices.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _CHOSEN.devices.pop()

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return device_named, (str(self),)


class _Chosen(local):
    """The devices of the contexts that this thread is in."""

    def __init__(self) -> None:
        self.devices: list[Device] = []


_DEVICES: dict[str, Device] = {}
_CHOSEN = _Chosen()


def device_named(name: str) -> Device:
    """The device of that name; `ValueError` says which there are."""
    name = _canonical(name)
    found = _DEVICES.get(name)
    if found is None:
        kind, _, index = name.partition(":")
        if kind not in TARGETS or not (index or "0").isdigit() or int(index or 0) > 0:
            raise ValueError(f"there is no device {name!r}; there are: {', '.join(TARGETS)}")
        from .host import shared_host  # which opens the native library

        target = TARGETS[kind](shared_host())
        found = _DEVICES.setdefault(name, Device(kind, int(index or 0), target))
    return found


def current_device() -> Device:
    """The device of tensors that are made from nothing: chosen in this thread, or by default."""
    return _CHOSEN.devices[-1] if _CHOSEN.devices else default_device()


def chosen_device() -> Device | None:
    """The device that a context of this thread has chosen; None outside of all."""
    return _CHOSEN.devices[-1] if _CHOSEN.devices else None


def default_device() -> Device:
    """The device that BRIMSTONE_DEVICE names, else the first there is."""
    return device_named(os.environ.get(VARIABLE) or next(iter(TARGETS)))


def wait_for_all() -> None:
    """Return when all that this thread asked for is done, on every device."""
    for device in list(_DEVICES.values()):
        device.target.wait()


def _canonical(name: str) -> str:
    return name.removesuffix(":0")
