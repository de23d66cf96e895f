"""Modules are frozen trees: what is a child, what a setting, and what a change makes."""

import copy
import pickle
from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from brimstone.frontend.errors import fail


class Scaled(nn.Module):
    """A weight, a running mean, a setting, and perhaps nothing."""

    def __init__(self, size: int, power: float = 1.0) -> None:
        self.weight = bs.ones(size)
        self.mean = nn.Buffer(bs.zeros(size))
        self.power = power
        self.bias = None

    def forward(self, x: Any) -> Any:
        if nn.is_training():
            self.update(mean=0.5 * self.mean + 0.5 * x.mean(axis=0))
        return (x - self.mean) * self.weight**self.power


class Stack(nn.Module):
    """Made of its annotations, like a dataclass."""

    layers: list[Any]
    scale: float = 2.0

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x * self.scale


@pytest.fixture
def stack() -> Stack:
    return Stack([Scaled(3), Scaled(3, power=2.0)])


X = bs.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])


def test_tensors_are_children_and_all_else_is_structure(stack: Stack) -> None:
    paths = ["layers.0.weight", "layers.0.mean", "layers.1.weight", "layers.1.mean"]
    leaves, structure = bs.tree_flatten(stack)
    assert list(bs.tree_paths(stack)) == paths
    assert [leaf.shape for leaf in leaves] == [(3,)] * 4
    again = structure.build(leaves)
    assert type(again) is Stack
    assert again.scale == 2.0
    assert again.layers[1].power == 2.0
    assert bs.tree_flatten(again)[1] is structure


def test_settings_that_are_equal_for_python_make_different_structures() -> None:
    structures = [bs.tree_flatten(Scaled(3, power))[1] for power in (1, 1.0, True, 0.0, -0.0)]
    assert len(set(structures)) == 5
    assert bs.tree_flatten(Scaled(3, 1.0))[1] is structures[1]


NAN = [float("nan"), np.float32("nan"), complex("nan"), (1, float("nan"))]


@pytest.mark.parametrize("number", NAN, ids=repr)
def test_settings_that_are_no_numbers_make_one_structure(number: Any) -> None:
    structures = [bs.tree_flatten(Scaled(3, each))[1] for each in (number, copy.deepcopy(number))]
    again: Any = type(number)(number) if not isinstance(number, tuple) else (1, float("nan"))
    assert {*structures, bs.tree_flatten(Scaled(3, again))[1]} == {structures[0]}


def test_it_is_called_inside_every_transformation(stack: Stack) -> None:
    expected = [[2.0, 4.0, 6.0], [6.0, 4.0, 2.0]]
    assert stack(X).tolist() == expected
    assert bs.jit(stack)(X).tolist() == expected
    assert bs.jit(lambda model, x: model(x))(stack, X).tolist() == expected
    assert bs.vmap(stack)(X).tolist() == expected
    gradient = bs.grad(lambda model: model(X).sum())(stack)
    assert gradient.layers[0].weight.tolist() == [8.0, 8.0, 8.0]
    assert gradient.layers[1].weight.tolist() == [16.0, 16.0, 16.0]
    assert gradient.layers[0].mean is None


def test_it_is_frozen(stack: Stack) -> None:
    with pytest.raises(AttributeError, match=r"scale of this one cannot be changed(?s:.*)replace"):
        stack.scale = 3.0
    with pytest.raises(nn.FrozenError, match="other of this one"):
        stack.other = 3.0
    with pytest.raises(nn.FrozenError):
        del stack.scale
    assert stack.replace(scale=3.0)(X).tolist()[0] == [3.0, 6.0, 9.0]
    assert stack.scale == 2.0
    with pytest.raises(ValueError, match="a Stack has no size; it has layers, scale"):
        stack.replace(size=3)


def test_what_is_replaced_stays_a_buffer_and_frozen() -> None:
    module = Scaled(2).freeze("weight").replace(weight=bs.zeros(2), mean=bs.ones(2))
    assert list(module.buffers()) == ["mean"]
    assert module.params() == {}
    assert list(module.params(frozen=True)) == ["weight"]


def test_a_tensor_may_take_the_place_of_nothing() -> None:
    module = Scaled(2).replace(bias=bs.zeros(2))
    assert list(module.params()) == ["weight", "bias"]
    assert list(module.replace(bias=None).params()) == ["weight"]


def test_a_buffer_that_is_nothing_is_a_buffer_again() -> None:
    module = Scaled(2).freeze("weight").replace(mean=None, weight=None)
    again = module.replace(mean=bs.zeros(2), weight=bs.ones(2))
    assert list(again.buffers()) == ["mean"]
    assert again.params() == {}
    assert bs.tree_flatten(again)[1] is bs.tree_flatten(Scaled(2).freeze("weight"))[1]


class Holding(nn.Module):
    def __init__(self, value: Any) -> None:
        self.value = value


def str_of(value: Any) -> str:
    return getattr(value, "__name__", repr(value))


