"""How near vectors are to each other, by angle and by length.

Comes in: two tensors whose shapes broadcast. Goes out: one number for each pair of vectors.
Never: a division by 0, or narrow sums.
"""

from __future__ import annotations

from typing import Any

from ...frontend.dtypes import OF_IR
from ...frontend.functions.common import cast_node, promote
from ...frontend.functions.elementwise import maximum
from ...frontend.functions.norms import vector_norm
from ...frontend.handle import wrap
from ...frontend.tensor import Tensor
from ...ir import dtypes as ir


def cosine_similarity(x1: Any, x2: Any, /, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis; lengths below `eps` count as that."""
    first, second, dtype = _pair("cosine_similarity", x1, x2)
    units = [
        each / maximum(vector_norm(each, axis=dim, keepdims=True), eps) for each in (first, second)
    ]
    return (units[0] * units[1]).sum(dim).astype(dtype)


def pairwise_distance(
    x1: Any, x2: Any, /, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The length of x1 - x2 + eps along the last axis, with powers of `p`."""
    first, second, dtype = _pair("pairwise_distance", x1, x2)
    apart = first - second + eps
    return vector_norm(apart, axis=-1, keepdims=keepdim, ord=p).astype(dtype)


def _pair(name: str, x1: Any, x2: Any) -> tuple[Tensor, Tensor, Any]:
    """Both in the dtype in which they are summed, and the dtype of the result."""
    first, second = promote(name, x1, x2, among=ir.FLOATS, floats=True)
    dtype = first.type.dtype
    wide = [wrap(cast_node(node, dtype.accumulator)) for node in (first, second)]
    return wide[0], wide[1], OF_IR[dtype]
