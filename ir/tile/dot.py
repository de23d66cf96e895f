"""Products of matrices, which hardware has instructions for.

Comes in: two tiles of matrices, and the tile that the product is added to. Goes out: that sum, in
the dtype of the accumulator. Leading axes count matrices and are equal in all three.
Never: another axis than the inner one summed; that is `permute`'s and `reshape`'s to arrange.
"""

from enum import Enum
from typing import Any

import numpy as np

from .. import dtypes
from ..declare import Attr, Operand, Result, among, same_as
from ..dtypes import INTEGERS, REALS, DType, Kind
from ..errors import require
from ..interpreter.arrays import stored
from ..payloads import Array
from ..types import Tile
from .base import TileOp

FLOATS_OF_8_BITS = frozenset({dtypes.f8e4m3, dtypes.f8e5m2})


class Precision(Enum):
    """What a product of f32 may leave out; other dtypes are always multiplied exactly."""

    IEEE = "ieee"
    TF32 = "tf32"
    RELAXED = "relaxed"


class Dot(TileOp, name="tile.dot"):
    """accumulator + a @ b, accumulated in the accumulator's dtype: f32 for the narrow floats, f32
    and f64 for themselves, for integers any of the same kind that is as wide or wider.

    `tf32` lets f32 operands be rounded to 10 bits of mantissa, `relaxed` also to fewer."""

    a: Operand[Tile] = among(REALS)
    b: Operand[Tile] = among(REALS)
    accumulator: Operand[Tile] = among(REALS)
    precision: Attr[Precision] = Precision.IEEE
    result: Result[Tile] = same_as("accumulator")

    def check(self) -> None:
        require(self.a.dtype is self.b.dtype, "operands of two dtypes", self.a.type, self.b.type)
        sums = _accumulates(self.a.dtype, self.accumulator.dtype)
        require(sums, f"products of {self.a.dtype} are not summed in", self.accumulator.dtype)
        check_product(self.a.type, self.b.type, self.accumulator.type)

    def run(self, frame: Any, a: Array, b: Array, accumulator: Array) -> Array:
        if self.precision is Precision.TF32 and self.a.dtype is dtypes.f32:
            a, b = to_tf32(a), to_tf32(b)
        return accumulator + product(a, b, accumulator.dtype)


class ScaledDot(TileOp, name="tile.scaled_dot"):
    """accumulator + (a × a_scale) @ (b × b_scale), where each scale is a power of two that a block
    of elements along the inner axis shares: a u8 `e` stands for 2^(e - 127), and 255 for NaN."""

    a: Operand[Tile] = among(FLOATS_OF_8_BITS)
    a_scale: Operand[Tile] = among({dtypes.u8})
    b: Operand[Tile] = among(FLOATS_OF_8_BITS)
    b_scale: Operand[Tile] = among({dtypes.u8})
    accumulator: Operand[Tile] = among({dtypes.f32})
    result: Result[Tile] = same_as("accumulator")

    def check(self) -> None:
        check_product(self.a.type, self.b.type, self.accumulator.type)
        check_scale("a_scale", self.a_scale.type, self.a.type, -1)
        check_scale("b_scale", self.b_scale.type, self.b.type, -2)

    def run(
        self, frame: Any, a: Array, a_scale: Array, b: Array, b_scale: Array, accumulator: Array
    ) -> Array:
        left, right = scaled(a, a_scale, -1), scaled(b, b_scale, -2)
        return stored(accumulator + product(left, right, np.float64), dtypes.f32)


def check_product(a: Tile, b: Tile, accumulator: Tile) -> None:
    """Refuse shapes other than […, m, k], […, k, n] and […, m, n]."""
    require(a.rank >= 2 and b.rank >= 2, "a dot needs matrices", a, b)
    require(a.shape[-1] == b.shape[-2], "inner sizes differ", a, b)
    require(a.shape[:-2] == b.shape[:-2], "leading sizes differ", a, b)
    shape = (*a.shape[:-1], b.shape[-1])
    require(accumulator.shape == shape, f"expected an accumulator of {list(shape)}", accumulator)


def check_scale(name: str, scale: Tile, x: Tile, axis: int) -> None:
    """Refuse scales whose shape is not x's, with a divisor of the inner size in its place."""
    require(scale.rank == x.rank, f"{name} has another rank", scale, x)
    blocks, elements = scale.shape[axis], x.shape[axis]
    assert isinstance(blocks, int) and isinstance(elements, int)
    require(blocks and elements % blocks == 0, f"{name} does not cut the inner axis", scale, x)
    shape = list(x.shape)
    shape[axis] = blocks
    require(list(scale.shape) == shape, f"{name} has another shape than {shape}", scale)


def product(a: Array, b: Array, dtype: Any) -> Array:
    """a @ b in `dtype`, from copies in one fixed layout, so that sums keep one order."""
    return np.matmul(*[np.array(x, dtype, order="C") for x in (a, b)])


def scaled(x: Array, scale: Array, axis: int) -> Array:
    """The elements with their scales, exact in f64."""
    powers = np.ldexp(1.0, scale.astype(np.int32) - 127)
    powers = np.where(scale == 255, np.nan, powers)
    return x.astype(np.float64) * np.repeat(powers, x.shape[axis] // scale.shape[axis], axis)


def to_tf32(x: Array) -> Array:
    """f32 rounded to nearest even with 10 bits of mantissa; NaN and infinity stay."""
    bits = x.view(np.uint32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def _accumulates(dtype: DType, accumulator: DType) -> bool:
    if dtype in INTEGERS:
        return accumulator.kind is dtype.kind and accumulator.bits >= dtype.bits
    return accumulator.kind is Kind.FLOAT and accumulator is dtype.accumulator
