"""Order: sorted tensors, the places of their elements, the greatest few, searches, and sets.

Comes in: tensors. Goes out: tensors. What a set function returns depends in size on the values: it
is read, or inside `jit` becomes a bound dim, unless `size=` says how many there may be.
Never: a comparison of its own: NaN comes last, as `tensor.sort` says.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Size
from ..errors import ArgumentError, DTypeError, ShapeError, fail, one_of
from ..handle import wrap
from ..node import Node, record, record_parts
from ..unseen import looked_at
from .common import (
    as_axis,
    as_integer,
    as_node,
    as_size,
    broadcast_node,
    cast_node,
    either,
    filled,
    number,
    number_like,
    refuse_dtype,
    size_node,
    to_common_dtype,
)
from .creation import as_kind
from .manipulation import part, reshaped
from .masks import first_true, how_many
from .search import are_few, occur_among, occur_in, places_in

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64


class TopK(NamedTuple):
    """The greatest elements along an axis, and where they stand."""

    values: Tensor
    indices: Tensor


def sort(
    x: Any, /, axis: Any = None, descending: bool = False, stable: bool = True, *, dim: Any = None
) -> Tensor:
    """The elements in order along an axis, the last if none is named; NaN comes last."""
    node, place = _along("sort", x, axis, dim)
    return wrap(record(ops.Sort, (node,), (place, 1, bool(descending))))


def argsort(
    x: Any, /, axis: Any = None, descending: bool = False, stable: bool = True, *, dim: Any = None
) -> Tensor:
    """The places from which `sort` takes the elements; equal ones keep their order."""
    node, place = _along("argsort", x, axis, dim)
    return wrap(sorted_with_places(node, place, descending)[1])


def sorted_with_places(
    node: Node, axis: int, descending: bool = False, count: Size | None = None
) -> list[Node]:
    """The sorted elements, or the first so many of them, and their places."""
    places = record(ops.Iota, (), (node.type.shape, axis, INDEX))
    return record_parts(ops.Sort, (node, places), (axis, 1, bool(descending), count))


def _along(name: str, x: Any, axis: Any, dim: Any) -> tuple[Node, int]:
    node = as_node(x, name)
    axis = either(axis, dim, -1, name, "axis, dim")
    if node.type.dtype not in ir.ORDERED:
        refuse_dtype(name, node.type.dtype, ir.ORDERED, x)
    return node, as_axis(axis, len(node.type.shape), name)


def topk(x: Any, k: int, /, axis: Any = None, largest: bool = True, *, dim: Any = None) -> TopK:
    """The k largest elements along an axis, in order, and their places; or the smallest."""
    node, place = _along("topk", x, axis, dim)
    size = looked_at(node.type.shape[place])
    k = as_integer(k, "topk", "the number of elements")
    if k < 0 or (isinstance(size, int) and k > size):
        fail(ArgumentError, "topk", f"cannot take {k} of {size} elements", x)
    return TopK(*map(wrap, sorted_with_places(node, place, descending=largest, count=k)))


def searchsorted(x1: Any, x2: Any, /, side: str = "left", *, sorter: Any = None) -> Tensor:
    """Where each element of x2 would be put into x1, which is sorted: before equals, or after."""
    one_of("searchsorted", "side", side, ("left", "right"))
    line, values = to_common_dtype("searchsorted", x1, x2)
    if len(line.type.shape) != 1:
        fail(ShapeError, "searchsorted", "x1 is sorted and has one axis", x1)
    if sorter is not None:
        places = as_node(sorter, "searchsorted")
        if places.type.dtype not in ir.INTEGERS:
            fail(DTypeError, "searchsorted", "the sorter is the places of x1 in order", sorter)
        places = reshaped(places, (*places.type.shape, 1))
        line = record(ops.Gather, (line, places), ((0,), 0, ops.Outside.ERROR))
    return wrap(places_in(line, values, strict=side == "left"))


class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> UniqueAll:
    """The distinct elements in order, where each is first, which each element is, how many."""
    shape = as_node(x, "unique_all").type.shape
    node, starts, group, places = _groups("unique_all", x)
    count = _how_many("unique_all", starts, size)
    length = node.type.shape[0]
    firsts = first_true(starts, count, beyond=size is not None)
    dtype = node.type.dtype
    values = _picked(node, firsts, number(as_kind(fill_value, dtype), dtype))
    indices = _picked(places, firsts, size_node(length))
    inverse = _scattered(group, places, length)
    ones = filled(1, (length,), INDEX)
    zeros = filled(0, (count,), INDEX)
    target = reshaped(group, (length, 1))
    options = ((0,), 0, ops.Combiner.ADD, ops.Outside.ZERO)
    counts = record(ops.Scatter, (zeros, target, ones), options)
    inverse = reshaped(inverse, shape)
    return UniqueAll(*[wrap(each) for each in (values, indices, inverse, counts)])


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> UniqueCounts:
    """The distinct elements in order, and how often each occurs."""
    made = unique_all(x, size=size, fill_value=fill_value)
    return UniqueCounts(made.values, made.counts)


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> UniqueInverse:
    """The distinct elements in order, and which of them each element is."""
    made = unique_all(x, size=size, fill_value=fill_value)
    return UniqueInverse(made.values, made.inverse_indices)


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> Tensor:
    """The distinct elements in order; each NaN is distinct."""
    return unique_all(x, size=size, fill_value=fill_value).values


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 occurs in x2."""
    left, right = to_common_dtype("isin", x1, x2)
    flat = reshaped(right, (product(right.type.shape),))
    if are_few(flat, left) or flat.type.dtype not in ir.ORDERED:
        found = occur_among(flat, left)
    else:
        found = occur_in(record(ops.Sort, (flat,), (0, 1, False)), left)
    return wrap(record(ops.BitNot, (found,)) if invert else found)


