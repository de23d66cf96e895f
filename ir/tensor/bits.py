"""Bitwise ops: logic, shifts and counts.

Comes in: tensors of integers, or of booleans for the logic. Goes out: a tensor of the same type.
Never: undefined behaviour; a shift past the width has a meaning.
"""

import numpy as np

from ..declare import Operand, among
from ..dtypes import BITS, INTEGERS
from ..payloads import Array
from ..types import Tensor
from .elementwise import Binary, Unary
from .rules import no_tangent


def shift_left(x: Array, amount: Array) -> Array:
    """x << amount; 0 past the width."""
    inside, safe = _amount(amount)
    return np.where(inside, np.left_shift(x, safe), 0).astype(x.dtype)


def shift_right(x: Array, amount: Array) -> Array:
    """x >> amount; past the width all sign bits, which are 0 for unsigned."""
    inside, safe = _amount(amount)
    signs = np.where(x < 0, -1, 0).astype(x.dtype)
    return np.where(inside, np.right_shift(x, safe), signs)


def count_ones(x: Array) -> Array:
    """How many bits are 1."""
    return _bits(x).sum(-1, dtype=x.dtype)


def count_leading_zeros(x: Array) -> Array:
    """How many bits are 0 before the first 1, from the highest on."""
    seen = np.maximum.accumulate(_bits(x), axis=-1)
    return (seen == 0).sum(-1, dtype=x.dtype)


def _amount(amount: Array) -> tuple[Array, Array]:
    """Whether each amount, seen as unsigned, is less than the width; and the amounts that are."""
    width = 8 * amount.dtype.itemsize
    inside = (amount >= 0) & (amount < width)
    return inside, np.where(inside, amount, 0).astype(amount.dtype)


def _bits(x: Array) -> Array:
    """The bits of each integer along a new last axis, the highest first."""
    big_endian = x.astype(x.dtype.newbyteorder(">"), order="C")
    return np.unpackbits(big_endian[..., None].view(np.uint8), axis=-1)


class UnaryBits(Unary):
    """The bits of one number, which have no tangent."""

    jvp = no_tangent


class BinaryBits(Binary):
    """The bits of two numbers, which have no tangent."""

    jvp = no_tangent


class BitAnd(BinaryBits, name="tensor.bit_and", meaning=np.bitwise_and):
    """The bits that are 1 in both."""

    left: Operand[Tensor] = among(BITS)


class BitOr(BinaryBits, name="tensor.bit_or", meaning=np.bitwise_or):
    """The bits that are 1 in either."""

    left: Operand[Tensor] = among(BITS)


class BitXor(BinaryBits, name="tensor.bit_xor", meaning=np.bitwise_xor):
    """The bits that are 1 in one of the two."""

    left: Operand[Tensor] = among(BITS)


class BitNot(UnaryBits, name="tensor.bit_not", meaning=np.invert):
    """The bits that are 0."""

    x: Operand[Tensor] = among(BITS)


class ShiftLeft(BinaryBits, name="tensor.shift_left", meaning=shift_left):
    """left << right; 0 for an amount outside 0..width-1."""

    left: Operand[Tensor] = among(INTEGERS)


class ShiftRight(BinaryBits, name="tensor.shift_right", meaning=shift_right):
    """left >> right, arithmetic for signed; all sign bits for an amount outside 0..width-1."""

    left: Operand[Tensor] = among(INTEGERS)


class CountOnes(UnaryBits, name="tensor.count_ones", meaning=count_ones):
    """How many bits are 1."""

    x: Operand[Tensor] = among(INTEGERS)


class CountLeadingZeros(UnaryBits, name="tensor.count_leading_zeros", meaning=count_leading_zeros):
    """How many bits are 0 before the first 1, from the highest on; the width for 0."""

    x: Operand[Tensor] = among(INTEGERS)
