"""Dropout: random elements that become zero, so that no layer relies on a single one.

Comes in: a tensor, the probability to drop, a key of random numbers (None for the default
generator's next). Goes out: a tensor of the same shape and dtype.
Never: a question whether models train; whoever calls these functions means it.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.logic import where
from ...frontend.functions.sampling import bernoulli
from ...frontend.tensor import Tensor
from ..arguments import a_number
from .common import sizes_of, widened

SATURATED = -1.7580993408473766
"""What `selu` gives of minus infinity."""


def dropout(x: Any, /, p: float = 0.5, key: Any = None) -> Tensor:
    """Elements are 0 with probability p; the others are divided by 1 - p, to keep the mean."""
    return _dropped("dropout", x, p, key, None)


def feature_dropout(x: Any, /, p: float = 0.5, key: Any = None) -> Tensor:
    """The same for whole channels of images [N, C, space…]."""
    return _dropped("feature_dropout", x, p, key, 2)


def alpha_dropout(x: Any, /, p: float = 0.5, key: Any = None) -> Tensor:
    """Elements become what `selu` gives of minus infinity; then all are scaled and shifted, so that
    of numbers with mean 0 and variance 1 the mean and the variance stay so."""
    check_probability("alpha_dropout", p)
    wide, dtype = widened("alpha_dropout", x)
    scale = 1 / sqrt((1 - p) * (1 + p * SATURATED**2)) if p < 1 else 0.0
    chosen = where(bernoulli(key, 1 - p, sizes_of(wide)), wide, SATURATED)
    return (chosen * scale - p * SATURATED * scale).astype(dtype)


def check_probability(name: str, p: float) -> None:
    """Refuse what is no probability."""
    if not 0 <= a_number(name, "p", p) <= 1:
        fail(ArgumentError, name, f"p is a probability, from 0 to 1, not {p}")


def _dropped(name: str, x: Any, p: float, key: Any, axes: int | None) -> Tensor:
    """x with one decision for each place along its first axes, all of them if None."""
    check_probability(name, p)
    wide, dtype = widened(name, x)
    sizes = sizes_of(wide)[:axes]
    shape = (*sizes, *[1] * (wide.ndim - len(sizes)))
    scaled = wide * (1 / (1 - p) if p < 1 else 0.0)
    return where(bernoulli(key, 1 - p, shape), scaled, 0.0).astype(dtype)
