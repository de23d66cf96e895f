"""Integers that a compiled function takes as arguments, and that meet tensors of fewer bits.

Comes in: while a function is traced, an argument that stands for a Python integer, and the dtype
that it becomes. Goes out: a note of what it must be a value of, for `Arguments.refuse_too_wide` to
look at in each call: else it would be cut off, where it is refused without `jit`.
Never: the integer, which a trace does not know.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir import dtypes as ir
from .node import Node, number_type


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
