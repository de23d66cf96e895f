"""Group norms: groups of channels of each image normalised by themselves.

Comes in: how many groups and channels there are. Goes out: a module.
Never: statistics of other images of the batch.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.creation import ones, zeros
from ...frontend.tensor import Tensor
from ..arguments import at_least, check_counts
from ..functions.common import check_channels
from ..functions.normalisation import group_norm
from ..module import Module


class GroupNorm(Module):
    """The channels of each of `num_groups` less their mean, over their deviation."""

    weight: Tensor | None  # [num_channels]
    bias: Tensor | None  # [num_channels]

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        check_counts("GroupNorm", num_channels=num_channels)
        at_least("GroupNorm", "eps", eps, 0)
        if num_groups < 1 or num_channels % num_groups:
            problem = f"{num_channels} channels do not split into {num_groups} groups"
            fail(ShapeError, "GroupNorm", problem, hint="`num_groups` divides the channels")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = ones((num_channels,), dtype=dtype) if affine else None
        self.bias = zeros((num_channels,), dtype=dtype) if affine else None

    def forward(self, x: Tensor) -> Tensor:
        """[N, num_channels, space…] -> the same"""
        check_channels("GroupNorm", x, self.num_channels)
        return group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
