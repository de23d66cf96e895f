"""What parameters begin as: each initialiser is a setting that makes a tensor of a shape.

Comes in: a shape, a key of random numbers (None for the default generator's next), a dtype. Goes
out: a tensor. Weights are `[outputs, inputs, window…]`, as those of all layers here.
Never: a look at a module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, Literal, Protocol

from ..frontend.dtypes import float32
from ..frontend.errors import ArgumentError, ShapeError, fail
from ..frontend.functions.creation import full
from ..frontend.functions.sampling import normal, truncated_normal, uniform
from ..frontend.linalg import qr
from ..frontend.random import fold_in
from ..frontend.tensor import Tensor

Shape = Sequence[int]
Fan = Literal["in", "out", "both"]


class Initialiser(Protocol):
    """Makes a tensor of a shape."""

    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor: ...


class Keys:
    """Keys for the parameters of one module, one after the other; each is None without a key."""

    def __init__(self, key: Any) -> None:
        self._key, self._count = key, 0

    def next(self) -> Any:
        """Another key."""
        self._count += 1
        return None if self._key is None else fold_in(self._key, self._count)


@dataclass(frozen=True)
class Constant:
    """Everywhere the same value."""

    value: float = 0.0

    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        return full(tuple(shape), self.value, dtype=dtype or float32)


def Zeros() -> Constant:
    """Everywhere 0."""
    return Constant(0.0)


def Ones() -> Constant:
    """Everywhere 1."""
    return Constant(1.0)


@dataclass(frozen=True)
class Uniform:
    """Anything from `low` to `high`, all equally likely."""

    low: float = -1.0
    high: float = 1.0

    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        return uniform(key, tuple(shape), dtype or float32, self.low, self.high)


@dataclass(frozen=True)
class Normal:
    """The bell curve around `mean`."""

    mean: float = 0.0
    std: float = 1.0

    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        return normal(key, tuple(shape), dtype or float32, mean=self.mean, std=self.std)


@dataclass(frozen=True)
class TruncatedNormal:
    """The bell curve around `mean`, but for what is more than `cut` deviations away from it."""

    mean: float = 0.0
    std: float = 1.0
    cut: float = 2.0

    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        drawn = truncated_normal(key, -self.cut, self.cut, tuple(shape), dtype or float32)
        return drawn * self.std + self.mean


@dataclass(frozen=True)
class _Scaled:
    """Random numbers whose variance is gain² over a number of inputs, outputs, or their mean."""

    gain: float
    fan: Fan

    def std(self, shape: Shape) -> float:
        """The deviation for weights of a shape."""
        inputs, outputs = fans(shape)
        counts = {"in": inputs, "out": outputs, "both": (inputs + outputs) / 2}
        if self.fan not in counts:
            fail(ArgumentError, type(self).__name__, 'fan is "in", "out" or "both"', self.fan)
        return self.gain / sqrt(max(counts[self.fan], 1))


@dataclass(frozen=True)
class _ScaledUniform(_Scaled):
    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        bound = sqrt(3.0) * self.std(shape)
        return Uniform(-bound, bound)(shape, key, dtype)


@dataclass(frozen=True)
class _ScaledNormal(_Scaled):
    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        return Normal(0.0, self.std(shape))(shape, key, dtype)


@dataclass(frozen=True)
class KaimingUniform(_ScaledUniform):
    """Uniform, so that the variance stays the same through layers of rectifiers (He)."""

    gain: float = sqrt(2.0)
    fan: Fan = "in"


@dataclass(frozen=True)
class KaimingNormal(_ScaledNormal):
    """Normal, so that the variance stays the same through layers of rectifiers (He)."""

    gain: float = sqrt(2.0)
    fan: Fan = "in"


@dataclass(frozen=True)
class XavierUniform(_ScaledUniform):
    """Uniform, a compromise between values and gradients that keep their variance (Glorot)."""

    gain: float = 1.0
    fan: Fan = "both"


@dataclass(frozen=True)
class XavierNormal(_ScaledNormal):
    """Normal, a compromise between values and gradients that keep their variance (Glorot)."""

    gain: float = 1.0
    fan: Fan = "both"


@dataclass(frozen=True)
class Orthogonal:
    """Rows (or columns, where these are fewer) of length `gain`, at right angles."""

    gain: float = 1.0

    def __call__(self, shape: Shape, key: Any = None, dtype: Any = None) -> Tensor:
        if len(shape) < 2:
            fail(ShapeError, "Orthogonal", "takes two axes or more", tuple(shape))
        rows, columns = shape[0], prod(shape[1:])
        tall = (max(rows, columns), min(rows, columns))
        factors = qr(normal(key, tall))
        # Of the two factors that qr may give, the one whose diagonal is positive: all are likely.
        signs = factors.R.diagonal().sign()
        made = factors.Q * signs
        made = made if rows >= columns else made.mT
        return (self.gain * made).reshape(tuple(shape)).astype(dtype or float32)


def fans(shape: Shape) -> tuple[int, int]:
    """How many inputs each output of a weight has, and how many outputs each input."""
    if len(shape) < 2:
        fail(ShapeError, "fans", "only weights of two axes or more have inputs", tuple(shape))
    window = prod(shape[2:])
    return shape[1] * window, shape[0] * window


def inverse_root(count: int) -> Uniform:
    """Uniform within ±1 / √count: what weights and biases of layers begin as."""
    bound = 1 / sqrt(count) if count > 0 else 0.0
    return Uniform(-bound, bound)