@dataclass(frozen=True)
class Config:
    width: int


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, {1}, bytearray(b"x")], ids=repr)
def test_settings_are_hashable(value: Any) -> None:
    with pytest.raises(ValueError, match=r"value is neither a tensor nor hashable(?s:.*)a tuple"):
        Holding(value)


@pytest.mark.parametrize("value", [None, 1, (1, "a"), Config(3), bs.relu, []], ids=str_of)
def test_what_may_be_a_setting(value: Any) -> None:
    assert bs.tree_leaves(Holding(value)) == []
    assert Holding(value).map(bs.sin).value == value


HOLDING = {"list": [X], "tuple": (X, 1), "dict": {"a": {"b": X}}, "module": Holding(X)}


@pytest.mark.parametrize("value", HOLDING.values(), ids=HOLDING)
def test_what_holds_tensors_is_a_child(value: Any) -> None:
    made = Holding(value).map(lambda leaf: 5 if isinstance(leaf, bs.Tensor) else leaf)
    assert bs.tree_leaves(made)[0] == 5


def test_a_buffer_is_a_tensor() -> None:
    with pytest.raises(ValueError, match="the buffer value is no tensor"):
        Holding(nn.Buffer(3))


def test_a_module_without_forward_says_so() -> None:
    with pytest.raises(ValueError, match="Holding does not say what a call does"):
        Holding(1)()


def test_copies_are_of_the_same_structure(stack: Stack) -> None:
    structure = bs.tree_flatten(stack)[1]
    for made in (pickle.loads(pickle.dumps(stack)), copy.deepcopy(stack), copy.copy(stack)):
        assert bs.tree_flatten(made)[1] is structure
        assert made(X).tolist() == stack(X).tolist()


def test_large_results_of_compiled_functions_are_modules(stack: Stack) -> None:
    halve = bs.jit(lambda model: bs.tree_map(lambda leaf: leaf / 2, model))
    made = halve(halve(stack))
    assert type(made.layers[0]) is Scaled
    assert made.layers[0].weight.tolist() == [0.25] * 3
    assert isinstance(made, Stack)
    assert made.scale == 2.0
    assert bs.tree_flatten(halve(stack))[1] is bs.tree_flatten(stack)[1]


def test_lazily_made_modules_are_not_announced_to_base_classes() -> None:
    known: list[type] = []

    class Registered(Holding):
        def __init_subclass__(cls, *, tag: str, **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            known.append(cls)

    class Part(Registered, tag="a part"):
        pass

    made = bs.jit(lambda model: model.map(bs.negative))(Part([X, X, X, X]))
    assert made.value[3].tolist() == (-X).tolist()
    assert type(made) is Part
    assert known == [Part]


def test_modules_may_be_abstract() -> None:
    class Shape(nn.Module, ABC):
        @abstractmethod
        def forward(self, x: Any) -> Any: ...

    class Square(Shape):
        def forward(self, x: Any) -> Any:
            return x * x

    assert Square()(X).tolist() == (X * X).tolist()
    with pytest.raises(TypeError, match="abstract"):
        Shape()  # pyright: ignore[reportAbstractUsage]


def test_an_error_names_the_module() -> None:
    inner = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 6))
    with pytest.raises(bs.ShapeError, match=r"in: layers\.0\.1 \(Linear\)$"):
        Stack([inner])(X)
    with pytest.raises(bs.ShapeError, match=r"in: Linear$"):
        nn.Linear(5, 6)(X)


class Twice(nn.Module):
    """Calls a copy of what it has, and then that itself."""

    inner: Any

    def forward(self, x: Any) -> Any:
        return self.inner(bs.checkpoint(lambda inner, x: inner(x))(self.inner, x))


def test_an_error_names_modules_that_are_copies_or_stand_in_two_places() -> None:
    wrong = nn.Linear(5, 6)
    with pytest.raises(bs.ShapeError, match=r"in: 1 \(Linear\)$"):
        nn.Sequential(nn.Identity(), wrong, wrong)(X)
    with pytest.raises(bs.ShapeError, match=r"in: Sequential\.1\.0 \(Linear\)$"):
        Twice(nn.Sequential(nn.Identity(), nn.Sequential(wrong)))(X)


def test_annotations_and_inheritance() -> None:
    class Deep(Stack):
        depth: int = 3

        def forward(self, x: Any) -> Any:
            return super().forward(x) * self.depth

    made = Deep([Scaled(3)], depth=5)
    assert made(X).tolist()[0] == [10.0, 20.0, 30.0]
    with pytest.raises(TypeError):
        Deep([], wrong=1)  # pyright: ignore[reportCallIssue]


def test_what_a_class_takes_can_be_looked_up() -> None:
    assert list(signature(Scaled).parameters) == ["size", "power"]
    assert str(signature(Stack)).startswith("(layers")


class Checked(nn.Module):
    size: int

    def __post_init__(self) -> None:
        fail(bs.ArgumentError, "Checked", "no size is right", self.size)


def test_a_generated_init_is_nobodys_line() -> None:
    with pytest.raises(bs.ArgumentError, match=r"at: .*test_module\.py"):
        Checked(3)
