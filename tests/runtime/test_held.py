"""The core's own types of Python: what holds arrays, and programs that are called."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import ref

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.force import buffer_of
from brimstone.runtime import arrays
from brimstone.runtime.arrays import Arrays, borrowed, empty, joined, use
from brimstone.runtime.held import Dealer, Held
from brimstone.targets.script import Form, NoMemory


@pytest.fixture(autouse=True)
def cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def settled() -> int:
    """What arrays use when nothing is left to drop."""
    gc.collect()
    arrays.drop_gone()
    arrays.take_back()
    return use().used


VALUES: list[Any] = [
    np.float32(0.1), np.float32("nan"), np.float32(-0.0), np.float64(1e300), np.float64("-inf"),
    np.int32(-(2**31)), np.int64(2**63 - 1), np.int64(-(2**63)), np.True_, np.False_,
    np.uint8(255), np.uint64(2**64 - 1), np.int8(-128), np.float16(1.5), np.complex64(1 + 2j),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_number_is_read_as_numpy_reads_it(value: Any) -> None:
    """Those that the core reads itself, and all others."""
    found, expected = borrowed(np.asarray(value)).number(), value.item()
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)


def test_a_number_that_is_still_to_be_computed_is_waited_for() -> None:
    x = bs.ones((400, 400))
    for _ in range(5):
        x = bs.tanh(x @ x)
    assert float(bs.sum(x)) == 400 * 400


def test_only_an_array_that_is_alone_is_a_number() -> None:
    none = Arrays(0, (), 0)
    with pytest.raises(IndexError):
        none.number()


def steps() -> Iterator[tuple[Callable[[Any], Any], Any]]:
    """A step, called the direct way, and what it is given."""
    for donate in ((), (0,)):
        step = bs.jit(lambda x: {"a": x + 1, "b": [x.sum(), x * 2]}, donate=donate)
        for _ in range(40):
            bs.sync(step(bs.ones((3,)).sync()))
        yield step, donate


def test_calls_leave_no_reference_behind() -> None:
    """None to the types, to the forms, or to the pieces."""
    x = bs.ones((3,)).sync()
    piece = buffer_of(x.node)
    for step, donated in steps():
        held = [Arrays, Held, Dealer, None, piece, piece.forms, piece.forms[0]]
        before = [sys.getrefcount(each) for each in held]
        for _ in range(1000):
            step(bs.ones((3,)).sync() if donated else x)
        gc.collect()
        arrays.drop_gone()
        after = [sys.getrefcount(each) for each in held]
        assert max(abs(one - other) for one, other in zip(before, after, strict=True)) < 100


def test_who_is_dropped_drops_what_he_holds() -> None:
    before = settled()
    many = joined([borrowed(np.ones(1000)) for _ in range(10)])
    part = many[3:5]
    del many
    assert [each.array()[0] for each in part] == [1, 1]
    gone = ref(part)
    del part
    assert gone() is None
    assert settled() == before


def test_what_is_no_piece_is_an_error() -> None:
    step = bs.jit(lambda x: x + 1)
    x = bs.ones((3,)).sync()
    bs.sync(step(x))
    executable: Any = step.plans[0].executable
    (call,) = executable._prepared.values()
    dealer = call.dealer((1,))
    buffer = buffer_of(x.node)
    beside = step.plans[0].beside(None).scalars
    assert dealer(buffer, beside)[0].array().tolist() == [2, 2, 2]
    assert dealer([buffer], [*beside])[0].array().tolist() == [2, 2, 2]
    for wrong in (None, 3, [None], (buffer, "text"), {buffer: 1}, b"a"):
        with pytest.raises((TypeError, KeyError)):
            dealer(wrong, beside)
    with pytest.raises(NoMemory):
        dealer()  # as many arrays as the plan says, or none at all
    assert dealer(buffer, beside)[0].array().tolist() == [2, 2, 2]


MISUSES = [(), (1,), ("a", (), 0), (0, (), "many"), (0, (), 0, 0)]


@pytest.mark.parametrize("given", MISUSES, ids=repr)
def test_they_are_made_of_what_they_say(given: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Arrays(*given)
    with pytest.raises(TypeError):
        Dealer(*given)


def test_nobody_derives_from_a_dealer() -> None:
    base: Any = Dealer
    with pytest.raises(TypeError):
        type("Other", (base,), {})


def test_threads_drop_and_call() -> None:
    """What one of them drops another one's call tells the core."""
    before = settled()
    step = bs.jit(lambda x: (x + 1, x.sum(), {"c": x * 2}))

    def work(number: int) -> None:
        with bs.device("cpu"):
            x = bs.full((100,), float(number)).sync()
            for _ in range(300):
                more, total, rest = step(x)
                assert total.item() == number * 100
                assert more[0].item() == number + 1
                assert rest["c"][99].item() == number * 2

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(8)))
    assert settled() <= before + 4096


def test_an_array_without_memory_is_none() -> None:
    with pytest.raises(NoMemory):
        empty((1 << 50,), np.dtype(np.uint8))
    form = Form((), np.dtype(np.float32))
    with pytest.raises(NoMemory):
        arrays.owned((form,), lambda: arrays.ffi.NULL)


AT_THE_END = """
import threading, time
import brimstone as bs
x = bs.ones((200, 200), device="cpu").sync()
step = bs.jit(lambda x: (x @ x / 200, x.sum()))
started = threading.Semaphore(0)
def forever():
    global x
    mine = x
    while True:
        mine, total = step(mine)
        total.item()
        started.release()
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
for _ in range(100):
    started.acquire()
"""


@pytest.mark.parametrize("number", range(5))
def test_a_process_ends_while_threads_call_and_read(number: int) -> None:
    """Python ends these threads where they want its lock again, in the middle of a call."""
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END + f"time.sleep({number} * 2e-4)\n"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
