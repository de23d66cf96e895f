"""What a person is told who runs out of memory; the process goes on."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import shortage
from brimstone.frontend.alive import alive
from brimstone.runtime.device import Device, device_named

HUGE = 1 << 44
"""More floats than a machine has room for."""
COLUMN, ROW = np.ones((1 << 20, 1), np.float32), np.ones((1, 1 << 20), np.float32)


@pytest.fixture(autouse=True, params=["reference", "cpu"])
def device(request: pytest.FixtureRequest) -> Any:
    """Every test runs once on each device."""
    with device_named(request.param) as chosen:
        yield chosen


def outer(x: bs.Tensor) -> bs.Tensor:
    return x + bs.asarray(ROW)


def loss(x: bs.Tensor) -> bs.Tensor:
    return bs.sort(outer(x), axis=0).sum()


def as_many_as_are_true(x: bs.Tensor) -> bs.Tensor:
    return bs.broadcast_to(x[0], (bs.nonzero(x)[0].shape[0] * HUGE,))


ABSURD: dict[str, tuple[Callable[[], Any], str]] = {
    "zeros": (lambda: bs.zeros(HUGE).numpy(), "float32[17592186044416], 64.0 TiB"),
    "ones": (
        lambda: bs.ones((2, HUGE), dtype=bs.int8).numpy(),
        "int8[2, 17592186044416], 32.0 TiB",
    ),
    "arange": (lambda: bs.arange(HUGE).numpy(), "int64[17592186044416], 128.0 TiB"),
    "outer sum": (lambda: outer(bs.asarray(COLUMN)).numpy(), "float32[1048576, 1048576], 4.0 TiB"),
    "gradient": (lambda: bs.grad(loss)(bs.asarray(COLUMN)).numpy(), "[1048576, 1048576]"),
    "backward": (
        lambda: loss(bs.asarray(COLUMN).requires_grad_()).backward(),
        "[1048576, 1048576]",
    ),
    "random": (lambda: bs.randn(HUGE).numpy(), "[17592186044416], 64.0 TiB"),
    "compiled": (lambda: bs.jit(outer)(bs.asarray(COLUMN)), "float32[1048576, 1048576], 4.0 TiB"),
    "compiled gradient": (lambda: bs.jit(bs.grad(loss))(bs.asarray(COLUMN)), "[1048576, 1048576]"),
    "compiled, in two stages": (
        lambda: bs.jit(as_many_as_are_true)(bs.ones(3)),
        "float32[52776558133248], 192.0 TiB",
    ),
    "compiled, of open sizes": (
        lambda: bs.jit(outer, dynamic={"x": {0: "n"}})(bs.asarray(COLUMN)),
        "float32[1048576, 1048576], 4.0 TiB",
    ),
    "foreign memory": (
        lambda: bs.asarray(np.broadcast_to(np.float32(1), (HUGE,))),
        "float32[17592186044416], 64.0 TiB",
    ),
    "all but more than can be counted": (
        lambda: bs.zeros((1 << 63) - 1, dtype=bs.uint8).numpy(),
        "uint8[9223372036854775807], 8.0 EiB",
    ),
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_sizes_are_told_and_the_process_goes_on(name: str) -> None:
    run, wanted = ABSURD[name]
    with pytest.raises(bs.OutOfMemory) as caught:
        run()
    assert isinstance(caught.value, MemoryError)
    first, place, *_ = str(caught.value).splitlines()
    assert "there is not enough memory for " in first
    assert wanted in first
    assert "test_out_of_memory.py:" in place
    assert "\n  alive: " in str(caught.value)
    assert (bs.ones(3) + 1).numpy().tolist() == [2, 2, 2]


def test_the_line_that_recorded_it_is_named_and_the_one_that_needed_it() -> None:
    start = line()
    huge = bs.zeros(HUGE)
    later = huge * 2 + 1
    with pytest.raises(bs.OutOfMemory) as caught:
        later.numpy()
    text = str(caught.value)
    assert f"\n  at: {__file__}:{start + 1}\n" in text
    assert f"\n  needed at: {__file__}:{start + 4}\n" in text
    assert repr(caught.value.location) == f"{__file__}:{start + 1}"


def test_equal_functions_have_lines_of_their_own() -> None:
    starts: list[int] = []

    @bs.jit
    def one() -> bs.Tensor:
        starts.append(line())
        return bs.zeros(HUGE)

    @bs.jit
    def other() -> bs.Tensor:
        starts.append(line())
        return bs.zeros(HUGE)

    for function in (one, other):
        with pytest.raises(bs.OutOfMemory, match="at: ") as caught:
            function()
        assert f"\n  at: {__file__}:{starts[-1] + 1}\n" in str(caught.value)


@pytest.mark.parametrize("shape", [(1 << 40, 1 << 40), (1 << 70,), (1 << 31, 1 << 31, 1 << 31)])
def test_what_cannot_be_counted_is_refused_when_it_is_recorded(shape: tuple[int, ...]) -> None:
    with pytest.raises(bs.ArgumentError, match=r"2\^63 - 1 bytes|is not a size"):
        bs.zeros(shape)


def test_what_is_fused_away_is_not_blamed() -> None:
    func = bs.jit(lambda x: bs.sum(outer(x), axis=0)).lower(bs.asarray(COLUMN)).ir.main
    fused, kept = [shortage._largest(func, {}, asked) for asked in (4 << 40, 5 << 20)]
    assert fused is not None and kept is not None
    assert (fused.type.shape, kept.type.shape) == ((1 << 20, 1 << 20), (1 << 20,))


def test_the_allocators_own_words_are_told() -> None:
    problem = MemoryError("no room for locals")
    error = shortage.step_out_of_memory(problem, lambda: None, None)
    assert "run: there is not enough memory\n" in str(error)
    assert "\n  because: no room for locals\n" in str(error)


def test_without_memory_for_words_there_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory() -> Any:
        raise MemoryError

    monkeypatch.setattr(shortage, "alive", no_memory)
    error = shortage.step_out_of_memory(MemoryError(), no_memory, None)
    assert str(error).startswith("run: there is not enough memory\n  at: ")


def test_who_is_told_does_not_see_what_other_threads_are_about_to_make() -> None:
    """A tuple that grows belongs to nobody else: Python raises a SystemError otherwise."""
    done, made = Event(), list[int]()

    def make() -> None:
        while not done.is_set():
            made.append(len(tuple(str(each) for each in range(200))))

    with ThreadPoolExecutor(2) as threads:
        working = [threads.submit(make) for _ in range(2)]
        end = monotonic() + 1
        while monotonic() < end:
            assert alive()
        done.set()
        assert [each.result() for each in working] == [None, None]
    assert set(made) == {200}


def line() -> int:
    """The line that calls this."""
    return sys._getframe(1).f_lineno


LIMITED = """
import resource, brimstone as bs, numpy as np
from pathlib import Path

