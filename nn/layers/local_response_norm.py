"""Local response norms: channels made smaller where their neighbours are large.

Comes in: how many channels are neighbours, and how much they matter. Goes out: a module.
Never: a parameter.
"""

from __future__ import annotations

from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..functions.normalisation import local_response_norm
from ..module import Module


class LocalResponseNorm(Module):
    """x / (k + alpha * m) ** beta for the mean m of the squares of `size` channels around each."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        check_counts("LocalResponseNorm", 1, size=size)
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> the same"""
        return local_response_norm(x, self.size, self.alpha, self.beta, self.k)
