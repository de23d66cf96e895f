"""Devices: which there are, which is meant where none is named, and where a buffer lives.

Comes in: names such as "reference", or "cpu:0", which is "cpu". Goes out: one `Device` a name.
Never: a kernel, or a tensor.
"""

import os
from collections.abc import Callable
from contextvars import ContextVar
from threading import RLock
from typing import TypeVar

from ..passes.forks import held_across_forks
from ..passes.once import once
from ..targets import TARGETS, Target

VARIABLE = "BRIMSTONE_DEVICE"
Made = TypeVar("Made")


class Device:
    """One device: a target, and what it is called."""

    __slots__ = ("_hash", "_name", "target")

    def __init__(self, name: str, target: Target) -> None:
        self.target = target
        self._name, self._hash = name, hash(name)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"device({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self._name)

    def __hash__(self) -> int:
        return self._hash

    def __enter__(self) -> "Device":
        """Let tensors made from nothing in this thread, or this task of asyncio's, live here, until
        the context ends."""
        _CHOSEN.set((*_CHOSEN.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        chosen = _CHOSEN.get()
        last = max(at for at, each in enumerate(chosen) if each is self)  # others may still be on
        _CHOSEN.set((*chosen[:last], *chosen[last + 1 :]))

    def around(self, work: Callable[[], Made]) -> Made:
        """What is made while the context runs. Its end is no call, which an interrupt might come
        right before: then the device would stay."""
        before = _CHOSEN.get()
        try:
            _CHOSEN.set((*before, self))
            return work()
        finally:
            _CHOSEN.set(before)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return device_named, (str(self),)


_DEVICES: dict[str, Device] = {}
_MAKING = held_across_forks(RLock())
_CHOSEN: ContextVar[tuple[Device, ...]] = ContextVar("brimstone_devices", default=())
"""The devices of the contexts that this thread, or this task, is in."""


def device_named(name: str) -> Device:
    """The device of that name; `ValueError` says which there are."""
    name = _canonical(name)
    found = _DEVICES.get(name)
    if found is None:
        if name not in TARGETS:
            raise ValueError(f"there is no device {name!r}; there are: {', '.join(TARGETS)}")
        with once(_MAKING):  # a handler of signals would find modules that are half there
            from .host import shared_host  # which opens the native library

            found = _DEVICES.setdefault(name, Device(name, TARGETS[name](shared_host())))
    return found


def current_device() -> Device:
    """The device of tensors that are made from nothing: chosen in this thread, or by default."""
    chosen = _CHOSEN.get()
    return chosen[-1] if chosen else default_device()


def chosen_device() -> Device | None:
    """The device that a context of this thread has chosen; None outside of all."""
    chosen = _CHOSEN.get()
    return chosen[-1] if chosen else None


def default_device() -> Device:
    """The device that BRIMSTONE_DEVICE names, else the first there is."""
    return device_named(os.environ.get(VARIABLE) or next(iter(TARGETS)))


def wait_for_all() -> None:
    """Return when all that this thread asked for is done, on every device."""
    for device in list(_DEVICES.values()):
        device.target.wait()


def _canonical(name: str) -> str:
    return name.removesuffix(":0")
