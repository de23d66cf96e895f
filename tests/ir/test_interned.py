"""Equal things are one object for as long as anybody has it, and no longer."""

import gc
from threading import Barrier, Thread
from typing import Any
from weakref import ref

from brimstone.ir.dtypes import f32
from brimstone.ir.payloads import Number
from brimstone.ir.shared.interned import LATEST, Interned
from brimstone.ir.types import Tensor


class Thing:
    """What is compared with `is`."""


def test_the_first_stays_while_somebody_has_it() -> None:
    table = Interned[Thing](latest=0)
    first = table.keep("a", Thing())
    assert table.keep("a", Thing()) is first is table.get("a")
    assert table.get("b") is None
    assert len(table) == 1


def test_what_nobody_has_is_gone() -> None:
    table = Interned[Thing](latest=0)
    table.keep("a", Thing())
    assert table.get("a") is None
    assert len(table) == 0


def test_the_latest_stay_though_nobody_has_them() -> None:
    table = Interned[Thing](latest=2)
    seen = [ref(table.keep(key, Thing())) for key in "abc"]
    assert [each() is None for each in seen] == [True, False, False]
    assert table.get("c") is seen[2]()


def test_what_the_collector_finds_is_gone() -> None:
    table = Interned[Thing](latest=0)
    made = table.keep("a", Thing())
    made.itself = made  # pyright: ignore[reportAttributeAccessIssue]
    del made
    gc.collect()
    assert len(table) == 0


def test_who_is_told_late_leaves_the_successor() -> None:
    """The collector tells of things one after the other, when all of them have gone."""
    table, late = Interned[Thing](latest=0), list[Any]()
    tell, table._gone = table._gone, late.append  # pyright: ignore[reportAttributeAccessIssue]
    table.keep("a", Thing())
    assert table.get("a") is None
    successor = table.keep("a", Thing())
    tell(*late)
    assert table.get("a") is successor is table.keep("a", Thing())


def test_threads_have_the_same() -> None:
    table, meeting = Interned[Thing](latest=0), Barrier(4)
    seen: list[list[Thing]] = [[] for _ in range(4)]

    def work(own: list[Thing]) -> None:
        for key in range(500):
            meeting.wait()
            own.append(table.keep(key, Thing()))
            meeting.wait()
            if key % 2:
                own.pop()

    threads = [Thread(target=work, args=(own,)) for own in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine is his for own in seen[1:] for mine, his in zip(seen[0], own, strict=True))
    assert len(table) == 250


def test_types_and_numbers_go() -> None:
    kind, number = ref(Tensor((12345, 67891), f32)), ref(Number(0.123456, f32))
    assert kind() is Tensor((12345, 67891), f32)
    assert number() is Number(0.123456, f32)
    for other in range(2 * LATEST):
        Tensor((other, 67892), f32)
        Number(other + 0.123457, f32)
    assert kind() is None
    assert number() is None
