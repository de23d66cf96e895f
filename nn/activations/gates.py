"""Gated linear units: one half of what comes in decides how much of the other passes.

Comes in: tensors of floats. Goes out: tensors of the same dtype.
Never: a half that is larger than the other.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.activations import sigmoid, silu
from ...frontend.functions.common import as_axis
from ...frontend.functions.creation import asarray
from ...frontend.functions.pieces import split
from ...frontend.tensor import Tensor
from ..initialisers import Initialiser, Keys
from ..layers.linear import Linear
from ..module import Module
from ..record import Record


def glu(x: Any, /, axis: int = -1) -> Tensor:
    """The first half along an axis, times the sigmoid of the second."""
    x = asarray(x)
    place = as_axis(axis, x.ndim, "glu")
    size = x.shape[place] if x.ndim else 1
    if size % 2:
        fail(ShapeError, "glu", f"an axis of size {size} has no halves", x)
    passed, gate = split(x, [size // 2] * 2, axis=place)
    return passed * sigmoid(gate)


class GLU(Record):
    """The first half along an axis, times the sigmoid of the second."""

    dim: int = -1

    def forward(self, x: Any) -> Tensor:
        """[…, 2 * n, …] -> […, n, …]"""
        return glu(x, self.dim)


class SwiGLU(Module):
    """silu(x @ A) * (x @ B): a gated linear unit with two layers of its own."""

    linear_inner: Linear
    linear_outer: Linear

    def __init__(
        self, in_features: int, out_features: int, bias: bool = False, *,
        initialiser: Initialiser | None = None, key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        keys = Keys(key)
        self.linear_inner, self.linear_outer = (
            Linear(
                in_features, out_features, bias,
                initialiser=initialiser, key=keys.next(), dtype=dtype,
            )
            for _ in range(2)
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """[…, in_features] -> […, out_features]"""
        return silu(self.linear_inner(x)) * self.linear_outer(x)
