"""How near vectors are to each other, as modules.

Comes in: along which axis, in which norm. Goes out: modules.
Never: a parameter.
"""

from __future__ import annotations

from ...frontend.tensor import Tensor
from ..functions.distance import cosine_similarity, pairwise_distance
from ..module import Module


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two of one shape -> that shape without the axis `dim`"""
        return cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The length of the difference of vectors along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.p, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two of shape […, length] -> […], or […, 1] with `keepdim`"""
        return pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)
