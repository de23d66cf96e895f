"""Attention with linear biases: the further away a key, the less it counts.

Comes in: how many heads, queries and keys there are. Goes out: a bias for `bs.attention`.
Never: anything learned.
"""

from __future__ import annotations

from typing import Any

from ...frontend.dtypes import float32
from ...frontend.functions.creation import arange, asarray
from ...frontend.tensor import Tensor
from ..arguments import check_counts
from .positions import places_of


def alibi_bias(
    num_heads: int, rows: int, columns: int, offset: Any = None, *, dtype: Any = None
) -> Tensor:
    """For each head its slope times how far a key is behind its query, [num_heads, rows, columns].

    The first query is at the position `offset`, a number or a tensor of one; unless it is given,
    queries and keys end together. It is for causal attention: keys after a query are favoured.
    """
    slopes = asarray(alibi_slopes(num_heads), dtype=dtype or float32)
    places = places_of(rows, columns - rows if offset is None else offset)
    behind = (arange(columns) - places[:, None]).astype(slopes.dtype)
    return slopes[:, None, None] * behind


def alibi_slopes(num_heads: int) -> list[float]:
    """A slope for each head: powers of 2^(-8 / heads); of numbers of heads that are no power of 2,
    those of the power below, then every other one of the power above."""
    check_counts("alibi_slopes", 1, num_heads=num_heads)
    whole = 1 << num_heads.bit_length() - 1
    return _powers(whole, 1) + _powers(2 * whole, 2)[: num_heads - whole]


def _powers(heads: int, step: int) -> list[float]:
    return [2.0 ** (-8 * number / heads) for number in range(1, heads + 1, step)]
