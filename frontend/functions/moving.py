"""Windows that move along one axis, and what becomes of the elements that each of them sees.

Comes in: a node, where windows stand, and how two elements, or a line of them, become one. Goes
out: a node with one number for each window along that axis.
Never: all windows beside each other in memory. Every `stride`-th element of the axis makes a line
of its own, and windows take parts of lines that are next to each other, so that a derivative puts
parts together with nothing between their elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ...ir import tensor as ops
from ...ir.dims import Size, floor_div, maximum
from ...ir.tensor.windows import spread
from ..node import Node, record
from .manipulation import part, reshaped
from .space import Sizes

FEW = 4
"""Windows side by side of more elements than this are lines of their own."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of `size` elements along an axis of `extent` elements: how far from each other they
    begin, how far their elements are `apart`, and what padding is before and behind the axis."""

    axis: int
    extent: Size
    size: int
    stride: int
    apart: int = 1
    before: Size = 0
    behind: Size = 0

    @property
    def span(self) -> int:
        """From the first element of a window to the last."""
        return spread(self.size, self.apart)

    @property
    def places(self) -> Size:
        """How many windows find a place."""
        room = self.before + self.extent + self.behind - self.span
        return maximum(floor_div(room, self.stride) + 1, 0)


@dataclass(frozen=True, slots=True)
class Combining:
    """How elements become one: two of them, in their order, or all along an axis; and what the
    padding is."""

    two: Callable[[Node, Node], Node]
    along: Callable[[Node, int], Node]
    padding: Any


def combined(node: Node, windows: Windows, combining: Combining) -> Node:
    """One number for each window along an axis."""
    axis, places, stride = windows.axis, windows.places, windows.stride
    if places == 1:
        stride = windows.size
    blocks = places + (windows.span - 1) // stride
    fitted = _fitted(node, windows, blocks * stride, combining.padding)
    lines = split(fitted, axis, (blocks, stride)) if stride > 1 else fitted
    if windows.apart == 1 and stride == windows.size > FEW:
        return combining.along(lines, axis + 1)
    offsets = [number * windows.apart for number in range(windows.size)]
    firsts = {at % stride for at in offsets}
    line = {at: _line(lines, axis + 1, at) for at in firsts} if stride > 1 else {0: fitted}
    elements = [part(line[at % stride], axis, at // stride, places) for at in offsets]
    return reduce(combining.two, elements)


def split(node: Node, axis: int, sizes: Sizes) -> Node:
    """One axis seen as several."""
    return reshaped(node, (*node.type.shape[:axis], *sizes, *node.type.shape[axis + 1 :]))


def _fitted(node: Node, windows: Windows, length: Size, padding: Any) -> Node:
    """The node with padding before it, and behind it padded or cut to a length."""
    shape, axis = node.type.shape, windows.axis
    behind = maximum(length - windows.before - shape[axis], 0)
    if windows.before != 0 or behind != 0:
        none = (0,) * len(shape)
        low, high = [(*none[:axis], size, *none[axis + 1 :]) for size in (windows.before, behind)]
        node = record(ops.Pad, (node,), (low, high, none, padding))
    return part(node, axis, 0, length)


def _line(node: Node, axis: int, place: int) -> Node:
    """One place along an axis, which goes."""
    return split(part(node, axis, place, 1), axis, ())
