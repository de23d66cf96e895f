"""Functions of tiles and numbers, element by element, and what becomes of a tile along an axis.

Comes in: tiles, numbers, sizes. Goes out: tiles or numbers; a reduction of all axes is a number.
Never: a value shared between programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir import dtypes as ir
from ...ir import tile as ops
from ...ir.tile import ArgKind, BinaryKind, ReduceKind, ScanKind, UnaryKind
from ..dtypes import as_dtype
from ..errors import DTypeError, fail
from ..functions.common import as_axes, as_axis
from . import values
from .draft import current
from .values import Tile, emitted, lifted, made, stretched, together

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]


def _unary(kind: UnaryKind) -> Unary:
    def function(x: Any) -> Any:
        return values.unary(kind.value, kind, x)

    function.__doc__ = f"{kind.value.replace('_', ' ')} of each element."
    return function


def _binary(kind: BinaryKind) -> Binary:
    def function(left: Any, right: Any) -> Any:
        return values.binary(kind.value, kind, left, right)

    function.__doc__ = f"{kind.value.replace('_', ' ')} of each two elements."
    return function


absolute = _unary(UnaryKind.ABSOLUTE)
sign = _unary(UnaryKind.SIGN)
sqrt = _unary(UnaryKind.SQUARE_ROOT)
rsqrt = _unary(UnaryKind.RECIPROCAL_SQUARE_ROOT)
cbrt = _unary(UnaryKind.CUBE_ROOT)
exp, exp2, expm1 = map(_unary, (UnaryKind.EXP, UnaryKind.EXP2, UnaryKind.EXPM1))
log, log2, log10 = map(_unary, (UnaryKind.LOG, UnaryKind.LOG2, UnaryKind.LOG10))
log1p = _unary(UnaryKind.LOG1P)
sin, cos, tan = map(_unary, (UnaryKind.SIN, UnaryKind.COS, UnaryKind.TAN))
asin, acos, atan = map(_unary, (UnaryKind.ARCSIN, UnaryKind.ARCCOS, UnaryKind.ARCTAN))
sinh, cosh, tanh = map(_unary, (UnaryKind.SINH, UnaryKind.COSH, UnaryKind.TANH))
asinh, acosh, atanh = map(_unary, (UnaryKind.ARCSINH, UnaryKind.ARCCOSH, UnaryKind.ARCTANH))
erf, erfc = map(_unary, (UnaryKind.ERF, UnaryKind.ERFC))
erfinv = _unary(UnaryKind.ERF_INVERSE)
lgamma, digamma = map(_unary, (UnaryKind.LOG_GAMMA, UnaryKind.DIGAMMA))
floor, ceil = map(_unary, (UnaryKind.FLOOR, UnaryKind.CEIL))
trunc, round_even = map(_unary, (UnaryKind.TRUNCATE, UnaryKind.ROUND_EVEN))
bitwise_count = _unary(UnaryKind.COUNT_ONES)

maximum, minimum = map(_binary, (BinaryKind.MAXIMUM, BinaryKind.MINIMUM))
atan2, hypot = map(_binary, (BinaryKind.ARCTAN2, BinaryKind.HYPOT))
copysign, nextafter = map(_binary, (BinaryKind.COPY_SIGN, BinaryKind.NEXT_AFTER))
remainder = _binary(BinaryKind.REMAINDER)


def quotient(left: Any, right: Any) -> Any:
    """left / right of integers, rounded toward zero; by zero it is 0."""
    found = together("quotient", left, right)
    if found[0].dtype not in ir.INTEGERS:
        fail(DTypeError, "quotient", "takes integers", left, right, hint="divide floats by `/`")
    return made(current("quotient").emit(ops.Binary, *found, kind=BinaryKind.DIVIDE))


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere."""
    draft = current("where")
    predicate = lifted("where", condition, ir.boolean)
    if predicate.dtype is not ir.boolean:
        fail(
            DTypeError, "where", "the condition is boolean", condition, hint="compare it: `x != 0`"
        )
    return made(draft.emit(ops.Select, *stretched("where", [predicate, *together("where", x, y)])))


