"""Floats narrower than f32, of which machines know at most f16, and that only in casts.

Comes in: terms. Goes out: terms of f32, and of the narrow dtypes again, rounded once.
Never: arithmetic between numbers of a narrow dtype; there is none.
"""

from dataclasses import dataclass

from ...ir.dtypes import FLOATS, DType, Kind, bf16, f8e4m3, f8e5m2, f16, f32, f64, u8, u16, u32
from .terms import Term, at_most, select

NARROW = frozenset({f8e4m3, f8e5m2, bf16, f16})
SPARE_BITS = 12
"""How many low bits of a 64-bit integer a double may lack."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a narrow dtype is laid out; `infinity` is the code above all finite ones, `nan` one that
    is no number."""

    unsigned: DType
    fraction: int
    bias: int
    infinity: int
    nan: int


LAYOUTS = {
    bf16: Layout(u16, 7, 127, 0x7F80, 0x7FC0),
    f8e5m2: Layout(u8, 2, 15, 0x7C, 0x7E),
    f8e4m3: Layout(u8, 3, 7, 0x7F, 0x7F),
}


def converted(x: Term, dtype: DType) -> Term:
    """A cast that rounds once, by casts that there are."""
    if x.dtype in NARROW:
        x = widened(x)
    if dtype not in NARROW:
        return x.cast(dtype)
    single = _single(x)
    return single.cast(f16) if dtype is f16 else _rounded(single, dtype)


def widened(x: Term) -> Term:
    """A narrow float as f32, which holds it exactly."""
    match x.dtype.name:
        case "bf16":
            return (x.bits(u16).cast(u32) << 16).bits(f32)
        case "f8e5m2":
            return (x.bits(u8).cast(u16) << 8).bits(f16).cast(f32)
        case "f8e4m3":
            return _of_f8e4m3(x.bits(u8).cast(u32))
        case _:
            return x.cast(f32)


def _of_f8e4m3(bits: Term) -> Term:
    """The exponent is put where that of f32 stands, and scaled to its own bias, which makes
    normal numbers of denormals too."""
    size = bits & 0x7F
    number = (size << 20).bits(f32) * 2.0**120
    number = select(size.equals(0x7F), float("nan"), number)
    return (number.bits(u32) | ((bits & 0x80) << 24)).bits(f32)


def _single(x: Term) -> Term:
    """As f32, exactly or rounded to odd, after which any narrower dtype is rounded to rightly."""
    if x.dtype is f32 or (x.dtype not in FLOATS and x.dtype.bits <= 16):
        return x.cast(f32)
    return _odd_single(x if x.dtype is f64 else _odd_double(x))


def _odd_double(x: Term) -> Term:
    """An integer as f64; of one with more bits, the last one kept says whether any was lost."""
    if x.dtype.bits < 64:
        return x.cast(f64)
    kept = (x >> SPARE_BITS) << SPARE_BITS
    odd = select(kept.equals(x), kept, kept | (1 << SPARE_BITS))
    size = abs(x) if x.dtype.kind is Kind.SIGNED else x
    return select(size < 1 << 52, x, odd).cast(f64)


def _odd_single(x: Term) -> Term:
    """f64 as f32; of the two neighbours of a number that f32 lacks, the one whose last bit is 1."""
    near = x.cast(f32)
    back, bits = near.cast(f64), near.bits(u32)
    stepped = select(abs(back) < abs(x), bits + 1, bits - 1)
    return select(back.differs(x) & (bits & 1).equals(0), stepped, bits).bits(f32)


def _rounded(x: Term, dtype: DType) -> Term:
    """f32 as a dtype of `LAYOUTS`, to the nearest, ties to even; NaN keeps its sign."""
    layout = LAYOUTS[dtype]
    bits, size = x.bits(u32), abs(x).bits(u32)
    shift = 23 - layout.fraction
    even = size + ((1 << (shift - 1)) - 1) + ((size >> shift) & 1)
    code = (even >> shift) - ((127 - layout.bias) << layout.fraction)
    if layout.bias < 127:
        # A sum with a number whose last place is the least denormal is rounded to that.
        unit = 2.0 ** (1 - layout.bias - layout.fraction)
        magic = x.like(unit * 2.0**23)
        small = (abs(x) + magic).bits(u32) - magic.bits(u32)
        code = select(abs(x) < 2.0 ** (1 - layout.bias), small, at_most(code, layout.infinity))
    code = select(x.differs(x), layout.nan, code)
    sign = (bits >> (32 - dtype.bits)) & (1 << (dtype.bits - 1))
    return (code | sign).cast(layout.unsigned).bits(dtype)


def with_other_sign(x: Term) -> Term:
    """-x, of NaN too."""
    bits = _bits(x)
    return (bits ^ _sign_bit(x)).bits(x.dtype)


def without_sign(x: Term) -> Term:
    """|x|"""
    return (_bits(x) & (_sign_bit(x) - 1)).bits(x.dtype)


def copy_sign(x: Term, sign: Term) -> Term:
    """The size of x with the sign of another."""
    bits = _sign_bit(x)
    return ((_bits(x) & (bits - 1)) | (_bits(sign) & bits)).bits(x.dtype)


def _bits(x: Term) -> Term:
    return x.bits(u8 if x.dtype.bits == 8 else u16)


def _sign_bit(x: Term) -> int:
    return 1 << (x.dtype.bits - 1)
