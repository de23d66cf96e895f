"""Reading at places: slices, integers, arrays of integers, masks, as numpy has them.

Comes in: a tensor, and what stands between the brackets. Goes out: a tensor.
Never: an index outside clamped or wrapped silently: one known now fails now, one that is a tensor
fails when it is read.
"""

from __future__ import annotations

from math import prod as product
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Dim, Size
from ...ir.facts import Facts
from ..errors import ArgumentError, DTypeError, PlaceError, ShapeError, fail
from ..foreign import host_array_of, is_foreign
from ..handle import Handle, wrap
from ..node import Node, record
from ..sizes import size_of
from .common import (
    as_axis,
    as_node,
    as_size,
    broadcast_all,
    broadcast_node,
    broadcast_shape,
    cast_node,
    either,
    filled,
    number_like,
    upload,
)
from .listed import Listed, as_places, cuts, is_little_of_a_loop
from .lists import read
from .manipulation import permuted, reshaped
from .masks import masked, nonzero
from .slices import Part, axes_in_front, slice_part

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64


def getitem(x: Any, key: Any, /) -> Tensor:
    """The elements of x at `key`."""
    node = as_node(x, "index")
    key = host_array_of(key, "index") if is_foreign(key) else key
    if _is_mask(key):
        return wrap(masked(node, as_node(key, "index")))
    return wrap(picked(node, parts_of(node, key)))


def picked(node: Node, parts: list[Part]) -> Node:
    """What items that are told apart pick of a node."""
    by_array = any([part.kind == "array" for part in parts])
    return _gathered(node, parts) if by_array else _sliced(node, parts)


def _is_mask(key: Any) -> bool:
    """Whether the key is one array of booleans, or one boolean."""
    if isinstance(key, Handle):
        return key.node.type.dtype is ir.boolean
    if isinstance(key, bool | np.bool_):
        return True
    return isinstance(key, np.ndarray) and key.dtype == np.bool_


