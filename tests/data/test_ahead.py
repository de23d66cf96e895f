"""Batches made ahead: in order, one maker at a time, by whoever is sooner."""

from collections.abc import Callable, Iterator
from itertools import count
from threading import Condition, Event, Lock, Thread, current_thread
from types import FrameType
from typing import Any

import pytest

from brimstone.data import ahead
from brimstone.data.ahead import Ahead
from kit.interrupts import interrupted


class Maker:
    """Doubles a job; knows who used it, and whether two did at once."""

    def __init__(self) -> None:
        self.users: list[Thread] = []
        self.lock = Lock()

    def __call__(self, job: int) -> int:
        assert self.lock.acquire(blocking=False), "two threads use one maker"
        self.users.append(current_thread())
        self.lock.release()
        return 2 * job


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(ahead, "perf_counter", made)
    return made


def slowly(clock: Clock, seconds: float, maker: Maker) -> Callable[[int], int]:
    """A maker that takes so long."""

    def make(job: int) -> int:
        clock.now += seconds
        return maker(job)

    return make


def test_who_is_fast_makes_them_himself(clock: Clock) -> None:
    maker = Maker()
    taken = list(Ahead(iter(range(9)), [slowly(clock, 1e-4, maker)], most=2))
    assert taken == [*range(0, 18, 2)]
    assert set(maker.users) == {current_thread()}


def test_who_is_slow_finds_them_made(clock: Clock) -> None:
    maker = Maker()
    batches = Ahead(iter(range(9)), [slowly(clock, 1e-4, maker)], most=2)
    assert next(batches) == 0
    clock.now += 1e-3
    assert list(batches) == [*range(2, 18, 2)]
    assert maker.users[0] is current_thread()
    assert maker.users[1] is not current_thread()


def test_what_takes_long_is_made_while_the_first_is_used(clock: Clock) -> None:
    """The second is made though nobody has asked for it."""
    second = Event()
    maker = Maker()

    def make(job: int) -> int:
        if job == 1:
            second.set()
        return slowly(clock, 0.1, maker)(job)

    batches = Ahead(iter(range(9)), [make], most=1)
    assert next(batches) == 0
    assert second.wait(10)
    assert list(batches) == [*range(2, 18, 2)]


def test_no_more_is_made_than_may_be() -> None:
    batches: Ahead

    def jobs() -> Iterator[int]:
        for job in count():
            assert job <= batches._taken + 4
            yield job

    batches = Ahead(jobs(), [Maker() for _ in range(3)], most=4)
    assert [next(batches) for _ in range(200)] == [*range(0, 400, 2)]
    batches.close()


@pytest.mark.parametrize("makers", [1, 2, 5])
@pytest.mark.parametrize("takers", [1, 2, 4])
@pytest.mark.parametrize("size", [0, 1, 7, 2000])
def test_each_is_taken_once(makers: int, takers: int, size: int) -> None:
    """However many make, and take: sooner or later, and with the next batch or without."""
    batches = Ahead(iter(range(size)), [Maker() for _ in range(makers)], most=makers + 1)
    taken: list[list[Any]] = [[] for _ in range(takers)]

    def take(into: list[Any]) -> None:
        for each in batches:
            into.append(each)
            if each % 29 == 0:
                Event().wait(1e-4)

    threads = [Thread(target=take, args=(into,)) for into in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert all(each == sorted(each) for each in taken)
    assert sorted(each for into in taken for each in into) == [*range(0, 2 * size, 2)]


@pytest.mark.parametrize("seconds", [1e-4, 1e-2])
def test_an_error_is_raised_in_the_place_of_its_job(clock: Clock, seconds: float) -> None:
    def make(job: int) -> int:
        clock.now += seconds
        return 10 // (2 - job)

    batches = Ahead(iter(range(9)), [make], most=3)
    assert [next(batches), next(batches)] == [5, 10]
    with pytest.raises(ZeroDivisionError):
        next(batches)
    assert next(batches) == -10


@pytest.mark.parametrize("makers", [1, 3])
def test_jobs_that_fail(makers: int) -> None:
    def jobs() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    batches = Ahead(jobs(), [Maker() for _ in range(makers)], most=3)
    assert next(batches) == 2
    with pytest.raises(ValueError, match="no more"):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


def test_no_interrupt_of_who_takes_lets_go_of_a_lock_of_others() -> None:
    """Only an interrupt comes out of it, and whoever takes after it gets what is next."""
    codes = {each.__code__ for each in vars(Ahead).values() if hasattr(each, "__code__")}
    codes |= {each.__code__ for each in vars(Condition).values() if hasattr(each, "__code__")}

    def looks_at_signals(frame: FrameType, event: str) -> bool:
        return event in ("call", "c_return") and frame.f_code in codes

    for times in count():
        goes_on = Event()

        def make(job: int, goes_on: Event = goes_on) -> int:
            goes_on.wait(1e-3)  # so that who takes waits
            return job

        batches = Ahead(iter(range(4)), [make, make], most=4)
        is_over = not interrupted(lambda it=batches: next(it), times, looks_at_signals)
        goes_on.set()
        assert batches._state.acquire(timeout=10)
        batches._state.release()
        batches.close()
        if is_over:
            break
    assert times > 5
