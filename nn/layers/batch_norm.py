"""Batch norms: channels normalised over the batch in training, by running means in inference.

Comes in: how many channels there are. Goes out: modules.
Never: narrow statistics: means and variances are float32 or float64.
"""

from __future__ import annotations

from ...frontend.tensor import Tensor
from ..context import is_training
from ..functions.normalisation import batch_norm, batch_statistics
from .running import RunningNorm


class _BatchNorm(RunningNorm):
    """Each channel less its mean, over its deviation, times `weight`, plus `bias`."""

    def forward(self, x: Tensor) -> Tensor:
        """[N, num_features, space…] -> the same"""
        self.check(x)
        if self.running_mean is not None and not is_training():
            mean, variance = self.running_mean, self.running_var
        else:
            mean, variance, unbiased = batch_statistics(x)
            if is_training():
                self.follow(mean, unbiased)
        return batch_norm(x, mean, variance, self.weight, self.bias, self.eps)


class BatchNorm1d(_BatchNorm):
    """A batch norm of vectors [N, num_features] or lines [N, num_features, length]."""

    space = (0, 1)


class BatchNorm2d(_BatchNorm):
    """A batch norm of images [N, num_features, height, width]."""

    space = (2,)


class BatchNorm3d(_BatchNorm):
    """A batch norm of volumes [N, num_features, depth, height, width]."""

    space = (3,)
