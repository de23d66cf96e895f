"""What the lanes of a `vmap` leave, as one value for all of them.

Comes in: what was left, which of it differs from lane to lane, and along which axes the arguments
are mapped. Goes out: values with the lanes along the axes of the attributes that they are for.
Never: one lane's value for a module that all lanes share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..ir import tensor as ops
from .errors import TracedValueError, fail
from .functions.common import as_axis, broadcast_node
from .handle import Handle, wrap
from .left import Place, counterparts
from .node import Node, record
from .paths import aligned
from .regions import Pair
from .tree import Structure, flatten, leaves_of


class Lanes:
    """The lanes of a `vmap`: how many, and for each part of the arguments a like one of axes."""

    def __init__(self, axes: dict[int, Any], size: Any) -> None:
        self.axes, self.size = axes, size

    def joined(
        self, places: Sequence[Place], left: Sequence[Pair], varies: Sequence[Pair]
    ) -> list[Pair]:
        """What was left for places, for all lanes; `varies` says what of it differs in them."""
        return [self._value(*each) for each in zip(places, left, varies, strict=True)]

    def _value(self, place: Place, left: Pair, varies: Pair) -> Pair:
        value, when = left
        leaves, structure = flatten(value)
        axes = self._axes_of(place, structure)
        if varies[1] and set(axes) != {0}:
            _refuse(place, "in some lanes and not in others; that is handed on along axis 0 only")
        rows = zip(leaves, leaves_of(varies[0]), axes, strict=True)
        return structure.build([self._joined(place, *each) for each in rows]), when

    def _axes_of(self, place: Place, structure: Structure) -> list[Any]:
        """Along which axis each tensor of an attribute is mapped; None if all lanes share it."""
        part = self.axes.get(id(place.owner))
        if part is None:
            return [None] * structure.count
        if getattr(place.owner, place.name) is None:
            return [0 if leaves_of(part) else None] * structure.count
        return aligned(structure, getattr(part, place.name), "vmap")

    def _joined(self, place: Place, leaf: Any, varies: Any, axis: int | None) -> Any:
        if not isinstance(leaf, Handle):
            return leaf
        if axis is None:
            if varies:
                _refuse(
                    place, "by each lane with a value of its own, and all lanes share the module"
                )
            return leaf
        whole = leaf.node if varies else repeated(leaf.node, self.size)
        return wrap(moved_axis(whole, 0, as_axis(axis, len(whole.type.shape), "vmap")))


def axes_of_parts(axes: Any, tree: Any) -> dict[int, Any]:
    """For the id of each part of a tree the part of a like tree, which has axes for leaves."""
    return {id(part): like for like, part in counterparts(axes, tree)}


def repeated(node: Node, size: Any) -> Node:
    """A node with equal lanes in front."""
    return broadcast_node(node, (size, *node.type.shape))


def moved_axis(node: Node, source: int, target: int) -> Node:
    """The node with one axis put elsewhere."""
    if source == target:
        return node
    order = [axis for axis in range(len(node.type.shape)) if axis != source]
    order.insert(target, source)
    return record(ops.Permute, (node,), (tuple(order),))


def _refuse(place: Place, how: str) -> NoReturn:
    fail(
        TracedValueError, f"{type(place.owner).__name__}.update",
        f"{place.name} is updated inside a `vmap`, {how}",
        hint="stack a module for each lane and map it too, along axis 0: `in_axes=0`; or leave "
        "what is the same for all, such as a sum over the lanes: `bs.all_reduce(x, axis_name)`",
    )  # fmt: skip