def _groups(name: str, x: Any) -> tuple[Node, Node, Node, Node]:
    """The sorted elements, where a new one begins, the number of each one's group, their places.

    Complex numbers are sorted by their real parts, those with the same by their imaginary ones.
    """
    node = as_node(x, name)
    flat = reshaped(node, (product(node.type.shape),))
    sort = _complexes_sorted if node.type.dtype in ir.COMPLEXES else sorted_with_places
    ordered, places = sort(flat, 0)
    length = flat.type.shape[0]
    nothing = number(0, node.type.dtype).attributes[0]
    before = record(ops.Pad, (ordered,), ((1,), (0,), (0,), nothing))
    changes = record(ops.NotEqual, (ordered, part(before, 0, 0, length)))
    line = record(ops.Iota, (), ((length,), 0, INDEX))
    first = record(ops.Equal, (line, filled(0, (length,), INDEX)))
    starts = record(ops.BitOr, (first, changes))
    counted = record(ops.CumulativeSum, (cast_node(starts, INDEX),), (0, False))
    group = record(ops.Subtract, (counted, filled(1, (length,), INDEX)))
    return ordered, starts, group, places


def _complexes_sorted(flat: Node, axis: int) -> list[Node]:
    """As `sorted_with_places`."""
    parts = [record(op, (flat,)) for op in (ops.Real, ops.Imaginary)]
    line = record(ops.Iota, (), (flat.type.shape, axis, INDEX))
    *parts, places = record_parts(ops.Sort, (*parts, line), (axis, len(parts), False, None))
    return [record(ops.Complex, (*parts,)), places]


def _how_many(name: str, starts: Node, size: int | None) -> Size:
    """How many are distinct: what the caller says, or what the values say."""
    if size is None:
        return how_many(name, starts, "say with `size=` how many there are at most")
    return as_size(size, name)


def _picked(node: Node, places: Node, fill: Node) -> Node:
    """The elements at some places; a place behind the end gives what there is to fill with."""
    shape = places.type.shape
    read = record(ops.Gather, (node, reshaped(places, (*shape, 1))), ((0,), 0, ops.Outside.ZERO))
    inside = record(ops.Less, (places, number_like(node.type.shape[0], places)))
    return record(ops.Select, (inside, read, broadcast_node(fill, shape)))


def _scattered(values: Node, places: Node, length: Any) -> Node:
    """The line whose element places[i] is values[i]."""
    options = ((0,), 0, ops.Combiner.SET, ops.Outside.ERROR)
    target = reshaped(places, (length, 1))
    return record(ops.Scatter, (filled(0, (length,), INDEX), target, values), options)
