"""Rewrites of casts, bit casts and the parts of complex numbers.

Comes in: conversions. Goes out: fewer of them, where every value survives the detour.
Never: `cast(cast(x))` through a narrower dtype.
"""

from ...ir import tensor
from ...ir.dtypes import DType, Kind, bf16, boolean, f8e4m3, f8e5m2, f16, f32, f64
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.values import AnyValue
from .patterns import made_by

# Bits of a float's significand, the hidden one included: integers up to 2^bits are exact.
SIGNIFICAND = {f8e4m3: 4, f8e5m2: 3, bf16: 8, f16: 11, f32: 24, f64: 53}
WIDER = {
    f8e4m3: (f16, bf16, f32, f64), f8e5m2: (f16, bf16, f32, f64), f16: (f32, f64),
    bf16: (f32, f64), f32: (f64,), f64: (),
}  # fmt: skip


def holds_all(wide: DType, narrow: DType) -> bool:
    """Whether `wide` has every value of `narrow`."""
    if wide is narrow or narrow is boolean:
        return True
    if narrow.kind is Kind.FLOAT:
        return wide in WIDER[narrow]
    if narrow.kind is Kind.COMPLEX or wide.kind in (Kind.BOOL, Kind.COMPLEX):
        return False
    magnitude = narrow.bits - (narrow.kind is Kind.SIGNED)
    if wide.kind is Kind.FLOAT:
        return magnitude <= SIGNIFICAND[wide]
    if wide.kind is Kind.UNSIGNED:
        return narrow.kind is Kind.UNSIGNED and narrow.bits <= wide.bits
    return magnitude <= wide.bits - 1


@rewrite(tensor.Cast)
def cast_to_same(op: tensor.Cast, rewriter: Rewriter) -> AnyValue | None:
    """cast(x) -> x, to the dtype it has"""
    return op.x if op.x.dtype is op.dtype else None


@rewrite(tensor.Cast)
def cast_twice(op: tensor.Cast, rewriter: Rewriter) -> AnyValue | None:
    """cast(cast(x)) -> cast(x), when the dtype between holds every value of x"""
    inner = made_by(op.x, tensor.Cast)
    if inner is None or not holds_all(inner.dtype, inner.x.dtype):
        return None
    # A float to an integer saturates and an integer wraps: the detour must not change which.
    through_float = inner.dtype.kind is Kind.FLOAT and inner.x.dtype.kind is not Kind.FLOAT
    if through_float and not holds_all(op.dtype, inner.x.dtype):
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Cast, inner.x, op.dtype)


@rewrite(tensor.Bitcast)
def bitcast_twice(op: tensor.Bitcast, rewriter: Rewriter) -> AnyValue | None:
    """bitcast(bitcast(x)) -> bitcast(x), and to the dtype it has -> x"""
    if op.x.dtype is op.dtype:
        return op.x
    inner = made_by(op.x, tensor.Bitcast)
    if inner is None:
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Bitcast, inner.x, op.dtype)


@rewrite(tensor.Real, tensor.Imaginary)
def part_of_pair(op: tensor.Real | tensor.Imaginary, rewriter: Rewriter) -> AnyValue | None:
    """real(complex(a, b)) -> a, imaginary(complex(a, b)) -> b"""
    inner = made_by(op.x, tensor.Complex)
    if inner is None:
        return None
    return inner.operands[0 if isinstance(op, tensor.Real) else 1]


@rewrite(tensor.Real, tensor.Imaginary)
def part_of_conjugate(op: tensor.Real | tensor.Imaginary, rewriter: Rewriter) -> AnyValue | None:
    """real(conjugate(z)) -> real(z), imaginary(conjugate(z)) -> -imaginary(z)"""
    inner = made_by(op.x, tensor.Conjugate)
    if inner is None:
        return None
    rewriter.covers(inner)
    part = rewriter.emit(op.__class__, inner.x)
    return part if isinstance(op, tensor.Real) else rewriter.emit(tensor.Negate, part)


@rewrite(tensor.Conjugate)
def conjugate_twice(op: tensor.Conjugate, rewriter: Rewriter) -> AnyValue | None:
    """conjugate(conjugate(z)) -> z"""
    inner = made_by(op.x, tensor.Conjugate)
    return inner.x if inner is not None else None


CONVERSIONS = Rules(
    cast_to_same, cast_twice, bitcast_twice, part_of_pair, part_of_conjugate, conjugate_twice
)
