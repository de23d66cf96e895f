"""Instance norms: each channel of each image normalised by itself.

Comes in: how many channels there are. Goes out: modules.
Never: running means unless somebody asks for them.
"""

from __future__ import annotations

from typing import Any

from ...frontend.tensor import Tensor
from ..context import is_training
from ..functions.common import widened
from ..functions.normalisation import batch_norm, instance_norm
from .running import RunningNorm


class _InstanceNorm(RunningNorm):
    """Each channel of each image less its mean, over its deviation."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = False, track_running_stats: bool = False, *, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """[N, num_features, space…] -> the same"""
        self.check(x)
        if self.running_mean is not None and not is_training():
            mean, variance = self.running_mean, self.running_var
            return batch_norm(x, mean, variance, self.weight, self.bias, self.eps)
        if self.running_mean is not None:
            wide, _ = widened("instance_norm", x)
            space = tuple(range(2, wide.ndim))
            unbiased = wide.var(space, correction=1).mean(0)
            self.follow(wide.mean((0, *space)), unbiased)
        return instance_norm(x, self.weight, self.bias, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """An instance norm of lines [N, num_features, length]."""

    space = (1,)


class InstanceNorm2d(_InstanceNorm):
    """An instance norm of images [N, num_features, height, width]."""

    space = (2,)


class InstanceNorm3d(_InstanceNorm):
    """An instance norm of volumes [N, num_features, depth, height, width]."""

    space = (3,)
