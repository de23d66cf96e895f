"""Writing at places: `x.at[key].set(value)`, a new tensor with some elements changed.

Comes in: a tensor, what stands between the brackets, values. Goes out: a tensor.
Never: a change to the tensor itself.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Size
from ..bounds import bound_size
from ..errors import ShapeError, fail
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
from .indexing import _is_mask, getitem
from .manipulation import reshaped
from .masks import fits

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
    if _is_mask(key):
        return wrap(_masked(node, as_node(key, "at"), given, combiner))
    # The places of the elements are what the key picks of all places.
    total = product(node.type.shape)
    line = record(ops.Iota, (), ((total,), 0, INDEX))
    places = getitem(wrap(reshaped(line, node.type.shape)), key).node
    stretched = _stretched(given, places)
    count = product(places.type.shape)
    flat = (reshaped(node, (total,)), reshaped(places, (count, 1)), reshaped(stretched, (count,)))
    made = record(ops.Scatter, flat, ((0,), 0, combiner, ops.Outside.ERROR))
    return wrap(reshaped(made, node.type.shape))


def _stretched(values: Node, places: Node) -> Node:
    shape = places.type.shape
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