x = bs.ones((1024, 1024, 8)).sync()
(x + 1.0).sync()
mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (200 << 20), -1))
held = []
try:
    for number in range(1, 64):
        held.append((x + number).sync())
except MemoryError as error:
    print(len(held))
    print(error)
held.clear()
print(np.ones(150 << 20, np.uint8).nbytes >> 20)  # what is let go of is the process's again
print(bs.ones(160 << 18).sync().shape)
print((x + 1).sum().item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="how much is mapped is asked of Linux")
def test_a_limit_of_memory_is_told_and_the_process_goes_on(device: Device) -> None:
    environment = os.environ | {"BRIMSTONE_DEVICE": str(device), "BRIMSTONE_THREADS": "1"}
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, *told, others, shape, total = done.stdout.splitlines()
    held = int(count)
    assert 2 <= held <= 8
    assert told[:5] == [
        "run: there is not enough memory for float32[1024, 1024, 8], 32.0 MiB",
        "  at: <string>:12",
        f"  alive: {held + 1} tensors, {32 * (held + 1)}.0 MiB",
        f"    {32 * held:>4}.0 MiB  {held} × float32[1024, 1024, 8]  made at <string>:12",
        "      32.0 MiB  float32[1024, 1024, 8]  made at <string>:5",
    ]
    assert (others, shape, total) == ("150", "(41943040,)", "16777216.0")
