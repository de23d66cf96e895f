# pyright: reportUnnecessaryTypeIgnoreComment=true
"""What modules are made of is the same for type checkers as when they run.

Each call that is wrong is refused by both: pyright complains where a comment here ignores nothing.
"""

from collections.abc import Callable
from typing import Any, assert_type

import pytest

import brimstone as bs
from brimstone import nn


class Wider(nn.Linear):
    """Below a layer that has an `__init__`: it is made like that layer."""

    def forward(self, x: bs.Tensor) -> bs.Tensor:
        return super().forward(x) * 2.0


class Named(nn.Conv1d):
    """An annotation below such a layer is no argument."""

    label: str = "a convolution"


class Tower(nn.Module):
    """An `__init__` of one's own, beside annotations."""

    weight: bs.Tensor
    depth: int

    def __init__(self, depth: int, width: int = 2) -> None:
        self.depth, self.weight = depth, bs.ones(width)


class Taller(Tower):
    """Below that: it is made like it."""


class Scaled(nn.Record):
    """Made of its annotations."""

    inner: nn.Module
    factor: float = 2.0

    def forward(self, x: Any) -> Any:
        return self.inner(x) * self.factor


class Shifted(Scaled):
    """Below that: with one more."""

    shift: float = 1.0


class Squared(nn.Loss):
    """A loss with a setting."""

    weight: float = 1.0


def test_modules_are_of_their_classes() -> None:
    assert_type(Wider(3, 4, bias=False), Wider)
    assert_type(nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d)
    assert_type(nn.GRUCell(3, 4, False), nn.GRUCell)
    assert_type(Scaled(nn.Identity(), 3.0), Scaled)
    assert Wider(3, 4).weight.shape == (4, 3)
    assert Named(3, 4, 2).label == "a convolution"
    assert Taller(3, width=5).weight.shape == (5,)
    assert Shifted(nn.ReLU(), 3.0, shift=4.0).shift == 4.0
    assert Squared(weight=2.0).weight == nn.HuberLoss(delta=2.0).delta


def test_what_they_do_not_take_is_refused() -> None:
    with pytest.raises(TypeError):
        Wider(weight=bs.ones((3, 4)))  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Named(3, 4, 2, label="another")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Taller(weight=bs.ones(3), depth=2)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Scaled()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Shifted(nn.ReLU(), 3.0, 4.0, 5.0)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        nn.LSTMCell(3)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        nn.BatchNorm2d(running_mean=bs.zeros(3))  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        nn.ReLU(1.0)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Squared("mean", 2.0)  # pyright: ignore[reportCallIssue]


WITH_BIAS: dict[str, Callable[..., nn.Module]] = {
    "Linear": lambda *bias: nn.Linear(4, 2, *bias),
    "LayerNorm": lambda *bias: nn.LayerNorm(4, 1e-5, True, *bias),
    "Conv2d": lambda *bias: nn.Conv2d(4, 2, 3, 1, 0, 1, 1, *bias),
    "ConvTranspose2d": lambda *bias: nn.ConvTranspose2d(4, 2, 3, 1, 0, 0, 1, *bias),
    "DeformConv2d": lambda *bias: nn.DeformConv2d(4, 2, 3, 1, 0, 1, 1, *bias),
    "GRUCell": lambda *bias: nn.GRUCell(4, 2, *bias),
    "MultiHeadAttention": lambda *bias: nn.MultiHeadAttention(4, 2, 0.0, *bias),
}


@pytest.mark.parametrize("name", WITH_BIAS)
def test_a_key_in_the_place_of_a_flag_is_told_of(name: str) -> None:
    with pytest.raises(bs.ArgumentError, match=f"{name}: bias is True or False.*") as caught:
        WITH_BIAS[name](bs.random.key(0))
    assert "key=" in str(caught.value)
    WITH_BIAS[name](False)


@pytest.mark.parametrize("layers", [("relu",), ([nn.ReLU(), nn.ReLU()],), (nn.ReLU(), None)])
def test_what_cannot_be_called_is_no_layer(layers: tuple[object, ...]) -> None:
    with pytest.raises(bs.ArgumentError, match="which cannot be called"):
        nn.Sequential(*layers)


def test_a_class_is_no_layer() -> None:
    with pytest.raises(bs.ArgumentError, match=r"layer 0 is the class ReLU(?s:.*)`ReLU\(\.\.\.\)`"):
        nn.Sequential(nn.ReLU, nn.Linear(3, 2))


def test_layers_are_counted_from_either_end() -> None:
    layers = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    assert isinstance(layers[-1], nn.ReLU)
    assert isinstance(layers[-2], nn.Linear)
    for place in (2, -3):
        with pytest.raises(IndexError, match=f"there are 2 layers, and none at {place}"):
            layers[place]


@pytest.mark.parametrize("given", [None, "a", [1.0, 2.0]])
def test_what_is_no_tensor_is_told_of(given: Any) -> None:
    with pytest.raises(bs.DTypeError, match=r"expected a tensor(?s:.*)bs\.asarray"):
        nn.Linear(2, 2)(given)
