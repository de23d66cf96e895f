"""Several axes as one, and one as several.

Comes in: which axes. Goes out: modules.
Never: a look at sizes that need not be known.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.functions.common import as_axis
from ...frontend.functions.manipulation import flatten, reshape
from ...frontend.tensor import Tensor
from ..functions.common import sizes_of
from ..module import Module


class Flatten(Module):
    """The axes from `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        """[N, …] -> [N, product of the others], if nothing else is said"""
        return flatten(x, self.start_dim, self.end_dim)


class Unflatten(Module):
    """The axis `dim` as several, of which one size may be -1."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        """[…, product of the sizes, …] -> […, *unflattened_size, …]"""
        at = as_axis(self.dim, x.ndim, "Unflatten")
        shape = sizes_of(x)
        return reshape(x, (*shape[:at], *self.unflattened_size, *shape[at + 1 :]))
