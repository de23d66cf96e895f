"""Norms over the last axes of a tensor: less the mean, or by size alone.

Comes in: the sizes of the last axes. Goes out: modules.
Never: statistics of other places than the one that is normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.creation import ones, zeros
from ...frontend.tensor import Tensor
from ..arguments import at_least, check_counts, check_flags
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
        check_flags("LayerNorm", bias=bias)
        self.normalized_shape, self.eps = _listed("LayerNorm", normalized_shape), eps
        at_least("LayerNorm", "eps", eps, 0)
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
        self.normalized_shape, self.eps = _listed("RmsNorm", normalized_shape), eps
        if eps is not None:
            at_least("RmsNorm", "eps", eps, 0)
        self.weight = ones(self.normalized_shape, dtype=dtype) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """[…, *normalized_shape] -> the same"""
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)


RMSNorm = RmsNorm
"""The name that it has in PyTorch."""


def _listed(name: str, sizes: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes of the last axes, of which there is one or more."""
    listed = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if not listed:
        problem = "`normalized_shape` is the size of the last axis, or the sizes of several"
        fail(ArgumentError, name, problem, sizes)
    for size in listed:
        check_counts(name, normalized_shape=size)
    return listed
