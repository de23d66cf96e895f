"""Arithmetic and the functions of real and complex analysis, of each element on its own.

Comes in: tensors and numbers, which are brought to one dtype and one shape. Goes out: a tensor.
Never: a comparison or a bit operation (`logic.py`), a rounding (`rounding.py`), or a sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..handle import Handle, wrap
from ..node import Node, record
from .common import as_node, cast_node, filled, promote, refuse_lossy, to_common_dtype

if TYPE_CHECKING:
    from ..tensor import Tensor


def binary(
    op: Any, name: str, x: Any, y: Any, among: Any = ir.NUMBERS, floats: bool = False
) -> Tensor:
    """An op of two tensors; equal types, the common case, need no bringing together."""
    if isinstance(x, Handle) and isinstance(y, Handle) and x.node.type is y.node.type:
        left, right = x.node, y.node
        dtype = left.type.dtype
        if dtype in among and (not floats or dtype in ir.INEXACT):
            return wrap(record(op, (left, right)))
    left, right = promote(name, x, y, among=among, floats=floats)
    return wrap(record(op, (left, right)))


def unary(op: Any, name: str, x: Any, among: Any = ir.INEXACT, floats: bool = True) -> Tensor:
    """An op of one tensor; `floats` turns integers into floats first."""
    if isinstance(x, Handle) and x.node.type.dtype in ir.INEXACT:
        node = x.node
        if node.type.dtype in among:
            return wrap(record(op, (node,)))
    (node,) = promote(name, x, among=among, floats=floats)
    return wrap(record(op, (node,)))


def add(x: Any, y: Any, /) -> Tensor:
    """x + y."""
    return binary(ops.Add, "add", x, y)


def subtract(x: Any, y: Any, /) -> Tensor:
    """x - y."""
    return binary(ops.Subtract, "subtract", x, y)


def multiply(x: Any, y: Any, /) -> Tensor:
    """x * y."""
    return binary(ops.Multiply, "multiply", x, y)


def divide(x: Any, y: Any, /) -> Tensor:
    """x / y, a float even of integers."""
    return binary(ops.Divide, "divide", x, y, among=ir.INEXACT, floats=True)


def floor_divide(x: Any, y: Any, /) -> Tensor:
    """x / y rounded to the whole number below; integers divided by 0 give 0."""
    left, right = promote("floor_divide", x, y, among=ir.REALS)
    quotient = record(ops.Divide, (left, right))
    if left.type.dtype in ir.FLOATS:
        # Dividing what is left over away first keeps the quotient of large numbers exact.
        rest = _floored_remainder(left, right)
        exact = record(ops.Divide, (record(ops.Subtract, (left, rest)), right))
        finite = record(ops.IsFinite, (quotient,))
        floored = record(ops.Floor, (quotient,))
        whole = record(ops.RoundEven, (exact,))
        safe = record(ops.BitAnd, (finite, record(ops.IsFinite, (right,))))
        return wrap(record(ops.Select, (safe, record(ops.CopySign, (whole, quotient)), floored)))
    if left.type.dtype in ir.UNSIGNED:
        return wrap(quotient)
    zero = _number(0, left)
    rest = record(ops.Remainder, (left, right))
    opposite = record(ops.Less, (record(ops.BitXor, (rest, right)), zero))
    below = record(ops.BitAnd, (opposite, record(ops.NotEqual, (rest, zero))))
    return wrap(record(ops.Subtract, (quotient, record(ops.Cast, (below,), (left.type.dtype,)))))


def remainder(x: Any, y: Any, /) -> Tensor:
    """What `floor_divide` leaves, with the sign of y; of integers, x % 0 is 0."""
    left, right = promote("remainder", x, y, among=ir.REALS)
    return wrap(_floored_remainder(left, right))


def _floored_remainder(left: Node, right: Node) -> Node:
    """The truncated remainder, plus y where the signs differ; a zero takes the sign of y."""
    zero = _number(0, left)
    rest = record(ops.Remainder, (left, right))
    if left.type.dtype in ir.UNSIGNED:
        return rest
    shifted = record(ops.Add, (rest, right))
    nonzero = record(ops.Less, (zero, record(ops.Absolute, (rest,))))  # which NaN is not
    signs = [record(ops.Less, (node, zero)) for node in (rest, right)]
    differ = record(ops.BitAnd, (nonzero, record(ops.BitXor, tuple(signs))))
    if left.type.dtype in ir.FLOATS:
        infinite = record(ops.Equal, (record(ops.Absolute, (right,)), _number(float("inf"), right)))
        shifted = record(ops.Select, (infinite, right, shifted))
        # Either zero plus 0.0 is 0.0, which, unlike a sign that is copied, keeps the derivative.
        opposite = record(ops.Add, (record(ops.Negate, (rest,)), zero))
        above = record(ops.Add, (rest, zero))
        rest = record(ops.Select, (signs[1], record(ops.Negate, (opposite,)), above))
    return record(ops.Select, (differ, shifted, rest))


def positive(x: Any, /) -> Tensor:
    """x."""
    (node,) = promote("positive", x, among=ir.NUMBERS)
    return wrap(node)


def negative(x: Any, /) -> Tensor:
    """-x."""
    return unary(ops.Negate, "negative", x, ir.NUMBERS, floats=False)


def abs(x: Any, /) -> Tensor:
    """|x|; of a complex number its distance from 0."""
    return unary(ops.Absolute, "abs", x, ir.NUMBERS, floats=False)


def sign(x: Any, /) -> Tensor:
    """-1, 0 or 1; of a complex number x / |x|."""
    (node,) = promote("sign", x, among=ir.NUMBERS)
    zero = _number(0, node)
    if node.type.dtype not in ir.COMPLEXES:
        is_zero = record(ops.Equal, (node, zero))
        return wrap(record(ops.Select, (is_zero, zero, record(ops.Sign, (node,)))))
    node = _without_one_infinity(node)
    none = filled(0, node.type.shape, node.type.dtype.real)
    divided = record(ops.Divide, (node, record(ops.Complex, (abs(wrap(node)).node, none))))
    return wrap(record(ops.Select, (record(ops.Equal, (node, zero)), zero, divided)))


def _without_one_infinity(node: Node) -> Node:
    """Complex numbers, but for those with one infinite part: of these its sign, since the other
    part is nothing beside it."""
    parts = [real(wrap(node)).node, imag(wrap(node)).node]
    infinite = [
        record(ops.Equal, (abs(wrap(each)).node, _number(float("inf"), each))) for each in parts
    ]
    is_one = record(ops.NotEqual, tuple(infinite))
    pairs = zip(parts, infinite, strict=True)
    signs = [
        record(ops.Select, (found, sign(wrap(each)).node, _number(0, each)))
        for each, found in pairs
    ]
    return record(ops.Select, (is_one, record(ops.Complex, tuple(signs)), node))


def square(x: Any, /) -> Tensor:
    """x * x."""
    (node,) = promote("square", x, among=ir.NUMBERS)
    return wrap(record(ops.Multiply, (node, node)))


def reciprocal(x: Any, /) -> Tensor:
    """1 / x."""
    return divide(1, x)


def sqrt(x: Any, /) -> Tensor:
    """√x."""
    return unary(ops.SquareRoot, "sqrt", x)


def rsqrt(x: Any, /) -> Tensor:
    """1 / √x."""
    return unary(ops.ReciprocalSquareRoot, "rsqrt", x)


def cbrt(x: Any, /) -> Tensor:
    """The real cube root, negative for negative x."""
    return unary(ops.CubeRoot, "cbrt", x, ir.FLOATS)


def exp(x: Any, /) -> Tensor:
    """e to the power x."""
    return unary(ops.Exp, "exp", x)


def exp2(x: Any, /) -> Tensor:
    """2 to the power x."""
    return unary(ops.Exp2, "exp2", x)


def expm1(x: Any, /) -> Tensor:
    """exp(x) - 1, accurate near 0."""
    return unary(ops.Expm1, "expm1", x)


def log(x: Any, /) -> Tensor:
    """The natural logarithm."""
    return unary(ops.Log, "log", x)


def log2(x: Any, /) -> Tensor:
    """The logarithm to base 2."""
    return unary(ops.Log2, "log2", x)


def log10(x: Any, /) -> Tensor:
    """The logarithm to base 10."""
    return unary(ops.Log10, "log10", x)


def log1p(x: Any, /) -> Tensor:
    """log(1 + x), accurate near 0."""
    return unary(ops.Log1p, "log1p", x)


def sin(x: Any, /) -> Tensor:
    """The sine of x radians."""
    return unary(ops.Sin, "sin", x)


def cos(x: Any, /) -> Tensor:
    """The cosine of x radians."""
    return unary(ops.Cos, "cos", x)


def tan(x: Any, /) -> Tensor:
    """The tangent of x radians."""
    return unary(ops.Tan, "tan", x)


def asin(x: Any, /) -> Tensor:
    """The angle in -π/2..π/2 whose sine is x."""
    return unary(ops.Arcsin, "asin", x)


def acos(x: Any, /) -> Tensor:
    """The angle in 0..π whose cosine is x."""
    return unary(ops.Arccos, "acos", x)


def atan(x: Any, /) -> Tensor:
    """The angle in -π/2..π/2 whose tangent is x."""
    return unary(ops.Arctan, "atan", x)


def atan2(y: Any, x: Any, /) -> Tensor:
    """The angle of the point (x, y), in -π..π."""
    return binary(ops.Arctan2, "atan2", y, x, among=ir.FLOATS, floats=True)


def sinh(x: Any, /) -> Tensor:
    """The hyperbolic sine."""
    return unary(ops.Sinh, "sinh", x)


def cosh(x: Any, /) -> Tensor:
    """The hyperbolic cosine."""
    return unary(ops.Cosh, "cosh", x)


def tanh(x: Any, /) -> Tensor:
    """The hyperbolic tangent."""
    return unary(ops.Tanh, "tanh", x)


def asinh(x: Any, /) -> Tensor:
    """The number whose hyperbolic sine is x."""
    return unary(ops.Arcsinh, "asinh", x)


def acosh(x: Any, /) -> Tensor:
    """The number whose hyperbolic cosine is x."""
    return unary(ops.Arccosh, "acosh", x)


def atanh(x: Any, /) -> Tensor:
    """The number whose hyperbolic tangent is x."""
    return unary(ops.Arctanh, "atanh", x)


def erf(x: Any, /) -> Tensor:
    """The error function: 2/√π times the integral of exp(-t²) from 0 to x."""
    return unary(ops.Erf, "erf", x, ir.FLOATS)


def hypot(x: Any, y: Any, /) -> Tensor:
    """√(x² + y²), without overflow on the way."""
    return binary(ops.Hypot, "hypot", x, y, among=ir.FLOATS, floats=True)


def logaddexp(x: Any, y: Any, /) -> Tensor:
    """log(exp(x) + exp(y)), without overflow on the way."""
    left, right = promote("logaddexp", x, y, among=ir.FLOATS, floats=True)
    # Which of two equals is taken does not matter, so all derivatives are right there too.
    first = record(ops.LessEqual, (right, left))
    larger = record(ops.Select, (first, left, right))
    smaller = record(ops.Select, (first, right, left))
    apart = record(ops.Subtract, (smaller, larger))
    # Of two equal infinities the difference is NaN, and the sum the infinity itself.
    same = record(ops.Equal, (left, right))
    infinite = record(ops.BitAnd, (same, record(ops.IsNan, (apart,))))
    apart = record(ops.Select, (infinite, _number(0, apart), apart))
    return wrap(record(ops.Add, (larger, record(ops.Log1p, (record(ops.Exp, (apart,)),)))))


def maximum(x: Any, y: Any, /) -> Tensor:
    """The larger of the two; NaN if either is."""
    return binary(ops.Maximum, "maximum", x, y, among=ir.ORDERED)


def minimum(x: Any, y: Any, /) -> Tensor:
    """The smaller of the two; NaN if either is."""
    return binary(ops.Minimum, "minimum", x, y, among=ir.ORDERED)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """x, but at least `min` and at most `max`; where `min` is the larger, `max`.

    The result has the dtype of x, so that bounds of integers are integers, too.
    """
    (result,) = promote("clip", x, among=ir.REALS)
    dtype = result.type.dtype
    for op, bound in ((ops.Maximum, min), (ops.Minimum, max)):
        if bound is not None:
            limit = to_common_dtype("clip", wrap(result), bound)[1]
            refuse_lossy("clip", limit.type.dtype, dtype, x, bound)
            limit = cast_node(limit, dtype)
            left, right = promote("clip", wrap(result), wrap(limit))
            result = record(op, (left, right))
    return wrap(result)


def copysign(x: Any, y: Any, /) -> Tensor:
    """x with the sign of y."""
    return binary(ops.CopySign, "copysign", x, y, among=ir.FLOATS, floats=True)


def nextafter(x: Any, y: Any, /) -> Tensor:
    """The next number of the dtype after x on the way to y."""
    return binary(ops.NextAfter, "nextafter", x, y, among=ir.FLOATS)


def conj(x: Any, /) -> Tensor:
    """The complex conjugate; a real number is its own."""
    node = as_node(x, "conj")
    return wrap(record(ops.Conjugate, (node,)) if node.type.dtype in ir.COMPLEXES else node)


def real(x: Any, /) -> Tensor:
    """The real part."""
    node = as_node(x, "real")
    return wrap(record(ops.Real, (node,)) if node.type.dtype in ir.COMPLEXES else node)


def imag(x: Any, /) -> Tensor:
    """The imaginary part; of a real number zero."""
    node = as_node(x, "imag")
    if node.type.dtype in ir.COMPLEXES:
        return wrap(record(ops.Imaginary, (node,)))
    return wrap(filled(0, node.type.shape, node.type.dtype))


def _number(value: Any, like: Node) -> Node:
    """A number everywhere, in the shape and dtype of a node."""
    return filled(value, like.type.shape, like.type.dtype)
