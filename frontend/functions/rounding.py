"""Rounding: the whole numbers, or the numbers of so many digits, next to the elements.

Comes in: tensors. Goes out: tensors of the same dtype.
Never: a rounding to a narrower dtype, which is a cast (`types.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..handle import wrap
from ..node import Node, record
from .common import as_integer, cast_node, filled, promote
from .elementwise import divide, floor_divide, multiply, remainder

if TYPE_CHECKING:
    from ..tensor import Tensor


def _rounded(op: Any, name: str, x: Any) -> Tensor:
    """A rounding; integers and booleans are whole already."""
    (node,) = promote(name, x, among=ir.REALS)
    return wrap(node if node.type.dtype in ir.INTEGERS else record(op, (node,)))


def ceil(x: Any, /) -> Tensor:
    """The least whole number that is not below x."""
    return _rounded(ops.Ceil, "ceil", x)


def floor(x: Any, /) -> Tensor:
    """The greatest whole number that is not above x."""
    return _rounded(ops.Floor, "floor", x)


def trunc(x: Any, /) -> Tensor:
    """The whole number next to x on the way to zero."""
    return _rounded(ops.Truncate, "trunc", x)


def round(x: Any, /, decimals: int = 0) -> Tensor:
    """The nearest whole number, of two the even one; with `decimals`, that many digits are kept.

    Integers stay integers: -1 rounds them to tens, and what is no number of the dtype then wraps.
    """
    (node,) = promote("round", x, among=ir.NUMBERS)
    digits = as_integer(decimals, "round", "a number of decimals")
    if node.type.dtype in ir.INTEGERS:
        return wrap(_rounded_to(node, 10**-digits) if digits < 0 else node)
    if digits:
        scale = 10.0**decimals
        return divide(round(multiply(wrap(node), scale)), scale)
    if node.type.dtype not in ir.COMPLEXES:
        return _rounded(ops.RoundEven, "round", wrap(node))
    parts = [record(ops.RoundEven, (record(part, (node,)),)) for part in (ops.Real, ops.Imaginary)]
    return wrap(record(ops.Complex, tuple(parts)))


def _rounded_to(node: Node, unit: int) -> Node:
    """Integers rounded to multiples of a power of ten, of two the one that is even in units."""
    shape, dtype = node.type.shape, node.type.dtype
    if unit > np.iinfo(dtype.storage).max:
        return filled(0, shape, dtype)
    below, rest = floor_divide(wrap(node), unit), remainder(wrap(node), unit).node
    half = filled(unit // 2, shape, dtype)
    odd = record(ops.NotEqual, (remainder(below, 2).node, filled(0, shape, dtype)))
    tie = record(ops.BitAnd, (record(ops.Equal, (rest, half)), odd))
    up = record(ops.BitOr, (record(ops.Less, (half, rest)), tie))
    units = record(ops.Add, (below.node, cast_node(up, dtype)))
    return record(ops.Multiply, (units, filled(unit, shape, dtype)))
