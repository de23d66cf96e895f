"""Dropout: what layers do to noise, so that models do not learn by heart.

Comes in: how much noise. Goes out: modules, which in inference hand on what they are given.
Never: noise outside `nn.training`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.sampling import normal
from ...frontend.tensor import Tensor
from ..context import is_training, next_key
from ..functions.common import check_space, sizes_of, widened
from ..functions.dropout import alpha_dropout, check_probability, dropout, feature_dropout
from ..module import Module


class _Dropping(Module):
    """What drops with probability p in training."""

    drop: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5) -> None:
        check_probability(type(self).__name__, p)
        self.p = float(p)

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same shape"""
        return self.drop(x, self.p, next_key()) if is_training() and self.p else x


class Dropout(_Dropping):
    """Elements are 0 with probability p; the others are divided by 1 - p."""

    drop = staticmethod(dropout)


class AlphaDropout(_Dropping):
    """Elements become what `selu` gives of minus infinity with probability p; a mean of 0 and a
    variance of 1 stay."""

    drop = staticmethod(alpha_dropout)


class _FeatureDropout(_Dropping):
    """Whole channels of images are 0 with probability p; the others are divided by 1 - p."""

    drop = staticmethod(feature_dropout)
    space: ClassVar[int]

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> the same"""
        check_space(type(self).__name__, x, self.space)
        return super().forward(x)


class Dropout1d(_FeatureDropout):
    """Whole channels of lines [N, C, length] are 0 with probability p."""

    space = 1


class Dropout2d(_FeatureDropout):
    """Whole channels of images [N, C, height, width] are 0 with probability p."""

    space = 2


class Dropout3d(_FeatureDropout):
    """Whole channels of volumes [N, C, depth, height, width] are 0 with probability p."""

    space = 3


class GaussianNoise(Module):
    """In training, normally distributed numbers of deviation `std` are added."""

    def __init__(self, std: float) -> None:
        if not std >= 0:
            fail(ArgumentError, "GaussianNoise", f"`std` is at least 0, not {std}")
        self.std = float(std)

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same shape"""
        if not is_training() or self.std == 0:
            return x
        wide, dtype = widened("GaussianNoise", x)
        noise: Any = normal(next_key(), sizes_of(wide), wide.dtype)
        return (wide + noise * self.std).astype(dtype)
