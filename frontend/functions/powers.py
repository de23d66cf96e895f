"""Powers, and which of them are products, quotients or roots.

Comes in: a base and an exponent. Goes out: a tensor.
Never: another value at a zero, an infinity or NaN than any power has there; nor a product in which
something overflows, or vanishes, before the power does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..handle import Handle, wrap
from ..node import Node, record
from .common import filled
from .elementwise import binary

if TYPE_CHECKING:
    from ..tensor import Tensor


def pow(x: Any, y: Any, /) -> Tensor:
    """x to the power y; integers wrap. To 1, 2, 3, 4, -1, -2, 0.5 or -0.5, if a number of Python
    says so, it is recorded as a few instructions, where others take fifty, and off by 1.5 units in
    the last place at most."""
    if isinstance(x, Handle) and y.__class__ in (int, float):
        form, dtype = FORMS.get(y), x.node.type.dtype
        if form and dtype in form.among and (y.__class__ is int or dtype in ir.INEXACT):
            return wrap(form.of(x.node))
    return binary(ops.Power, "pow", x, y)


def _square(node: Node) -> Node:
    return record(ops.Multiply, (node, node))


def _cube(node: Node) -> Node:
    return record(ops.Multiply, (_square(node), node))


def _inverse(node: Node) -> Node:
    return record(ops.Divide, (_everywhere(1, node), node))


def _root(node: Node) -> Node:
    """The power of -0.0 is 0.0, and that of -inf is infinite, which no root is."""
    root = record(ops.Add, (record(ops.SquareRoot, (node,)), _everywhere(0.0, node)))
    return _but_for_minus_infinity(node, inf, root)


def _inverse_root(node: Node) -> Node:
    above = record(ops.Add, (node, _everywhere(0.0, node)))
    return _but_for_minus_infinity(node, 0.0, record(ops.ReciprocalSquareRoot, (above,)))


def _but_for_minus_infinity(node: Node, value: float, otherwise: Node) -> Node:
    is_there = record(ops.Equal, (node, _everywhere(-inf, node)))
    return record(ops.Select, (is_there, _everywhere(value, node), otherwise))


def _everywhere(value: float, like: Node) -> Node:
    return filled(value, like.type.shape, like.type.dtype)


class Form(NamedTuple):
    """What a power is recorded as, and for which dtypes."""

    of: Callable[[Node], Node]
    among: Collection[ir.DType]


FORMS: Mapping[float, Form] = {
    1: Form(lambda node: node, ir.NUMBERS),
    2: Form(_square, ir.NUMBERS),
    3: Form(_cube, ir.NUMBERS),
    4: Form(lambda node: _square(_square(node)), ir.NUMBERS),
    -1: Form(_inverse, ir.INEXACT),
    -2: Form(lambda node: _square(_inverse(node)), ir.INEXACT),
    0.5: Form(_root, ir.FLOATS),
    -0.5: Form(_inverse_root, ir.FLOATS),
}
