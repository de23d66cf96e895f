"""What `__init__` may do: everything that Python does, until it has ended."""

from collections import OrderedDict
from functools import cached_property
from inspect import signature
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn


class Made(nn.Module):
    """Made by a function."""

    weight: Any
    parts: Any
    _form: Any

    def __init__(self, make: Any) -> None:
        make(self)

    @property
    def size(self) -> int:
        """An attribute that is another one."""
        return self._size

    @size.setter
    def size(self, value: int) -> None:
        self._size = 2 * value

    @property
    def area(self) -> int:
        """An attribute that nobody sets."""
        return self.size**2

    @cached_property
    def doubled(self) -> Any:
        """A tensor that Python keeps beside the attributes."""
        return self.weight * 2


def made_with(**values: Any) -> Made:
    """A module with these attributes."""

    def make(module: Made) -> None:
        for name, value in values.items():
            setattr(module, name, value)

    return Made(make)


def test_properties_are_set_as_everywhere() -> None:
    assert made_with(size=3).size == 6
    assert made_with(size=3).area == 36
    with pytest.raises(AttributeError, match="area"):
        made_with(area=3)


def test_attributes_may_have_any_name() -> None:
    module = made_with(_form=1, params=bs.ones(2), weight=bs.ones(3))
    assert list(module.state_dict()) == ["params", "weight"]
    assert module.freeze("weight").replace(_form=2)._form == 2


def test_an_attribute_may_be_deleted_until_it_is_made() -> None:
    def make(module: Any) -> None:
        module.weight, module.mean = bs.ones(2), nn.Buffer(bs.ones(2))
        del module.mean

    assert list(Made(make).state_dict()) == ["weight"]


def test_a_buffer_is_read_like_any_tensor() -> None:
    def make(module: Any) -> None:
        module.mean = nn.Buffer(bs.ones(2))
        module.variance = nn.Buffer(module.mean * 3)
        module.weight = nn.Buffer(bs.ones(2))
        module.weight = module.weight + module.mean

    module = Made(make)
    assert list(module.buffers()) == ["mean", "variance"]
    assert module.params()["weight"].tolist() == [2.0, 2.0]


def test_a_buffer_may_be_a_list_and_nothing_else_is_one_in_part() -> None:
    assert list(made_with(means=nn.Buffer([bs.ones(2), bs.ones(2)])).buffers()) == [
        "means.0", "means.1",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"an attribute of a module(?s:.*)mark the whole"):
        made_with(means=[bs.ones(2), nn.Buffer(bs.ones(2))])
    with pytest.raises(ValueError, match=r"the buffer teacher is a module(?s:.*)freeze"):
        made_with(teacher=nn.Buffer(nn.Identity()))


def test_what_is_asked_too_early_is_told_so() -> None:
    with pytest.raises(bs.ArgumentError, match="Made: this is asked of a module that is still"):
        Made(lambda module: module.params())
    shown: list[str] = []
    Made(lambda module: shown.append(repr(module)))
    assert shown == ["<Made being made>"]


def test_what_python_keeps_is_not_replaced_along() -> None:
    module = made_with(weight=bs.ones(2))
    structure = bs.tree_flatten(module)[1]
    assert module.doubled.tolist() == [2.0, 2.0]
    made = module.replace(weight=bs.zeros(2))
    assert made.doubled.tolist() == [0.0, 0.0]
    assert bs.tree_flatten(made)[1] is structure


def test_what_is_no_tensor_stays_where_the_others_move() -> None:
    module = made_with(parts=[bs.ones(2), "relu", bs.relu])
    assert module.to(bs.float16).parts[0].dtype == bs.float16
    assert module.to("reference").parts[1:] == ["relu", bs.relu]


@pytest.mark.parametrize("make", [OrderedDict, bs.jit(lambda parts: parts)], ids=["ordered", "jit"])
def test_dicts_of_every_kind_are_children(make: Any) -> None:
    parts = make({name: bs.ones(1) for name in "abcde"})
    assert list(made_with(parts=parts).params()) == [f"parts.{name}" for name in "abcde"]


class Sized(nn.Module):
    """Made of its annotations."""

    size: int


class Drawn(Sized):
    """Has more, which is made of what it is given."""

    def __post_init__(self) -> None:
        self.weight = bs.ones(self.size)

    def forward(self, x: Any, twice: bool = False) -> Any:
        """x -> a multiple"""
        return x * self.weight * (2 if twice else 1)


def test_what_is_left_to_do_is_done_after_an_inherited_init() -> None:
    assert Drawn(3).weight.shape == (3,)


def test_parameters_of_forward_have_names() -> None:
    assert list(signature(Drawn(1)).parameters) == ["x", "twice"]
    assert list(signature(Drawn).parameters) == ["size"]
    compiled = bs.jit(Drawn(1), static="twice")
    assert [compiled(bs.ones(1), each).item() for each in (False, True)] == [1.0, 2.0]
