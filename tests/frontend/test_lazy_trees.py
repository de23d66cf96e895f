"""Trees of results that nobody has looked into are handed on as they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.frontend.lazy import bundle_of


@dataclass(frozen=True)
class State:
    """What is carried from step to step."""

    values: tuple[bs.Tensor, ...]
    count: bs.Tensor


def _step(state: State) -> State:
    return State(tuple(value + 1 for value in state.values), state.count + 1)


def test_a_tree_that_is_given_to_functions_stays_lazy() -> None:
    more = bs.jit(lambda tree: {name: value + 1 for name, value in tree.items()})
    both = bs.jit(lambda one, two: {name: one[name] * two[name] for name in one})
    tree = more({f"p{number}": bs.full((3,), float(number)) for number in range(6)})
    made = both(tree, more(tree))
    assert bundle_of(tree) is not None
    assert bundle_of(made) is not None
    assert [value.tolist() for value in tree.values()] == [[n + 1] * 3 for n in range(6)]
    expected = [[(n + 1) * (n + 2)] * 3 for n in range(6)]
    assert [value.tolist() for value in made.values()] == expected
    assert bundle_of(tree) is None


def test_a_dataclass_that_is_given_to_functions_stays_lazy() -> None:
    step = bs.jit(_step, donate="state")
    state = step(State(tuple(bs.full((3,), float(number)) for number in range(6)), bs.asarray(0)))
    for _ in range(2):
        before, state = state, step(state)
        assert bundle_of(before) is not None, "it was looked into"
    assert state.count.item() == 3
    assert [value.tolist() for value in state.values] == [[n + 3.0] * 3 for n in range(6)]


def test_a_learner_looks_into_no_state() -> None:
    learner = train.Learner(lambda model, x: bs.sum(model(x) ** 2), train.optimisers.AdamW(0.1))
    state = learner.begin(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)))
    x = bs.ones((2, 3))
    for _ in range(2):
        state, _ = learner.step(state, x)
    before = state
    state, report = learner.step(state, x)
    assert isinstance(report.loss.item(), float)
    assert bundle_of(before) is not None, "it was looked into"
    assert state.step.item() == 3


class Hidden:
    """An attribute that is kept under another name."""

    def __get__(self, owner: Any, cls: Any) -> Any:
        return 0 if owner is None else owner.kept

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)["kept"] = value


@dataclass
class Row:
    """Four results."""

    a: Any = None
    b: Any = None
    c: Any = None
    d: Any = None


@dataclass
class HiddenRow(Row):
    """A row, the first of which goes through a descriptor."""

    a: Any = Hidden()


def spread(make: Callable[..., Any]) -> Any:
    """What a compiled function makes of four numbers."""
    return bs.jit(lambda x: make(a=x, b=x + 1, c=x + 2, d=x + 3))(bs.asarray(4.0))


def test_dicts_that_nobody_has_looked_into_are_compared() -> None:
    assert spread(dict) == spread(dict)
    assert (spread(dict) != spread(dict)) is False
    assert {**spread(dict)} == spread(dict)


@pytest.mark.parametrize("of", [type, lambda made: made], ids=["class", "object"])
def test_a_dict_of_other_keys_is_a_plain_one(of: Callable[[Any], Any]) -> None:
    assert of(spread(dict)).fromkeys(["z"], 1) == {"z": 1}


def test_what_a_class_does_with_attributes_is_done() -> None:
    assert spread(HiddenRow).a.item() == 4.0


def test_a_tree_whose_class_is_registered_later_has_its_attributes() -> None:
    made = spread(Row)
    bs.register_tree(Row, lambda row: (vars(row).values(), None), lambda _, values: Row(*values))
    assert made.b.item() == 5.0
    assert vars(made).keys() == {"a", "b", "c", "d"}
