"""Tensors cut into pieces along an axis.

Comes in: a tensor, and how many pieces there are, or how large they are. Goes out: the pieces.
Never: an element copied that is only cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir.dims import Dim, Size, ceil_div, interval, maximum
from ..errors import ArgumentError, ShapeError, fail
from ..handle import wrap
from ..node import Node
from ..sizes import size_of
from ..unseen import differ, looked_at
from .common import as_axis, as_integer, as_node, either
from .manipulation import exact_quotient, part, reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor


def unstack(x: Any, /, *, axis: Any = None, dim: Any = None) -> tuple[Tensor, ...]:
    """The slices of x along an axis, each without it."""
    axis = either(axis, dim, 0, "unstack", "axis, dim")
    node = as_node(x, "unstack")
    place = as_axis(axis, len(node.type.shape), "unstack")
    count = looked_at(node.type.shape[place])
    rest = (*node.type.shape[:place], *node.type.shape[place + 1 :])
    if not isinstance(count, int):
        fail(ShapeError, "unstack", f"the size {count} of axis {place} is not a plain number", x)
    return tuple([wrap(reshaped(part(node, place, at, 1), rest)) for at in range(count)])


def split(x: Any, sections: Any, /, axis: Any = None, *, dim: Any = None) -> tuple[Tensor, ...]:
    """x cut along an axis: into pieces of one size (the last may be less), or of listed sizes."""
    axis = either(axis, dim, 0, "split", "axis, dim")
    node = as_node(x, "split")
    place = as_axis(axis, len(node.type.shape), "split")
    if isinstance(sections, tuple | list):
        sizes = [_length(each) for each in sections]
        total = node.type.shape[place]
        if differ(sum(sizes), total) or any([interval(size)[0] < 0 for size in sizes]):
            problem = f"the sizes {sizes} do not add up to {total}, the size of axis {place}"
            fail(ShapeError, "split", problem, x)
    else:
        sizes = _pieces(node, place, _length(sections))
    pairs = enumerate(sizes)
    return tuple([wrap(part(node, place, sum(sizes[:at]), size)) for at, size in pairs])


def _length(value: Any) -> Size:
    """The size of a piece."""
    size = size_of(value)
    return size if isinstance(size, Dim) else as_integer(value, "split", "the size of a piece")


def _pieces(node: Node, axis: int, length: Any) -> list[Size]:
    """The sizes of pieces of one size, of which the last may be less."""
    total: Any = node.type.shape[axis]
    if isinstance(total, Dim) or isinstance(length, Dim):
        count = exact_quotient(total, length)
        if isinstance(count, int) and count > 0:
            return [length] * count
        total, length = looked_at((total, length))
    if not isinstance(length, int) or length < 1 or not isinstance(total, int):
        problem = f"cannot cut {total} elements into pieces of {length}"
        fail(ArgumentError, "split", problem, wrap(node))
    return [min(length, total - at) for at in range(0, total, length)] or [0]


def chunk(x: Any, chunks: int, /, axis: Any = None, *, dim: Any = None) -> tuple[Tensor, ...]:
    """x cut along an axis into at most `chunks` pieces of one size; the last may be less."""
    axis = either(axis, dim, 0, "chunk", "axis, dim")
    node = as_node(x, "chunk")
    place = as_axis(axis, len(node.type.shape), "chunk")
    count = as_integer(chunks, "chunk", "a number of pieces")
    if count < 1:
        fail(ArgumentError, "chunk", f"cannot cut into {count} pieces", x)
    total = node.type.shape[place]
    piece = exact_quotient(total, count)
    if piece is None:
        total = looked_at(total)
        if not isinstance(total, int):
            fail(ShapeError, "chunk", f"the size {total} of axis {place} is not a plain number", x)
        piece = ceil_div(total, count)
    return split(x, maximum(piece, 1), axis=place)
