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
from .elementwise import add, binary, multiply, reciprocal, rsqrt, sqrt, square
from .logic import equal, where

if TYPE_CHECKING:
    from ..tensor import Tensor


def pow(x: Any, y: Any, /) -> Tensor:
    """x to the power y; integers wrap. To 1, 2, 3, 4, -1, -2, 0.5 or -0.5, if a number of Python
    says so, it is recorded as a few instructions, where others take fifty, and off by 1.5 units in
    the last place at most."""
    if isinstance(x, Handle) and y.__class__ in (int, float):
        form, dtype = FORMS.get(y), x.node.type.dtype
        if form and dtype in form.among and (y.__class__ is int or dtype in ir.INEXACT):
            return form.of(x)
    return binary(ops.Power, "pow", x, y)


def _root(x: Any) -> Tensor:
    """The power of -0.0 is 0.0, and that of -inf is infinite, which no root is."""
    root = add(sqrt(x), 0.0)
    return where(equal(x, -inf), inf, root)


def _inverse_root(x: Any) -> Tensor:
    root = rsqrt(add(x, 0.0))
    return where(equal(x, -inf), 0.0, root)


class Form(NamedTuple):
    """What a power is recorded as, and for which dtypes."""

    of: Callable[[Any], Tensor]
    among: Collection[ir.DType]


FORMS: Mapping[float, Form] = {
    1: Form(lambda x: wrap(x.node), ir.NUMBERS),
    2: Form(lambda x: multiply(x, x), ir.NUMBERS),
    3: Form(lambda x: multiply(multiply(x, x), x), ir.NUMBERS),
    4: Form(lambda x: square(multiply(x, x)), ir.NUMBERS),
    -1: Form(reciprocal, ir.INEXACT),
    -2: Form(lambda x: square(reciprocal(x)), ir.INEXACT),
    0.5: Form(_root, ir.FLOATS),
    -0.5: Form(_inverse_root, ir.FLOATS),
}
