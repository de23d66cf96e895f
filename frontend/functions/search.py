"""Places in a sorted line, found by halving it.

Comes in: a line whose elements are in order, NaN last, and values. Goes out: how many elements of
the line come before each value, and whether it is among them.
Never: a derivative by what is compared, next to which the places are the same. Nor a value compared
with all of a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..control import while_loop
from ..handle import wrap
from ..node import Node, record
from .common import filled, size_node
from .logic import where
from .manipulation import reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64


def places_in(line: Node, values: Node, strict: bool) -> Node:
    """How many elements of a line come before each value; its equals, too, unless `strict`.

    As many halvings are recorded as a length that is known takes; any other counts them as it runs.
    """
    line, values = [record(ops.StopGradient, (each,)) for each in (line, values)]

    def halved(state: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        """The place is `base`, or at most `left` behind it: the element in their middle tells."""
        base, left = state
        half = (left + 1) // 2
        middle = element_at(line, (base + (half - 1)).node)
        before = wrap(comes_before(middle, values, strict))
        return where(before, base + half, base), left - half

    base, length = wrap(filled(0, values.type.shape, INDEX)), line.type.shape[0]
    if isinstance(length, int):
        left = length
        while left:
            base, left = halved((base, left))
        return base.node
    return while_loop(lambda state: state[1] > 0, halved, (base, wrap(size_node(length))))[0].node


def occur_in(line: Node, values: Node) -> Node:
    """Whether each value is an element of a line that has some; no NaN is."""
    place = places_in(line, values, strict=True)
    return record(ops.Equal, (element_at(line, place), values))


def element_at(line: Node, places: Node) -> Node:
    """The elements at some places; of one outside, the nearest."""
    listed = reshaped(places, (*places.type.shape, 1))
    return record(ops.Gather, (line, listed), ((0,), 0, ops.Outside.CLAMP))


def comes_before(left: Node, right: Node, strict: bool) -> Node:
    """Whether left is sorted before right, or, unless `strict`, beside it; NaN is after numbers."""
    test = record(ops.Less if strict else ops.LessEqual, (left, right))
    if left.type.dtype not in ir.FLOATS:
        return test
    nans = [record(ops.IsNan, (node,)) for node in (left, right)]
    either_number = (
        record(ops.BitNot, (nans[0],)) if strict else filled(True, left.type.shape, ir.boolean)
    )
    return record(ops.BitOr, (test, record(ops.BitAnd, (nans[1], either_number))))
