"""Where something is true: the places, and the elements there.

Comes in: tensors, of which those that are not 0 are meant. Goes out: tensors of places or elements.
How many there are depends on the values: it is read, or inside `jit` becomes a bound dim, unless
the caller says it.
Never: an order but row-major.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.attributes import Shape
from ...ir.dims import Size
from ..bounds import bound_size
from ..errors import PlaceError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record, record_parts
from .common import (
    as_node,
    as_size,
    broadcast_node,
    cast_node,
    filled,
    not_negative,
    number_like,
    size_node,
)
from .manipulation import part, reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64


def nonzero(x: Any, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor, ...]:
    """Where x is not 0: a vector of places for each axis.

    How many there are is what the values say, unless `size` says it; then the rest is filled.
    """
    node = as_node(x, "nonzero")
    shape = node.type.shape
    if not shape:
        fail(ShapeError, "nonzero", "a tensor of rank 0 has no axes", x)
    flat = reshaped(cast_node(node, ir.boolean), (product(shape),))
    if size is None:
        instead = f"say with `size=` how many places {wrap(flat).shape} elements have at most"
        return _split_up(first_true(flat, how_many("nonzero", flat, instead)), shape)
    count = as_size(size, "nonzero")
    places = first_true(flat, count, beyond=True)
    inside = record(ops.Less, (places, number_like(product(shape), places)))
    fill = filled(fill_value, (count,), INDEX)
    found = [each.node for each in _split_up(places, shape)]
    return tuple([wrap(record(ops.Select, (inside, place, fill))) for place in found])


def _split_up(places: Node, shape: tuple[Size, ...]) -> tuple[Tensor, ...]:
    """The places in a line as those along each axis of a shape."""
    found: list[Tensor] = []
    for at, size in enumerate(shape):
        below = product(shape[at + 1 :])
        place = record(ops.Divide, (places, number_like(below, places)))
        if at:
            place = record(ops.Remainder, (place, number_like(size, places)))
        found.append(wrap(place))
    return tuple(found)


def how_many(name: str, flat: Node, instead: str) -> Size:
    """How many elements of a line are true, at most all; `instead` is for the error."""
    total = record(ops.ReduceSum, (cast_node(flat, INDEX),), ((0,),))
    return bound_size(name, total, flat.type.shape[0], instead)


def first_true(flat: Node, count: Size, *, beyond: bool = False) -> Node:
    """The places of the first `count` true elements; the length where there are fewer.

    `beyond` says that more may be asked for than the line is long.
    """
    length = flat.type.shape[0]
    line = record(ops.Iota, (), ((length,), 0, INDEX))
    absent = number_like(length, line)
    places = record(ops.Select, (flat, line, absent))
    ranked = record_parts(ops.Sort, (record(ops.BitNot, (flat,)), places), (0, 1, False, None))[1]
    missing = not_negative(count - length) if beyond else 0
    if missing != 0:
        behind = broadcast_node(size_node(length), (missing,))
        ranked = record(ops.Concat, (ranked, behind), (0,))
    return record(ops.Slice, (ranked,), ((0,), (count,), (1,)))


def argwhere(x: Any, /, *, size: int | None = None, fill_value: int = 0) -> Tensor:
    """Where x is not 0: a row of places for each such element."""
    from .manipulation import stack

    return stack(nonzero(x, size=size, fill_value=fill_value), axis=1)


def fits(mask: Shape, shape: Shape) -> bool:
    """Whether a mask of one shape is for axes of the other: an axis of size 0 masks any."""
    return len(mask) == len(shape) and all(map(_is_masked, mask, shape))


def _is_masked(mask: Size, size: Size) -> bool:
    return mask in (0, size)


def masked(node: Node, mask: Node) -> Node:
    """The elements where a mask is true, in row-major order."""
    shape, sizes = node.type.shape, mask.type.shape
    rank = len(sizes)
    if not fits(sizes, shape[:rank]):
        problem = f"the mask has shape {list(sizes)}, the axes that it masks {list(shape[:rank])}"
        fail(PlaceError, "index", problem, wrap(node))
    if 0 in sizes:
        node = part(node, 0, 0, 0)
        return reshaped(node, (0, *shape[rank:]))
    flat = reshaped(node, (product(sizes), *shape[rank:]))
    line = reshaped(mask, (product(sizes),))
    instead = "choose with `bs.where(mask, x, other)`, or index with `bs.nonzero(mask, size=…)`"
    places = first_true(line, how_many("index", line, instead))
    indices = reshaped(places, (*places.type.shape, 1))
    return record(ops.Gather, (flat, indices), ((0,), 0, ops.Outside.ERROR))
