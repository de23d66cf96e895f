"""Codes of positions that are added to what stands there: computed, or learned.

Comes in: sequences, and where they begin. Goes out: the same with codes added.
Never: a table of what is computed.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import DTypeError, ShapeError, fail
from ...frontend.functions.creation import arange, asarray
from ...frontend.functions.elementwise import cos, sin
from ...frontend.functions.indexing import take
from ...frontend.functions.manipulation import stack
from ...frontend.functions.types import isdtype
from ...frontend.tensor import Tensor
from ..arguments import above, check_counts
from ..functions.common import check_last, sizes_of, widened
from ..initialisers import Initialiser, Normal
from ..module import Module


class PositionalEncoding(Module):
    """Adds sines and cosines of the position (Vaswani and others): the numbers 2i and 2i + 1 get
    sin and cos of p / base^(2i / size)."""

    def __init__(self, size: int, base: float = 10000.0) -> None:
        check_counts("PositionalEncoding", 1, size=size)
        above("PositionalEncoding", "base", base, 0)
        self.size, self.base = size, float(base)

    def forward(self, x: Tensor, offset: Any = 0) -> Tensor:
        """[…, length, size] -> the same; the first is at the position `offset`, a number or a
        tensor of one."""
        check_last("PositionalEncoding", x, (self.size,))
        wide, dtype = widened("PositionalEncoding", x)
        places = places_of(sizes_of(x)[-2], offset, wide)
        exponents = arange(0, self.size, 2, dtype=wide.dtype, device=wide.device) / self.size
        angles = places[:, None] * self.base**-exponents
        length, half = sizes_of(angles)
        codes = stack([sin(angles), cos(angles)], axis=-1).reshape((length, 2 * half))
        return (wide + codes[:, : self.size]).astype(dtype)


class LearnedPositionalEncoding(Module):
    """Adds what is learned for each of `capacity` positions."""

    weight: Tensor  # [capacity, size]

    def __init__(
        self, capacity: int, size: int, *, initialiser: Initialiser | None = None, key: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        check_counts("LearnedPositionalEncoding", 1, capacity=capacity, size=size)
        self.capacity, self.size = capacity, size
        self.weight = (initialiser or Normal(std=0.02))((capacity, size), key, dtype)

    def forward(self, x: Tensor, offset: Any = 0) -> Tensor:
        """[…, length, size] -> the same; the first is at the position `offset`, a number or a
        tensor of one."""
        check_last("LearnedPositionalEncoding", x, (self.size,))
        length = x.shape[-2]
        if length > self.capacity:
            problem = f"knows {self.capacity} positions, not {length}"
            fail(ShapeError, "LearnedPositionalEncoding", problem, x)
        return x + take(self.weight, places_of(length, offset), axis=0)


def places_of(length: Any, offset: Any, like: Tensor | None = None) -> Tensor:
    """The positions of a sequence that begins at `offset`, in the dtype of `like` if given."""
    begin = asarray(offset)
    if begin.ndim or not isdtype(begin.dtype, "integral"):
        fail(DTypeError, "positions", "an offset is one integer", offset)
    places = arange(length, device=begin.device) + begin
    return places if like is None else places.astype(like.dtype)
