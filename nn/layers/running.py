"""What norms of channels keep: scales and shifts, and running means of what batches were like.

Comes in: how many channels there are, and how fast means follow. Goes out: the module on which
batch norms and instance norms stand.
Never: a change to a running mean in place: new ones are left by `update`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...frontend.dtypes import OF_IR
from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.common import as_ir_dtype
from ...frontend.functions.creation import FLOAT, ones, zeros
from ...frontend.functions.special import lerp
from ...frontend.grad import stop_gradient
from ...frontend.tensor import Tensor
from ..arguments import at_least, check_counts
from ..functions.common import check_channels, check_space
from ..module import Buffer, Module


class RunningNorm(Module):
    """Scales and shifts of channels, and the means and variances that inference takes.

    With a `momentum` of None these are the averages of all batches so far.
    """

    weight: Tensor | None  # [num_features]
    bias: Tensor | None  # [num_features]
    running_mean: Any  # [num_features], or None
    running_var: Any  # [num_features], or None
    num_batches_tracked: Any  # [], or None
    space: ClassVar[tuple[int, ...]]
    """How many axes of space images may have."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, *, dtype: Any = None,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        check_counts(name, num_features=num_features)
        at_least(name, "eps", eps, 0)
        if momentum is not None and not 0 <= momentum <= 1:
            problem = f"`momentum` is a share, from 0 to 1, or None, not {momentum}"
            fail(ArgumentError, name, problem)
        shape, kept = (num_features,), OF_IR[as_ir_dtype(dtype, FLOAT).accumulator]
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = ones(shape, dtype=dtype) if affine else None
        self.bias = zeros(shape, dtype=dtype) if affine else None
        tracked = track_running_stats
        self.running_mean = Buffer(zeros(shape, dtype=kept) if tracked else None)
        self.running_var = Buffer(ones(shape, dtype=kept) if tracked else None)
        self.num_batches_tracked = Buffer(zeros((), dtype="int64") if tracked else None)

    def check(self, x: Tensor) -> None:
        """Refuse images of other kinds."""
        check_space(type(self).__name__, x, *self.space)
        check_channels(type(self).__name__, x, self.num_features)

    def follow(self, mean: Tensor, variance: Tensor) -> None:
        """Let the running means follow what a batch was like."""
        if self.running_mean is None:
            return
        count = self.num_batches_tracked + 1
        share = 1.0 / count.astype(mean.dtype) if self.momentum is None else self.momentum
        self.update(
            running_mean=_moved(self.running_mean, mean, share),
            running_var=_moved(self.running_var, variance, share),
            num_batches_tracked=count,
        )


def _moved(kept: Tensor, found: Tensor, share: Any) -> Tensor:
    """What was kept, moved towards what was found."""
    return stop_gradient(lerp(kept, found, share)).astype(kept.dtype)
