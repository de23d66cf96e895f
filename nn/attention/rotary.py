"""Rotary codes of positions: pairs of numbers turned by angles that grow with the position.

Comes in: queries or keys, and where they begin. Goes out: the same, turned.
Never: a table: angles are computed where they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.creation import arange
from ...frontend.functions.elementwise import clip, cos, sin
from ...frontend.functions.manipulation import concat, stack
from ...frontend.functions.pieces import chunk
from ...frontend.tensor import Tensor
from ..arguments import above
from ..functions.common import sizes_of, widened
from ..module import Module
from .positions import places_of


@dataclass(frozen=True)
class LinearScaling:
    """Positions stand `factor` times nearer to each other, for texts that are as much longer."""

    factor: float

    def __call__(self, frequencies: Tensor) -> Tensor:
        """The angle per position of each pair -> the same, scaled."""
        return frequencies / self.factor


@dataclass(frozen=True)
class LlamaScaling:
    """Slow pairs turn `factor` times slower, quick ones as before (Llama 3.1).

    Slow is what turns `low` times or less in `length` positions, those that the model was trained
    with at first; quick is what turns `high` times or more; in between it is in between.
    """

    factor: float = 8.0
    low: float = 1.0
    high: float = 4.0
    length: int = 8192

    def __post_init__(self) -> None:
        if not self.low < self.high:
            problem = f"slow pairs turn less often than quick ones: {self.low}, {self.high}"
            fail(ArgumentError, "LlamaScaling", problem)

    def __call__(self, frequencies: Tensor) -> Tensor:
        """The angle per position of each pair -> the same, scaled."""
        turns = frequencies * (self.length / (2 * pi))
        kept = clip((turns - self.low) / (self.high - self.low), 0.0, 1.0)
        return frequencies * (kept + (1 - kept) / self.factor)


class RotaryEncoding(Module):
    """The pair number i at position p is turned by p / base^(2i / size).

    A pair is a number of the first half and one of the second, as in Llama, or, with `interleaved`,
    two neighbours, as in the paper (RoFormer). Numbers behind the first `size` stay as they are.
    `scaling` changes the angles per position, as `LinearScaling` and `LlamaScaling` do.
    """

    def __init__(
        self, size: int, base: float = 10000.0, interleaved: bool = False,
        scaling: Callable[[Tensor], Tensor] | None = None,
    ) -> None:  # fmt: skip
        if size < 2 or size % 2:
            problem = "turns pairs: the size is even, and at least 2"
            fail(ArgumentError, "RotaryEncoding", problem, size)
        above("RotaryEncoding", "base", base, 0)
        self.size, self.base, self.interleaved = size, float(base), interleaved
        self.scaling = scaling

    def forward(self, x: Tensor, offset: Any = 0) -> Tensor:
        """[…, length, at least size] -> the same; the first is at the position `offset`, a number
        or a tensor of one."""
        if x.ndim < 2 or x.shape[-1] < self.size:
            fail(ShapeError, "RotaryEncoding", f"takes […, length, {self.size} or more]", x)
        wide, dtype = widened("RotaryEncoding", x)
        places = places_of(sizes_of(x)[-2], offset, wide)
        exponents = arange(0, self.size, 2, dtype=wide.dtype, device=wide.device) / self.size
        frequencies = self.base**-exponents
        if self.scaling is not None:
            frequencies = self.scaling(frequencies)
        angles = places[:, None] * frequencies
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
