"""Tables that all threads share, and that another one adds to while this one looks through them."""

from threading import Thread
from typing import Any

import pytest

import brimstone as bs
from brimstone.frontend import force
from brimstone.frontend.arguments import Roles
from brimstone.frontend.quick import Quick
from brimstone.frontend.tree import LEAF
from brimstone.runtime import steps


class Adding:
    """A part of a table, which gets an entry whenever somebody looks at this."""

    def __init__(self, table: dict[Any, Any]) -> None:
        self.table = table

    def add(self) -> None:
        self.table[len(self.table) + 1] = ()

    @property
    def structure(self) -> None:
        self.add()

    def __getitem__(self, place: slice) -> None:
        self.add()


def test_whether_there_is_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[Any, Any] = {}
    table |= {Adding(table): None, ("cpu", "of another", ()): None}
    monkeypatch.setattr(steps, "_STEPS", table)
    monkeypatch.setattr(steps, "Module", lambda funcs: funcs)
    monkeypatch.setattr(steps, "_key_of", lambda *given: ("cpu", "", ()))
    func: Any = None
    assert not steps.is_compiled(func, func, ())
    assert len(table) == 3


def test_what_finds_a_tree() -> None:
    quick = Quick(Roles(abs, (), (), {}))
    table: dict[Any, Any] = quick._known
    table |= {1: (Adding(table),), 2: (Adding(table),)}
    assert quick.finder(LEAF) is None
    assert len(table) == 4


def test_what_another_thread_has_computed_meanwhile_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It computed y, which was made of x, and then gave x away."""
    compute, x = force._compute, bs.ones(3).sync()
    y = x + 1

    def too_late(nodes: Any, *rest: Any, **settings: Any) -> None:
        compute(nodes, *rest, **settings)
        raise bs.DeadTensorError("read", "the tensor was donated")

    monkeypatch.setattr(force, "_compute", too_late)
    assert y.tolist() == [2, 2, 2]


def test_what_another_thread_computes_and_gives_away_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the look for what is compiled and the making of a step of one's own."""
    give_away = bs.jit(lambda x: x + 1, donate=0)

    def late(*given: Any) -> Any:
        monkeypatch.setattr(force, "make", make)
        other = Thread(target=lambda: give_away(x))
        other.start()
        other.join()
        return make(*given)

    make, x = force.make, bs.arange(40) * 3 - bs.ones((40,))
    monkeypatch.setattr(force, "make", late)
    with pytest.raises(bs.DeadTensorError, match="donated"):
        x.numpy()
