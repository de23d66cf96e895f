"""Writing at places: `x.at[key].set(value)`, a new tensor with some elements changed.

Comes in: a tensor, what stands between the brackets, values. Goes out: a tensor.
Never: a change to the tensor itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod as product
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.attributes import Shape
from ...ir.dims import Dim, Size, interval
from ...ir.payloads import Number
from ..bounds import bound_size
from ..errors import ShapeError, fail
from ..foreign import host_array_of, is_foreign
from ..handle import wrap
from ..node import Node, record
from .common import (
    as_node,
    broadcast_node,
    broadcast_shape,
    cast_node,
    filled,
    number_like,
    refuse_dtype,
    refuse_lossy,
    to_common_dtype,
)
from .indexing import _is_mask, getitem, parts_of
from .listed import Listed, is_little_of_a_loop
from .manipulation import reshaped
from .masks import fits
from .slices import Part

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64


class At:
    """`x.at`: what is between its brackets names places."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __getitem__(self, key: Any) -> Places:
        return Places(self.tensor, key)


class Places:
    """Some places of a tensor; each method gives the tensor with these changed.

    Of values for one place the last is set; the others are all combined. Values take the dtype of
    the tensor, unless they are of a wider kind: integers take no floats.
    """

    __slots__ = ("key", "tensor")

    def __init__(self, tensor: Tensor, key: Any) -> None:
        self.tensor, self.key = tensor, key

    def get(self) -> Tensor:
        """The elements there."""
        return getitem(self.tensor, self.key)

    def set(self, values: Any) -> Tensor:
        """The tensor with other elements there."""
        return _updated(self.tensor, self.key, values, ops.Combiner.SET)

    def add(self, values: Any) -> Tensor:
        """The tensor with values added there."""
        return _updated(self.tensor, self.key, values, ops.Combiner.ADD)

    def multiply(self, values: Any) -> Tensor:
        """The tensor with the elements there multiplied."""
        return _updated(self.tensor, self.key, values, ops.Combiner.MULTIPLY)

    def min(self, values: Any) -> Tensor:
        """The tensor with the smaller of the elements there and the values."""
        return _updated(self.tensor, self.key, values, ops.Combiner.MINIMUM)

    def max(self, values: Any) -> Tensor:
        """The tensor with the larger of the elements there and the values."""
        return _updated(self.tensor, self.key, values, ops.Combiner.MAXIMUM)


def _updated(tensor: Tensor, key: Any, values: Any, combiner: ops.Combiner) -> Tensor:
    node = tensor.node
    given = to_common_dtype("at", tensor, values)[1]
    refuse_lossy(f"at.{combiner.value}", given.type.dtype, node.type.dtype, tensor, values)
    given = cast_node(given, node.type.dtype)
    if node.type.dtype not in _TAKEN[combiner]:
        refuse_dtype(f"at.{combiner.value}", node.type.dtype, _TAKEN[combiner], tensor)
    key = host_array_of(key, "at") if is_foreign(key) else key
    if _is_mask(key):
        return wrap(_masked(node, as_node(key, "at"), given, combiner))
    parts = parts_of(node, key)
    block = None if _is_listed(node, parts, combiner) else _block_of(node, parts)
    if block is not None:
        return wrap(_set_in(node, block, given, combiner))
    listed = Listed(node.type.shape, parts)
    updates = listed.updates(_stretched(given, listed.shape))
    options = (tuple(listed.cut), 0, combiner, ops.Outside.ERROR)
    return wrap(record(ops.Scatter, (node, listed.indices, updates), options))


def _is_listed(node: Node, parts: Sequence[Part], combiner: ops.Combiner) -> bool:
    """Whether places are listed, though they may be a block; complex factors are not, since only a
    map of them is one of real numbers."""
    is_product = combiner is ops.Combiner.MULTIPLY and node.type.dtype in ir.COMPLEXES
    return not is_product and is_little_of_a_loop(node, parts)


class _Block(NamedTuple):
    """Places that stand side by side along each axis: how many places of an axis stand before and
    after them, in what shape values are given, and in what shape and which axes backwards they
    stand there."""

    before: Shape
    after: Shape
    given: Shape
    shape: Shape
    backwards: tuple[int, ...]


def _block_of(node: Node, parts: Sequence[Part]) -> _Block | None:
    """The block that slices and integers name, if it is one and certainly lies inside."""
    before, after, backwards = list[Size](), list[Size](), list[int]()
    axes = [part for part in parts if part.kind != "new"]
    for axis, (part, size) in enumerate(zip(axes, node.type.shape, strict=True)):
        if part.kind == "array" or abs(part.step) != 1:
            return None
        first = part.start if part.step > 0 else part.start - part.size + 1
        rest = size - first - part.size
        if part.step < 0:
            backwards.append(axis)
        if min(interval(first)[0], interval(rest)[0]) < 0 or isinstance(first, Dim):
            return None
        before.append(first)
        after.append(rest)
    given = [1 if part.kind == "new" else part.size for part in parts if part.kind != "place"]
    shape = [part.size for part in axes]
    return _Block(tuple(before), tuple(after), tuple(given), tuple(shape), tuple(backwards))


