"""Rotary codes of positions: pairs of numbers turned by angles that grow with the position.

Comes in: queries or keys, and where they begin. Goes out: the same, turned.
Never: a table: angles are computed where they are used.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.creation import arange
from ...frontend.functions.elementwise import cos, sin
from ...frontend.functions.manipulation import chunk, concat, stack
from ...frontend.tensor import Tensor
from ..functions.common import sizes_of, widened
from ..module import Module
from .positions import places_of


class RotaryEncoding(Module):
    """The pair number i at position p is turned by p / base^(2i / size).

    A pair is a number of the first half and one of the second, as in Llama, or, with `interleaved`,
    two neighbours, as in the paper (RoFormer). Numbers behind the first `size` stay as they are.
    """

    def __init__(self, size: int, base: float = 10000.0, interleaved: bool = False) -> None:
        if size < 2 or size % 2:
            problem = "turns pairs: the size is even, and at least 2"
            fail(ArgumentError, "RotaryEncoding", problem, size)
        self.size, self.base, self.interleaved = size, float(base), interleaved

    def forward(self, x: Tensor, offset: Any = 0) -> Tensor:
        """[…, length, at least size] -> the same; the first is at the position `offset`, a number
        or a tensor of one."""
        if x.ndim < 2 or x.shape[-1] < self.size:
            fail(ShapeError, "RotaryEncoding", f"takes […, length, {self.size} or more]", x)
        wide, dtype = widened("RotaryEncoding", x)
        places = places_of(sizes_of(x)[-2], offset, wide)
        exponents = arange(0, self.size, 2, dtype=wide.dtype, device=wide.device) / self.size
        angles = places[:, None] * self.base**-exponents
        turned = self._turned(wide[..., : self.size], cos(angles), sin(angles))
        return concat([turned, wide[..., self.size :]], axis=-1).astype(dtype)

    def _turned(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        """Each pair turned by its angle."""
        if self.interleaved:
            one, other = x[..., 0::2], x[..., 1::2]
        else:
            one, other = chunk(x, 2, -1)
        pairs = [one * cosine - other * sine, other * cosine + one * sine]
        if not self.interleaved:
            return concat(pairs, axis=-1)
        sizes: Any = sizes_of(x)
        return stack(pairs, axis=-1).reshape(sizes)