def parts_of(node: Node, key: Any) -> list[Part]:
    """What each item does, with `...` and what is left out spelled out."""
    items = list(key) if isinstance(key, tuple) else [key]
    items = [each for item in items for each in _unmasked(item)]
    taken = sum([item is not None and item is not Ellipsis for item in items])
    rank = len(node.type.shape)
    if taken > rank:
        fail(PlaceError, "index", f"{taken} axes are indexed, and there are {rank}", wrap(node))
    dots = [at for at, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        fail(PlaceError, "index", "`...` stands more than once", wrap(node))
    place = dots[0] if dots else len(items)
    items[place : place + len(dots)] = [slice(None)] * (rank - taken)
    parts: list[Part] = []
    axis = 0
    for item in items:
        if item is None:
            parts.append(Part("new"))
            continue
        parts.append(_part(node, item, axis))
        axis += 1
    if dots and place and taken == rank:
        parts[place - 1] = parts[place - 1]._replace(apart=True)
    return parts


def _unmasked(item: Any) -> list[Any]:
    """A mask among other items as the places where it is true; anything else as it is."""
    if is_foreign(item):
        item = host_array_of(item, "index")
    if isinstance(item, list):
        item = read(item, "index")
        item = item.astype(np.int64) if item.size == 0 else item
    if _is_mask(item) and not isinstance(item, bool | np.bool_):
        return list(nonzero(wrap(as_node(item, "index"))))
    return [item]


def _part(node: Node, item: Any, axis: int) -> Part:
    """What an item does to an axis."""
    size = node.type.shape[axis]
    if isinstance(item, slice):
        return slice_part(item, size, axis)
    if isinstance(item, np.ndarray) and item.ndim:
        return Part("array", node=_host_places(node, item, size, axis))
    if isinstance(item, Handle):
        if item.node.type.dtype not in ir.INTEGERS:
            problem = f"an index is an integer, a slice, None, `...` or a mask, not {item.dtype}"  # pyright: ignore[reportAttributeAccessIssue]
            fail(PlaceError, "index", problem, wrap(node), item)
        return Part("array", node=_wrapped(item.node, size))
    if isinstance(item, bool | np.bool_):
        problem = f"{item} is a mask of no axis, which stands without brackets and other items"
        fail(PlaceError, "index", problem, wrap(node), hint="None makes an axis of size 1")
    if isinstance(item, Dim):
        return Part("place", start=item)
    if isinstance(at := size_of(item), Dim) and Facts().less(at, size):
        return Part("place", start=at)
    try:
        place = index(item)
    except TypeError:
        fail(
            PlaceError, "index", "an index is an integer, a slice, None, `...` or an array, not "
            f"{type(item).__name__}", wrap(node),
        )  # fmt: skip
    return Part("place", start=_counted(node, place, size, axis))


def _counted(node: Node, place: int, size: Size, axis: int) -> Size:
    """A place counted from the front; refuses one outside."""
    if isinstance(size, int) and not -size <= place < size:
        problem = f"index {place} is outside axis {axis} of size {size}"
        fail(PlaceError, "index", problem, wrap(node))
    return size + place if place < 0 else place


def _host_places(node: Node, places: Any, size: Size, axis: int) -> Node:
    """Places that are known now, checked now."""
    if places.dtype.kind not in "iu":
        problem = f"an index is an array of integers or booleans, not of {places.dtype}"
        fail(PlaceError, "index", problem, wrap(node))
    if not isinstance(size, int):
        return _wrapped(upload(places, None, "index"), size)
    outside = (places < -size) | (places >= size)
    if outside.any():
        problem = f"index {places[outside].flat[0]} is outside axis {axis} of size {size}"
        fail(PlaceError, "index", problem, wrap(node))
    return upload(np.where(places < 0, places + size, places).astype(np.int64), None, "index")


def _wrapped(places: Node, size: Size) -> Node:
    """Places of which negative ones count from the end; what names none stays as it is, to be shown
    so."""
    if places.type.dtype in ir.UNSIGNED:
        return cast_node(places, INDEX)
    places = cast_node(places, INDEX)
    zero = filled(0, places.type.shape, INDEX)
    from_end = record(ops.Add, (places, number_like(size, places)))
    beyond = record(ops.Less, (from_end, zero))
    from_end = record(ops.Select, (beyond, places, from_end))
    return record(ops.Select, (record(ops.Less, (places, zero)), from_end, places))


def _sliced(node: Node, parts: list[Part]) -> Node:
    """Slices and integers, which one `slice`, one `flip` and one `reshape` do."""
    axes = [part for part in parts if part.kind != "new"]
    node = _cut(node, axes)
    kept = [part for part in parts if part.kind != "place"]
    shape = tuple([1 if part.kind == "new" else part.size for part in kept])
    return reshaped(node, shape)


def _cut(node: Node, axes: list[Part]) -> Node:
    """The node with each axis cut to its part; an axis that an array indexes is left whole."""
    shape = node.type.shape
    starts: list[Size] = []
    sizes: list[Size] = []
    steps: list[int] = []
    flipped: list[int] = []
    for axis, part in enumerate(axes):
        whole = part.kind == "array"
        size = shape[axis] if whole else part.size
        start = 0 if whole else part.start
        if part.step < 0:
            flipped.append(axis)
            start = part.start + (part.size - 1) * part.step if part.size else 0
        starts.append(start)
        sizes.append(size)
        steps.append(abs(part.step) if size != 0 else 1)
    if tuple(sizes) != shape or any(steps[at] != 1 for at in range(len(steps))):
        node = record(ops.Slice, (node,), (tuple(starts), tuple(sizes), tuple(steps)))
    return record(ops.Flip, (node,), (tuple(flipped),)) if flipped else node


def _gathered(node: Node, parts: list[Part]) -> Node:
    """Arrays of places, with integers taken for arrays too, as numpy does."""
    if are_far_apart(parts):
        return element_by_element(node, places_of(node, parts))
    if _are_few_of_a_loop(node, parts):
        return _listed(node, parts)
    axes = [part for part in parts if part.kind != "new"]
    cut = _cut(
        node, [part._replace(kind="array") if part.kind == "place" else part for part in axes]
    )
    indices, taken = places_in_rows(parts)
    found = record(ops.Gather, (cut, indices), (taken, 0, ops.Outside.ERROR))
    return _arranged(found, parts, len(indices.type.shape) - 1)


def _are_few_of_a_loop(node: Node, parts: list[Part]) -> bool:
    """Whether slices leave so few places that a step of a loop reads these alone: what is cut is
    made of all places, and then read at some."""
    axes = [part for part in parts if part.kind != "new"]
    pairs = zip(axes, node.type.shape, strict=True)
    return any([cuts(*pair) for pair in pairs if pair[0].kind == "slice"]) and is_little_of_a_loop(
        node, parts
    )


def _listed(node: Node, parts: list[Part]) -> Node:
    """The elements at places that are listed."""
    listed = Listed(node.type.shape, parts)
    options = (tuple(listed.cut), 0, ops.Outside.ERROR)
    return listed.arranged(record(ops.Gather, (node, listed.indices), options))


def are_far_apart(parts: list[Part]) -> bool:
    """Whether places are named along axes that do not lie side by side."""
    axes = [part for part in parts if part.kind != "new"]
    named = [axis for axis, part in enumerate(axes) if part.names_places]
    return bool(named) and named[-1] - named[0] >= len(named)


def element_by_element(node: Node, places: Node) -> Node:
    """The elements at places that are counted through all axes, and lie inside."""
    flat = reshaped(node, (product(node.type.shape),))
    listed = reshaped(places, (*places.type.shape, 1))
    return record(ops.Gather, (flat, listed), ((0,), 0, ops.Outside.ZERO))


def places_of(node: Node, parts: list[Part]) -> Node:
    """The places of what is picked, counted through all axes; those named stand in front."""
    shape = node.type.shape
    together = broadcast_all("index", [as_places(part) for part in parts if part.names_places])
    own, kept = together[0].type.shape, [part.size for part in parts if not part.names_places]
    whole = (*own, *kept)
    named, inside = iter(together), iter(range(len(own), len(whole)))
    total, axis = filled(0, whole, INDEX), 0
    for part in parts:
        along = tuple(range(len(own))) if part.names_places else (next(inside),)
        if part.kind == "new":
            continue
        if part.names_places:
            line = _checked(next(named), shape[axis], axis)
        else:
            count = record(ops.Iota, (), ((part.size,), 0, INDEX))
            steps = record(ops.Multiply, (count, number_like(part.step, count)))
            line = record(ops.Add, (steps, number_like(part.start, count)))
        apart = record(ops.Multiply, (line, number_like(product(shape[axis + 1 :]), line)))
        total = record(ops.Add, (total, record(ops.Broadcast, (apart,), (whole, along))))
        axis += 1
    return total


def _checked(places: Node, size: Size, axis: int) -> Node:
    """Places along an axis, which fail where one lies outside of it."""
    line = record(ops.Iota, (), ((*(1,) * axis, size), axis, INDEX))
    listed = reshaped(places, (*places.type.shape, 1))
    found = record(ops.Gather, (line, listed), ((axis,), 0, ops.Outside.ERROR))
    return reshaped(found, places.type.shape)


def places_in_rows(parts: list[Part]) -> tuple[Node, tuple[int, ...]]:
    """What arrays and integers name together: the places along some axes, in a row each; which."""
    named = [part for part in parts if part.names_places]
    together = broadcast_all("index", [as_places(part) for part in named])
    shape = together[0].type.shape
    columns = [reshaped(each, (*shape, 1)) for each in together]
    rows = record(ops.Concat, tuple(columns), (len(shape),)) if len(columns) > 1 else columns[0]
    axes = [part for part in parts if part.kind != "new"]
    return rows, tuple([axis for axis, part in enumerate(axes) if part.names_places])


def _arranged(found: Node, parts: list[Part], rank: int) -> Node:
    """The axes of the places put where numpy puts them: in place if together, else in front."""
    front = axes_in_front(parts)
    kept = [part for part in parts if not part.names_places]
    sizes = iter(found.type.shape[rank:])
    shape = [1 if part.kind == "new" else next(sizes) for part in kept]
    found = reshaped(found, (*found.type.shape[:rank], *shape))
    order = [*range(rank, rank + front), *range(rank), *range(rank + front, rank + len(shape))]
    return permuted(found, tuple(order))


def take(x: Any, indices: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """The slices of x along an axis that the indices name; negative ones count from the end."""
    axis = either(axis, dim, None, "take", "axis, dim")
    node = as_node(x, "take")
    rank = len(node.type.shape)
    if axis is None:
        if rank != 1:
            fail(ArgumentError, "take", "needs an axis where the tensor has not just one", x)
        axis = 0
    place = as_axis(axis, rank, "take")
    key = indices if isinstance(indices, Handle) else read(indices, "take")
    return getitem(wrap(node), (slice(None),) * place + (key,))


def take_along_axis(x: Any, indices: Any, /, axis: int = -1, *, dim: Any = None) -> Tensor:
    """The elements of each line along an axis that the indices of that line name."""
    node, places = as_node(x, "take_along_axis"), as_node(indices, "take_along_axis")
    rank = len(node.type.shape)
    place = as_axis(dim if dim is not None else axis, rank, "take_along_axis")
    if places.type.dtype not in ir.INTEGERS:
        fail(DTypeError, "take_along_axis", "the indices are integers", x, indices)
    if len(places.type.shape) != rank:
        fail(ShapeError, "take_along_axis", "x and the indices have one rank", x, indices)
    last = tuple([axis for axis in range(rank) if axis != place])
    order = (*last, place)
    moved, wanted = permuted(node, order), permuted(_wrapped(places, node.type.shape[place]), order)
    shape = broadcast_shape("take_along_axis", moved.type.shape[:-1], wanted.type.shape[:-1])
    moved = broadcast_node(moved, (*shape, moved.type.shape[-1]))
    wanted = broadcast_node(wanted, (*shape, wanted.type.shape[-1]))
    indices_of = reshaped(wanted, (*wanted.type.shape, 1))
    found = record(ops.Gather, (moved, indices_of), ((rank - 1,), rank - 1, ops.Outside.ERROR))
    back = tuple([order.index(axis) for axis in range(rank)])
    return wrap(permuted(found, back))


def one_hot(x: Any, classes: int, /, *, axis: int = -1, dtype: Any = None) -> Tensor:
    """A new axis with a one at the place that x names, zeros elsewhere."""
    from ..dtypes import as_dtype
    from .creation import FLOAT

    node = as_node(x, "one_hot")
    if node.type.dtype not in ir.INTEGERS:
        fail(DTypeError, "one_hot", "the places are integers", x)
    rank = len(node.type.shape)
    place = as_axis(axis, rank + 1, "one_hot")
    shape = (*node.type.shape[:place], as_size(classes, "one_hot"), *node.type.shape[place:])
    axes = tuple([at for at in range(rank + 1) if at != place])
    named = record(ops.Broadcast, (cast_node(node, INDEX),), (shape, axes))
    line = record(ops.Iota, (), (shape, place, INDEX))
    same = record(ops.Equal, (named, line))
    return wrap(cast_node(same, FLOAT if dtype is None else as_dtype(dtype).ir))
