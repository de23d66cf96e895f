"""Trees of results that nobody has looked into are handed on as they are."""

from dataclasses import dataclass

import brimstone as bs
from brimstone import nn, train
from brimstone.frontend.bundle import bundle_of


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
