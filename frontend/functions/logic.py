"""Comparisons, tests, logic and bits, of each element on its own; and the choice between tensors.

Comes in: tensors and numbers, which are brought to one dtype and one shape. Goes out: a tensor.
Never: arithmetic (`elementwise.py`).
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.attributes import Shape
from ...ir.dims import minimum
from ..errors import DTypeError, fail
from ..handle import wrap
from ..node import Node, record
from ..unseen import looked_at
from .common import as_node, broadcast_all, cast_node, filled, promote, size_node, to_common_dtype
from .elementwise import binary
from .manipulation import part

if TYPE_CHECKING:
    from ..tensor import Tensor


def equal(x: Any, y: Any, /) -> Tensor:
    """Whether x = y; NaN equals nothing."""
    return wrap(record(ops.Equal, tuple(promote("equal", x, y))))


def not_equal(x: Any, y: Any, /) -> Tensor:
    """Whether x ≠ y."""
    return wrap(record(ops.NotEqual, tuple(promote("not_equal", x, y))))


def less(x: Any, y: Any, /) -> Tensor:
    """Whether x < y."""
    return binary(ops.Less, "less", x, y, among=ir.ORDERED)


def less_equal(x: Any, y: Any, /) -> Tensor:
    """Whether x ≤ y."""
    return binary(ops.LessEqual, "less_equal", x, y, among=ir.ORDERED)


def greater(x: Any, y: Any, /) -> Tensor:
    """Whether x > y."""
    left, right = promote("greater", x, y, among=ir.ORDERED)
    return wrap(record(ops.Less, (right, left)))


def greater_equal(x: Any, y: Any, /) -> Tensor:
    """Whether x ≥ y."""
    left, right = promote("greater_equal", x, y, among=ir.ORDERED)
    return wrap(record(ops.LessEqual, (right, left)))


def isnan(x: Any, /) -> Tensor:
    """Whether x, or a part of it, is NaN."""
    return wrap(_any_part(ops.IsNan, as_node(x, "isnan"), of_integers=False))


def isinf(x: Any, /) -> Tensor:
    """Whether x, or a part of it, is infinite."""
    node = as_node(x, "isinf")
    return wrap(_any_part(_is_infinite, node, of_integers=False))


def isfinite(x: Any, /) -> Tensor:
    """Whether x is neither infinite nor NaN."""
    node = as_node(x, "isfinite")
    if node.type.dtype in ir.COMPLEXES:
        parts = [record(ops.IsFinite, (part,)) for part in _parts(node)]
        return wrap(record(ops.BitAnd, tuple(parts)))
    return wrap(_any_part(ops.IsFinite, node, of_integers=True))


def _any_part(test: Any, node: Node, of_integers: bool) -> Node:
    """A test of floats, of either part of complex numbers; integers all give the same."""
    dtype = node.type.dtype
    apply = test if not isinstance(test, type) else lambda part: record(test, (part,))
    if dtype in ir.COMPLEXES:
        return record(ops.BitOr, tuple([apply(part) for part in _parts(node)]))
    return apply(node) if dtype in ir.FLOATS else filled(of_integers, node.type.shape, ir.boolean)


def _is_infinite(node: Node) -> Node:
    infinity = filled(float("inf"), node.type.shape, node.type.dtype)
    return record(ops.Equal, (record(ops.Absolute, (node,)), infinity))


def _parts(node: Node) -> list[Node]:
    return [record(part, (node,)) for part in (ops.Real, ops.Imaginary)]


def signbit(x: Any, /) -> Tensor:
    """Whether the sign bit of a float is set, as it is for -0.0."""
    (node,) = promote("signbit", x, among=ir.REALS)
    dtype, shape = node.type.dtype, node.type.shape
    if dtype in ir.FLOATS:
        node = record(ops.CopySign, (filled(1, shape, dtype), node))
    return wrap(record(ops.Less, (node, filled(0, shape, dtype))))


def logical_and(x: Any, y: Any, /) -> Tensor:
    """Whether both are true."""
    return _logical(ops.BitAnd, "logical_and", x, y)


def logical_or(x: Any, y: Any, /) -> Tensor:
    """Whether either is true."""
    return _logical(ops.BitOr, "logical_or", x, y)


def logical_xor(x: Any, y: Any, /) -> Tensor:
    """Whether just one is true."""
    return _logical(ops.BitXor, "logical_xor", x, y)


def logical_not(x: Any, /) -> Tensor:
    """Whether x is false."""
    return wrap(record(ops.BitNot, (cast_node(as_node(x, "logical_not"), ir.boolean),)))


def _logical(op: Any, name: str, x: Any, y: Any) -> Tensor:
    nodes = [cast_node(as_node(value, name), ir.boolean) for value in (x, y)]
    return wrap(record(op, tuple(broadcast_all(name, nodes))))


def bitwise_and(x: Any, y: Any, /) -> Tensor:
    """The bits that are 1 in both."""
    return wrap(record(ops.BitAnd, tuple(promote("bitwise_and", x, y, among=ir.BITS))))


def bitwise_or(x: Any, y: Any, /) -> Tensor:
    """The bits that are 1 in either."""
    return wrap(record(ops.BitOr, tuple(promote("bitwise_or", x, y, among=ir.BITS))))


def bitwise_xor(x: Any, y: Any, /) -> Tensor:
    """The bits that are 1 in one of the two."""
    return wrap(record(ops.BitXor, tuple(promote("bitwise_xor", x, y, among=ir.BITS))))


def bitwise_invert(x: Any, /) -> Tensor:
    """The bits that are 0."""
    return wrap(record(ops.BitNot, tuple(promote("bitwise_invert", x, among=ir.BITS))))


def bitwise_left_shift(x: Any, y: Any, /) -> Tensor:
    """The bits moved y places up; 0 where y is not less than the width."""
    nodes = promote("bitwise_left_shift", x, y, among=ir.INTEGERS)
    return wrap(record(ops.ShiftLeft, tuple(nodes)))


def bitwise_right_shift(x: Any, y: Any, /) -> Tensor:
    """The bits moved y places down; the sign fills the places above."""
    nodes = promote("bitwise_right_shift", x, y, among=ir.INTEGERS)
    return wrap(record(ops.ShiftRight, tuple(nodes)))


def bitwise_count(x: Any, /) -> Tensor:
    """How many bits of |x| are 1, as an integer of 8 bits."""
    (node,) = promote("bitwise_count", x, among=ir.INTEGERS)
    if node.type.dtype in ir.SIGNED:
        node = record(ops.Absolute, (node,))
    return wrap(cast_node(record(ops.CountOnes, (node,)), ir.u8))


def where(condition: Any, x: Any, y: Any, /) -> Tensor:
    """x where the condition holds, y elsewhere."""
    chosen = as_node(condition, "where")
    if chosen.type.dtype is not ir.boolean:
        fail(
            DTypeError, "where", "the condition is boolean", condition,
            hint="compare first, for instance `x != 0`",
        )  # fmt: skip
    values = to_common_dtype("where", x, y)
    return wrap(record(ops.Select, tuple(broadcast_all("where", [chosen, *values]))))


def isclose(
    x: Any, y: Any, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether |x - y| ≤ atol + rtol * |y|; equal infinities are close."""
    from . import elementwise as each

    left, right = [wrap(node) for node in promote("isclose", x, y, floats=True)]
    gap = each.abs(each.subtract(left, right))
    near = less_equal(gap, each.add(atol, each.multiply(rtol, each.abs(right))))
    close = logical_or(equal(left, right), logical_and(near, isfinite(right)))
    return logical_or(close, logical_and(isnan(left), isnan(right))) if equal_nan else close


