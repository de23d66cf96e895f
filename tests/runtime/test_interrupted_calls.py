"""Ctrl-C in a call, and where somebody reads: what each leaves behind."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import brimstone as bs
from brimstone.runtime import arrays
from brimstone.runtime.arrays import use
from brimstone.runtime.native import core, ffi


@pytest.fixture(autouse=True)
def cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def test_what_an_interrupted_call_has_made_is_dropped() -> None:
    step = bs.jit(lambda x: x + 1)
    x = bs.ones((1 << 18,)).sync()
    step(x).sync()
    executable: Any = step.plans[0].executable
    (call,) = executable._prepared.values()
    program = call._program
    called = program.call
    gc.collect()
    step(x).sync()
    before = use().used

    def interrupted(*given: Any) -> None:
        called(*given)
        raise KeyboardInterrupt

    program.call = interrupted
    with pytest.raises(KeyboardInterrupt):
        step(x)
    program.call = called
    assert step(x)[0].item() == 2
    assert use().used <= before


def test_an_interrupt_between_two_waits_leaves_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads what takes long waits for a while, and again; what he asks for after an interrupt
    must not stand behind it."""

    class Interrupted:
        def __getattr__(self, name: str) -> Any:
            return getattr(core(), name)

        def brimstone_read(self, native: Any) -> Any:
            return ffi.NULL

        def brimstone_lend(self, native: Any) -> int:
            raise KeyboardInterrupt

    left: list[bool] = []
    x = bs.ones((8, 8)).sync()
    with monkeypatch.context() as patch:
        patch.setattr(arrays, "peek", lambda: lambda address: None)
        patch.setattr(arrays, "core", Interrupted)
        patch.setattr(arrays, "leave_behind", lambda: left.append(True))
        with pytest.raises(KeyboardInterrupt):
            x.numpy()
    assert left == [True]
    assert x.numpy().shape == x.shape
