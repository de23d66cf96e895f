"""Single elements, read where they lie: `x[2, 3].item()`, or `if x[i] < x[j]:`, where all of x is
computed. A program that looks at an array place by place would need another step for each place.

Comes in: a node of one element that is not computed. Goes out: its value, if it is an element of
what is computed, a number, or one of these compared with another.
Never: arithmetic, of whose bits a compiled step decides; a computation, or a wait for one that
nobody has asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..ir import tensor as ops
from ..ir.payloads import Number
from .node import Node

_COMPARED: Mapping[type, Callable[[Any, Any], bool]] = {
    ops.Equal: operator.eq,
    ops.NotEqual: operator.ne,
    ops.Less: operator.lt,
    ops.LessEqual: operator.le,
}


class Element(NamedTuple):
    """An element of a computed node, by its place in row-major order."""

    node: Node
    place: int


Source = Element | Number
Sources = tuple[Callable[[Any, Any], bool] | None, list[Source]]
"""How they are compared, if they are, and what is read."""


def sources_of(node: Node) -> Sources | None:
    """What a node is that is a comparison, or an element; None if it is neither. To be asked while
    nodes are gathered."""
    compare = _COMPARED.get(node.cls)
    found = [_source(each) for each in (node.operands if compare else (node,))]
    sources = [each for each in found if each is not None]
    return (compare, sources) if len(sources) == len(found) else None


def _source(node: Node) -> Source | None:
    """The number that a node is, or the element of a computed one."""
    place = 0
    while node.buffer is None:
        back = _BACK.get(node.cls)
        if back is None:
            value = node.attributes[0] if node.cls is ops.Constant else None
            return value if isinstance(value, Number) else None
        place = back(node, place)
        (node,) = node.operands
    return Element(node, place)


def _of_reshape(node: Node, place: int) -> int:
    return place


def _of_slice(node: Node, place: int) -> int:
    starts, sizes, steps = node.attributes
    found, stride = 0, 1
    wholes = node.operands[0].type.shape
    for start, size, step, whole in zip(
        reversed(starts), reversed(sizes), reversed(steps), reversed(wholes), strict=True
    ):
        place, at = divmod(place, size)
        found += (start + at * step) * stride
        stride *= whole
    return found


def _of_flip(node: Node, place: int) -> int:
    (axes,) = node.attributes
    found, stride = 0, 1
    for axis, size in reversed([*enumerate(node.type.shape)]):
        place, at = divmod(place, size)
        found += (size - 1 - at if axis in axes else at) * stride
        stride *= size
    return found


def _of_permute(node: Node, place: int) -> int:
    (axes,) = node.attributes
    at = [0] * len(axes)
    for axis, size in reversed([*zip(axes, node.type.shape, strict=True)]):
        place, at[axis] = divmod(place, size)
    found = 0
    for here, size in zip(at, node.operands[0].type.shape, strict=True):
        found = found * size + here
    return found


_BACK: Mapping[type, Callable[[Node, int], int]] = {
    ops.Reshape: _of_reshape,
    ops.Slice: _of_slice,
    ops.Flip: _of_flip,
    ops.Permute: _of_permute,
}
"""From the place of an element in what is made to its place in what is read."""
