"""Copies of what is no tensor: compiled functions, generators of keys, and gradients."""

import copy
import pickle
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn


@bs.jit
def doubled(x: Any) -> Any:
    return x * 2


class Model(nn.Module):
    """A model with a compiled function of its own."""

    def __init__(self) -> None:
        self.function = bs.jit(lambda x: x + 1)
        self.weight = bs.ones((2,))

    def forward(self, x: Any) -> Any:
        return self.function(x * self.weight)


def test_a_copy_of_a_function_is_the_function() -> None:
    assert doubled(bs.ones((2,))).tolist() == [2, 2]
    assert copy.copy(doubled) is copy.deepcopy(doubled) is doubled
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_a_function_without_a_name_is_not_pickled() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(bs.jit(lambda x: x))


def test_a_model_with_a_function_that_was_called_is_copied() -> None:
    model = Model()
    model(bs.ones((2,)))
    assert copy.deepcopy(model)(bs.ones((2,))).tolist() == [2, 2]


def test_a_copy_of_a_generator_goes_on_where_it_is() -> None:
    generator = bs.Generator(7)
    generator.next_words()
    others = [copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
    for _ in range(2):
        expected = generator.next_words().tolist()
        assert [each.next_words().tolist() for each in others] == [expected, expected]


def test_copies_of_gradients_are_found_by_their_tensors() -> None:
    weight = bs.tensor([1.0, 2.0], requires_grad=True)
    gradients = (weight * weight).sum().backward()
    assert copy.deepcopy(gradients)[weight].tolist() == [2, 4]
    for protocol in (0, pickle.HIGHEST_PROTOCOL):
        data = pickle.dumps(({"w": weight, "again": weight}, gradients), protocol)
        tree, made = pickle.loads(data)
        assert tree["w"].requires_grad
        assert made.of(tree)["again"].tolist() == [2, 4]