def array_equal(x: Any, y: Any, /) -> Tensor:
    """Whether both have one shape and equal elements; one boolean."""
    left, right = as_node(x, "array_equal"), as_node(y, "array_equal")
    alike: list[Node] = []
    if left.type.shape != right.type.shape:
        shapes = looked_at((left.type.shape, right.type.shape))
        if not _may_be_alike(*shapes):
            return wrap(filled(False, (), ir.boolean))
        for axis, (one, other) in enumerate(zip(*shapes, strict=True)):
            if one != other:
                alike.append(record(ops.Equal, (size_node(one), size_node(other))))
                least = minimum(one, other)
                left, right = part(left, axis, 0, least), part(right, axis, 0, least)
    same = equal(wrap(left), wrap(right)).node
    every = record(ops.ReduceAnd, (same,), (tuple(range(len(same.type.shape))),))
    return wrap(reduce(lambda one, other: record(ops.BitAnd, (one, other)), alike, every))


def _may_be_alike(left: Shape, right: Shape) -> bool:
    """Whether shapes are the same for some of the sizes that are open."""
    pairs = zip(left, right, strict=False)
    differ = [isinstance(one - other, int) and one != other for one, other in pairs]
    return len(left) == len(right) and not any(differ)


def allclose(
    x: Any, y: Any, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether all elements are close, see `isclose`; one boolean."""
    close = isclose(x, y, rtol, atol, equal_nan).node
    return wrap(record(ops.ReduceAnd, (close,), (tuple(range(len(close.type.shape))),)))
