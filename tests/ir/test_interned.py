"""Equal things are one object for as long as anybody has it, and no longer."""

import gc
from threading import Barrier, Thread
from typing import Any
from weakref import ref

import pytest

from brimstone.ir.dtypes import f32
from brimstone.ir.payloads import Number
from brimstone.ir.shared.interned import LATEST, Interned, Unique
from brimstone.ir.types import Tensor


class Thing:
    """What is compared with `is`."""


class Named:
    """The same, which knows its key."""

    def __init__(self, *key: Any) -> None:
        self.key = key


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


@pytest.mark.parametrize("cls", [Interned, Unique])
def test_threads_have_the_same(cls: Any) -> None:
    table, meeting = Interned[Thing](latest=0) if cls is Interned else Unique[Named](), Barrier(4)
    seen: list[list[Any]] = [[] for _ in range(4)]

    def keep(key: int) -> Any:
        return table.keep(Named(key)) if isinstance(table, Unique) else table.keep(key, Thing())

    def work(own: list[Any]) -> None:
        for key in range(500):
            meeting.wait()
            own.append(keep(key))
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


def test_who_knows_his_key_is_one_while_somebody_has_him() -> None:
    table = Unique[Named]()
    first = table.keep(Named("a", 1))
    assert table.keep(Named("a", 1)) is first is table.get(("a", 1))
    assert table.get(("a", 2)) is None
    del first
    assert len(table) == 0


def test_equal_numbers_of_keys_are_no_equal_keys() -> None:
    table = Unique[Named]()
    one, other = table.keep(Named(-1)), table.keep(Named(-2))
    assert hash((-1,)) == hash((-2,))
    assert table.get((-1,)) is one
    assert table.get((-2,)) is other
    del one
    assert table.get((-1,)) is None
    assert table.get((-2,)) is other


def test_a_thing_that_its_key_leads_to_is_gone() -> None:
    table, part = Unique[Named](), Thing()
    part.whole = table.keep(Named(part))  # pyright: ignore[reportAttributeAccessIssue]
    assert table.get((part,)) is part.whole  # pyright: ignore[reportAttributeAccessIssue]
    del part
    gc.collect()
    assert len(table) == 0


def test_who_knows_his_key_is_told_late_and_leaves_the_successor() -> None:
    table = Unique[Named]()
    table.keep(Named("a"))
    assert table.get(("a",)) is None
    late = [*table._gone]
    table._gone.clear()
    successor = table.keep(Named("a"))
    table._gone.extend(late)
    assert table.get(("a",)) is successor is table.keep(Named("a"))
    assert len(table) == 1
