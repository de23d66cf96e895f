"""Integers that a compiled function takes as arguments, and that meet tensors of fewer bits.

Comes in: while a function is traced, an argument that stands for a Python integer, and the dtype
that it becomes; at a call, the integers. Goes out: what each must be a value of; an error, the one
that the function gives without `jit`, if it is none.
Never: an integer that is cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ir import dtypes as ir
from .node import Node, number_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .arguments import Arguments


class Narrow(NamedTuple):
    """An argument, by its place, and the dtype that it must be a value of."""

    place: int
    dtype: ir.DType


def narrowed(node: Node, dtype: ir.DType) -> Node:
    """The node, which becomes one of this dtype: if it is an argument, that is noted."""
    if number_type(node) is int and dtype in ir.INTEGERS and dtype is not ir.i64:
        assert node.trace is not None
        node.trace.narrow[Narrow(node.attributes[0], dtype)] = None
    return node


def refuse_too_wide(narrow: Iterable[Narrow], given: Arguments) -> None:
    """Refuse an integer that is no value of a dtype; what is itself an argument of what is traced
    around the call must be one there."""
    from .functions.common import number

    for place, dtype in narrow:
        leaf = given.leaves[given.places[place]]
        if isinstance(leaf, int):
            number(leaf, dtype, "jit")
        else:
            narrowed(given.nodes[place], dtype)