def _reduction(kind: ReduceKind) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        reduced = lifted(kind.value, x)
        shape = list(x.shape)
        for each in sorted(as_axes(axis, len(shape), kind.value), reverse=True):
            reduced = current(kind.value).emit(ops.Reduce, reduced, axis=each, kind=kind)
            shape[each] = 1
        if keepdims:
            reduced = current(kind.value).emit(ops.Reshape, reduced, shape=tuple(shape))
        return made(reduced)

    function.__doc__ = f"The {kind.value} along an axis, along several, or of all elements."
    return function


reduce_sum, reduce_prod = map(_reduction, (ReduceKind.SUM, ReduceKind.PRODUCT))
reduce_max, reduce_min = map(_reduction, (ReduceKind.MAXIMUM, ReduceKind.MINIMUM))
reduce_all, reduce_any = map(_reduction, (ReduceKind.AND, ReduceKind.OR))


def _search(kind: ArgKind) -> Callable[..., Any]:
    name = f"arg{kind.value}"

    def function(x: Tile, axis: int, dtype: Any = "int64") -> Any:
        place = as_axis(axis, len(x.shape), name)
        return emitted(name, ops.ArgReduce, x, axis=place, kind=kind, dtype=as_dtype(dtype).ir)

    function.__doc__ = f"The place of the {kind.value} along an axis; of equals, the first."
    return function


argmax, argmin = map(_search, (ArgKind.MAXIMUM, ArgKind.MINIMUM))


def _scan(kind: ScanKind) -> Callable[..., Any]:
    name = f"cumulative_{kind.value}"

    def function(x: Tile, axis: int, reverse: bool = False) -> Any:
        place = as_axis(axis, len(x.shape), name)
        return emitted(name, ops.Scan, x, axis=place, kind=kind, reverse=reverse)

    function.__doc__ = f"The {kind.value} of each element and those before it along an axis."
    return function


cumulative_sum, cumulative_prod = map(_scan, (ScanKind.SUM, ScanKind.PRODUCT))
cumulative_max, cumulative_min = map(_scan, (ScanKind.MAXIMUM, ScanKind.MINIMUM))


def sort(x: Tile, *others: Tile, axis: int = -1, descending: bool = False) -> Any:
    """A tile sorted along an axis, and others of its shape in the same order; NaN comes last."""
    draft = current("sort")
    tiles = [lifted("sort", each) for each in (x, *others)]
    place = as_axis(axis, len(x.shape), "sort")
    ordered = draft.emit_all(ops.Sort, tiles, axis=place, descending=descending)
    return made(ordered[0]) if not others else tuple(made(each) for each in ordered)


def dot(a: Tile, b: Tile, accumulator: Any = None, precision: str = "ieee") -> Any:
    """accumulator + a @ b; without one, the product in float32, float64 or the integers' dtype."""
    left, right = lifted("dot", a), lifted("dot", b)
    if accumulator is None:
        dtype = left.dtype if left.dtype in ir.INTEGERS else left.dtype.accumulator
        shape = (*a.shape[:-1], *b.shape[-1:])
        start = values.broadcast(lifted("dot", 0, dtype), shape)
    else:
        start = lifted("dot", accumulator)
    how = ops.Precision(precision)
    return made(current("dot").emit(ops.Dot, left, right, start, precision=how))


def random_bits(low_key: Any, high_key: Any, index: Tile) -> Any:
    """The words of the stream of a key, of two numbers of uint32, at some places of it."""
    keys = [lifted("random_bits", each, ir.u32) for each in (low_key, high_key)]
    return made(current("random_bits").emit(ops.RandomBits, *keys, lifted("random_bits", index)))
