"""What was recorded of tensors before they were donated, and is read afterwards."""

from collections.abc import Iterator
from threading import Thread

import pytest

import brimstone as bs
from brimstone.frontend.jit import OFTEN
from brimstone.frontend.pending import readers_of


@pytest.fixture(autouse=True)
def on_the_processor() -> Iterator[None]:
    with bs.device("cpu"):
        yield


@pytest.mark.parametrize("calls", [1, 2 * OFTEN])
def test_what_is_recorded_of_a_donated_tensor_is_computed_before(calls: int) -> None:
    """Whichever way a call goes: the first ones, the quick one and the direct one."""
    step = bs.jit(lambda x, by: {"x": x["x"] + by}, donate="x")
    x = {"x": bs.full((3,), 0.0).sync()}
    for _ in range(calls):
        had = float(x["x"][0])
        twice = x["x"] * 2
        more, other = twice + 1, bs.ones(2) + 1
        assert twice.pending
        x = step(x, 1.0)
        assert x["x"].tolist() == [had + 1] * 3
        assert not x["x"].donated
        assert more.tolist() == [2 * had + 1] * 3
        assert twice.tolist() == [2 * had] * 3
        assert other.tolist() == [2, 2]
    assert bool(step._direct) == (calls > OFTEN)


def test_what_reads_nothing_donated_waits_on() -> None:
    """A sum over steps is not computed by each of them."""
    step = bs.jit(lambda x: (x + 1, bs.sum(x)), donate=0)
    x, total = bs.zeros((3,)).sync(), bs.zeros(())
    for _ in range(5):
        x, part = step(x)
        total = total + part
    assert total.pending
    assert readers_of([x.node]) == []
    assert total.item() == 30


def test_what_another_thread_has_recorded_hinders_nobody() -> None:
    step = bs.jit(lambda x: x + 1, donate=0)
    x = bs.zeros((3,)).sync()
    lost = x * 2
    thread = Thread(target=lambda: step(x).sync())
    thread.start()
    thread.join()
    assert (bs.ones(2) + 1).tolist() == [2, 2]
    with pytest.raises(bs.DeadTensorError, match="donated"):
        lost.numpy()


def test_what_was_donated_is_no_longer_pending() -> None:
    """A thread has recorded it, another one has computed it and given it away."""
    step = bs.jit(lambda x: x + 1, donate=0)
    x = bs.zeros((3,)) + 1
    assert (x.pending, x.donated) == (True, False)
    thread = Thread(target=lambda: step(x).sync())
    thread.start()
    thread.join()
    assert (x.pending, x.donated) == (False, True)
    assert (bs.ones(2) + 1).tolist() == [2, 2]
    bs.sync()
    with pytest.raises(bs.DeadTensorError, match="donated"):
        x.numpy()


def test_a_failure_of_what_is_recorded_donates_nothing() -> None:
    step = bs.jit(lambda x: x + 1, donate=0)
    x = bs.zeros((3,)).sync()
    bad = x[bs.asarray([7])]
    with pytest.raises(bs.PlaceError):
        step(x)
    assert x.tolist() == [0, 0, 0]
    del bad
    assert step(x).tolist() == [1, 1, 1]


def test_what_waits_since_something_failed_is_computed_before() -> None:
    step = bs.jit(lambda x: x + 1, donate=0)
    x = bs.zeros((3,)).sync()
    bad, twice = bs.ones(2)[bs.asarray([7])], x * 2
    with pytest.raises(bs.PlaceError):
        bad.numpy()
    assert twice.pending
    assert step(x).tolist() == [1, 1, 1]
    assert twice.tolist() == [0, 0, 0]
