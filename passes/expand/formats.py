"""How f32 and f64 are laid out, and the tricks that their layout allows.

Comes in: terms of either dtype. Goes out: the parts of their numbers, powers of two.
Never: a conversion between floats and integers by the machine, which not every machine has for
vectors: a whole number added to a large one stands in the low bits of the sum.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

from ...ir.dtypes import DType, f32, f64, u32, u64
from .terms import Term, multiply_add, select


@dataclass(frozen=True, slots=True)
class Format:
    """One of the two: `fraction` bits stand below the exponent, which is `bias` for 1."""

    dtype: DType
    unsigned: DType
    fraction: int
    bias: int

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.fraction

    @property
    def magic(self) -> float:
        """A number whose neighbours are whole: the low bits of it + n are those of n."""
        return 1.5 * 2.0**self.fraction

    @property
    def least_normal(self) -> float:
        """The smallest number that has all its bits."""
        return 2.0 ** (1 - self.bias)

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.dtype.bits - 1)


SINGLE = Format(f32, u32, 23, 127)
DOUBLE = Format(f64, u64, 52, 1023)
BY_DTYPE = {f32: SINGLE, f64: DOUBLE}
SQUARE_ROOT_OF_HALF = {f32: 0x3F3504F3, f64: 0x3FE6A09E667F3BCD}
"""The bits of √½."""


def format_of(x: Term) -> Format:
    """The layout of the numbers of a term."""
    return BY_DTYPE[x.dtype]


def nearest_whole(x: Term, factor: float, bias: int = 0) -> tuple[Term, Term]:
    """The whole number nearest to `x * factor`, and bits whose lowest are that number + `bias`."""
    layout = format_of(x)
    magic = layout.magic + bias
    shifted = multiply_add(x, factor, magic)
    return shifted - magic, shifted.bits(layout.unsigned)


def power_of_two(bits: Term, layout: Format) -> Term:
    """2 to a number, of which the bits are given with the bias added; the upper ones fall out."""
    return (bits << layout.fraction).bits(layout.dtype)


def mantissa_and_exponent(x: Term, *, may_be_tiny: bool = True) -> tuple[Term, Term]:
    """m and k (as a float) with x = m 2^k and √½ ≤ m < √2, of a positive finite x; a denormal one
    is raised first, unless it is said that there is none."""
    layout = format_of(x)
    tiny = x < layout.least_normal
    raised = select(tiny, x * 2.0**layout.fraction, x) if may_be_tiny else x
    low = layout.one - SQUARE_ROOT_OF_HALF[layout.dtype]
    base = layout.magic + layout.bias
    shifted = (raised.bits(layout.unsigned) + low) >> layout.fraction
    shift: Term | float = base
    if may_be_tiny:
        shift = select(tiny, x.like(base + layout.fraction), base)
    exponent = _in_magic(shifted, layout) - shift
    above = (raised.bits(layout.unsigned) + low) & ((1 << layout.fraction) - 1)
    return (above + SQUARE_ROOT_OF_HALF[layout.dtype]).bits(layout.dtype), exponent


def as_float(whole: Term, layout: Format) -> Term:
    """A small whole number as a float."""
    return _in_magic(whole, layout) - layout.magic


def _in_magic(whole: Term, layout: Format) -> Term:
    """The magic number plus a small whole one."""
    exponent = layout.bias + layout.fraction
    return (whole | (exponent << layout.fraction | 1 << (layout.fraction - 1))).bits(layout.dtype)


@cache
def pieces(number: str, bits: tuple[int, ...]) -> tuple[float, ...]:
    """A decimal number as a sum of floats: each piece has so many bits, of the number's own."""
    found: list[float] = []
    with localcontext() as context:
        context.prec = 120
        rest = Decimal(number)
        for width in bits:
            unit = Decimal(2) ** (_exponent(rest) - width)
            piece = (rest / unit).to_integral_value() * unit
            found.append(float(piece))
            rest -= piece
            if not rest:
                break
    return tuple(found)


def _exponent(number: Decimal) -> int:
    """e with 2^(e-1) <= |number| < 2^e."""
    size, exponent = abs(number), 0
    while size >= 1:
        size, exponent = size / 2, exponent + 1
    while size < Decimal("0.5"):
        size, exponent = size * 2, exponent - 1
    return exponent