def _set_in(node: Node, block: _Block, values: Node, combiner: ops.Combiner) -> Node:
    """The node with values combined into a block: chosen place by place, which is a map."""
    own = _stretched(values, block.given)
    is_one = all([size == 1 for size in values.type.shape])
    if is_one and combiner is not ops.Combiner.MULTIPLY:
        own = broadcast_node(reshaped(values, ()), node.type.shape)
    else:  # a factor has no part in what is beside the block, or its derivative were NaN by that
        own = _laid_out(own, block, node.type.shape)
    if combiner is not ops.Combiner.SET:
        own = record(_COMBINE[combiner], (node, own))
    tests = _inside(node.type.shape, block)
    return record(ops.Select, (reduce(_both, tests), own, node)) if tests else own


def _laid_out(stretched: Node, block: _Block, shape: Shape) -> Node:
    """Values where they belong, with zeros around them."""
    own = reshaped(stretched, block.shape)
    if block.backwards:
        own = record(ops.Flip, (own,), (block.backwards,))
    if shape == block.shape:
        return own
    nothing = Number(False if own.type.dtype is ir.boolean else 0, own.type.dtype)
    return record(ops.Pad, (own,), (block.before, block.after, (0,) * len(shape), nothing))


def _inside(shape: Shape, block: _Block) -> list[Node]:
    """Whether each place of a shape lies behind where a block begins, and before where it ends, if
    that is not true of all."""
    found: list[Node] = []
    for axis, (low, high) in enumerate(zip(block.before, block.after, strict=True)):
        if low == 0 == high:
            continue
        place = record(ops.Iota, (), (shape, axis, INDEX))
        if low != 0:
            found.append(record(ops.LessEqual, (number_like(low, place), place)))
        if high != 0:
            end = number_like(low + block.shape[axis], place)
            found.append(record(ops.Less, (place, end)))
    return found


def _both(left: Node, right: Node) -> Node:
    return record(ops.BitAnd, (left, right))


def _stretched(values: Node, shape: Shape) -> Node:
    own = values.type.shape
    if len(own) > len(shape) and all([size == 1 for size in own[: len(own) - len(shape)]]):
        values = reshaped(values, own[len(own) - len(shape) :])
    if broadcast_shape("at", values.type.shape, shape) != shape:
        problem = f"values of shape {list(own)} do not stretch to the places, {list(shape)}"
        fail(ShapeError, "at", problem)
    return broadcast_node(values, shape)


def _masked(node: Node, mask: Node, values: Node, combiner: ops.Combiner) -> Node:
    """The node changed where a mask is true: no size depends on how often it is."""
    shape, masked = node.type.shape, mask.type.shape
    rank = len(masked)
    if not fits(masked, shape[:rank]):
        problem = f"the mask has shape {list(masked)}, the axes that it masks {list(shape[:rank])}"
        fail(ShapeError, "at", problem, wrap(node))
    if 0 in masked:
        return node
    if len(values.type.shape) > len(shape) - rank:
        values = _counted_off(values, mask)
    changed = broadcast_node(values, shape)
    if combiner is not ops.Combiner.SET:
        changed = record(_COMBINE[combiner], (node, changed))
    where = record(ops.Broadcast, (mask,), (shape, tuple(range(rank))))
    return record(ops.Select, (where, changed, node))


_TAKEN = {
    ops.Combiner.SET: ir.ALL,
    ops.Combiner.ADD: ir.NUMBERS,
    ops.Combiner.MULTIPLY: ir.NUMBERS,
    ops.Combiner.MINIMUM: ir.ORDERED,
    ops.Combiner.MAXIMUM: ir.ORDERED,
}
_COMBINE = {
    ops.Combiner.ADD: ops.Add,
    ops.Combiner.MULTIPLY: ops.Multiply,
    ops.Combiner.MINIMUM: ops.Minimum,
    ops.Combiner.MAXIMUM: ops.Maximum,
}


def _counted_off(values: Node, mask: Node) -> Node:
    """One value for each true element, put in the shape of the mask; others get any value."""
    masked, (count, *rest) = mask.type.shape, values.type.shape
    line = reshaped(mask, (product(masked),))
    if count == 1:
        return broadcast_node(reshaped(values, tuple(rest)), (*masked, *rest))
    ones = cast_node(line, INDEX)
    wanted = record(ops.ReduceSum, (ones,), ((0,),))
    if wanted.trace is None:
        _check_count(count, bound_size("at", wanted))
    place = record(ops.Subtract, (record(ops.CumulativeSum, (ones,), (0, False)), _like(1, ones)))
    # What is behind the values is for all others; that there are too few or too many for the true
    # elements is only seen as it runs, and then no place is one.
    behind = number_like(count, place)
    place = record(ops.Select, (line, place, behind))
    as_many = record(ops.Equal, (broadcast_node(wanted, place.type.shape), behind))
    nowhere = record(ops.Add, (behind, _like(1, behind)))
    place = record(ops.Select, (as_many, place, nowhere))
    spare = filled(0, (1, *rest), values.type.dtype)
    options = ((0,), 0, ops.Outside.ERROR)
    places = reshaped(place, (*place.type.shape, 1))
    read = record(ops.Gather, (record(ops.Concat, (values, spare), (0,)), places), options)
    return reshaped(read, (*masked, *rest))


def _like(number: int, node: Node) -> Node:
    return filled(number, node.type.shape, node.type.dtype)


def _check_count(count: Size, wanted: Size) -> None:
    """Refuse values that are not as many as the places where a mask is true."""
    if count != wanted:
        problem = f"{count} values are given, and the mask is true in {wanted} places"
        fail(ShapeError, "at", problem)
