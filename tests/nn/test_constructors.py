# pyright: reportUnnecessaryTypeIgnoreComment=true
"""What modules are made of is the same for type checkers as when they run.

Each call that is wrong is refused by both: pyright complains where a comment here ignores nothing.
"""

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
