"""Places that are listed, each by what it is along the axes that are cut.

Comes in: the shape of a tensor, and what stands between the brackets. Goes out: indices, the axes
that they are along, and how values, given in the shape that numpy picks, stand beside them.
Never: a place that nobody names, as those beside a slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.attributes import Shape
from ...ir.dims import Size
from ...ir.shared.properties import cached_property
from ..node import Node, record
from .common import broadcast_all, number_like, size_node
from .manipulation import permuted, reshaped
from .slices import Part, axes_in_front

LITTLE = 64
"""So many places, each with all that lies along other axes, are listed in a loop."""
_LOOPS = "fori_loop", "scan", "while_loop"
Side = tuple[Size, int | None]
"""The size of an axis of what is picked, and the axis of the tensor that a slice picks it of."""


class Listed:
    """Parts of a tensor, of which at least one cuts its axis: does not leave it as it is."""

    def __init__(self, shape: Shape, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.axes = [part for part in parts if part.kind != "new"]
        self.cut = _cut_axes(shape, self.axes)
        self._front = axes_in_front(parts)

    @cached_property
    def named(self) -> list[Node]:
        """The places that arrays and integers name together."""
        nodes = [as_places(part) for part in self.parts if part.names_places]
        return broadcast_all("index", nodes) if nodes else []

    @property
    def shape(self) -> Shape:
        """The shape of what is picked, as numpy has it."""
        return tuple([size for size, _ in self.sides])

    @cached_property
    def sides(self) -> list[Side]:
        """The axes of what is picked: those of named places where these stand side by side, else
        in front."""
        found: list[Side] = []
        axis = 0
        for part in self.parts:
            if not part.names_places:
                found.append((part.size, None if part.kind == "new" else axis))
            axis += part.kind != "new"
        own: list[Side] = [(size, None) for size in self._own]
        found[self._front : self._front] = own
        return found

    @property
    def _own(self) -> Shape:
        return self.named[0].type.shape if self.named else ()

    def updates(self, picked: Node) -> Node:
        """What is picked, with what lies at a place behind it."""
        return permuted(picked, self._order)

    def arranged(self, found: Node) -> Node:
        """What was found at the places, as numpy has it."""
        return permuted(found, tuple([self._order.index(side) for side in range(len(self.sides))]))

    @cached_property
    def _order(self) -> tuple[int, ...]:
        rows = [side for side in range(len(self.sides)) if side not in self._places]
        return (*self._places, *rows)

    @cached_property
    def _places(self) -> list[int]:
        """The sides along which places are told apart."""
        return [
            side for side, (_, axis) in enumerate(self.sides) if axis is None or axis in self.cut
        ]

    @property
    def indices(self) -> Node:
        """Each place, as a row of numbers."""
        shape = tuple([self.sides[side][0] for side in self._places])
        named = iter(self.named)
        columns: list[Node] = []
        for axis in self.cut:
            part = self.axes[axis]
            line = next(named) if part.names_places else _line(part)
            along = tuple([self._places.index(side) for side in self._sides_of(axis)])
            if line.type.shape != shape:
                line = record(ops.Broadcast, (line,), (shape, along))
            columns.append(reshaped(line, (*shape, 1)))
        return record(ops.Concat, tuple(columns), (len(shape),)) if len(columns) > 1 else columns[0]

    def _sides_of(self, axis: int) -> Sequence[int]:
        """Along which sides the places of an axis change."""
        if self.axes[axis].names_places:
            return range(self._front, self._front + len(self._own))
        return [side for side, (_, own) in enumerate(self.sides) if own == axis]


def as_places(part: Part) -> Node:
    """An integer as an array of places, or the array that there is."""
    return size_node(part.start) if part.node is None else part.node


def cuts(part: Part, size: Size) -> bool:
    """Whether not all places of an axis of this size are meant, in order."""
    return part.names_places or part.step != 1 or part.size != size


def is_little_of_a_loop(node: Node, parts: Sequence[Part]) -> bool:
    """Whether a step of a loop takes so few places along the axes that slices and integers cut, and
    cuts any, that it should not look at all others."""
    trace, axes = node.trace, [part for part in parts if part.kind != "new"]
    while trace is not None and trace.kind not in _LOOPS:
        trace = trace.outer
    cut = () if trace is None else _cut_axes(node.type.shape, axes)
    return bool(cut) and product([axes[axis].most for axis in cut]) <= LITTLE


def _cut_axes(shape: Shape, axes: Sequence[Part]) -> range:
    """The axes from the first to the last one that is cut."""
    pairs = zip(axes, shape, strict=True)
    cut = [axis for axis, pair in enumerate(pairs) if cuts(*pair)]
    return range(cut[0], cut[-1] + 1) if cut else range(0)


def _line(part: Part) -> Node:
    """The places of a slice."""
    count = record(ops.Iota, (), ((part.size,), 0, ir.i64))
    if part.step != 1:
        count = record(ops.Multiply, (count, number_like(part.step, count)))
    return record(ops.Add, (count, number_like(part.start, count)))
