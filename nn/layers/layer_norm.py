"""Norms over the last axes of a tensor: less the mean, or by size alone.

Comes in: the sizes of the last axes. Goes out: modules.
Never: statistics of other places than the one that is normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...frontend.functions.creation import ones, zeros
from ...frontend.tensor import Tensor
from ..functions.normalisation import layer_norm, rms_norm
from ..module import Module


class LayerNorm(Module):
    """The last axes less their mean, over their deviation, times `weight`, plus `bias`."""

    weight: Tensor | None  # [*normalized_shape]
    bias: Tensor | None  # [*normalized_shape]

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, *, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.normalized_shape, self.eps = _listed(normalized_shape), eps
        shape, affine = self.normalized_shape, elementwise_affine
        self.weight = ones(shape, dtype=dtype) if affine else None
        self.bias = zeros(shape, dtype=dtype) if affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        """[…, *normalized_shape] -> the same"""
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RmsNorm(Module):
    """The last axes over the root of their mean square, times `weight`.

    Unless `eps`, which is added to the mean square, is stated, it is the distance from 1 to the
    next number of the dtype of what is normalised.
    """

    weight: Tensor | None  # [*normalized_shape]

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None,
        elementwise_affine: bool = True, *, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.normalized_shape, self.eps = _listed(normalized_shape), eps
        self.weight = ones(self.normalized_shape, dtype=dtype) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """[…, *normalized_shape] -> the same"""
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)


RMSNorm = RmsNorm
"""The name that it has in PyTorch."""


def _listed(sizes: int | Sequence[int]) -> tuple[int, ...]:
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)
