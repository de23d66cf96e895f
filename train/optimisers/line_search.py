"""A line search: how far to go along a direction, until the strong conditions of Wolfe hold.

Comes in: the point where one is, a function that evaluates another on the line, a first length.
Goes out: a point that is low enough and flat enough, or the lowest that was found.
Never: a branch of Python on a value; both phases are loops of the compiled step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ... import abs as size_of
from ... import asarray, clip, isnan, maximum, minimum, sqrt, tree_map, where, while_loop

ENOUGH, FLAT = 1e-4, 0.9
"""Which part of the fall that the slope promises is enough, and which part of the slope is flat."""


class Point(NamedTuple):
    """A point on the line: how far it is, its loss, the slope along the line, the gradient."""

    length: Any
    value: Any
    slope: Any
    gradient: Any


class Stride(NamedTuple):
    """The last two points of those that go further and further, and how many there were."""

    before: Point
    here: Point
    tries: Any


class Zoom(NamedTuple):
    """The lower and the higher end of an interval with a good point inside."""

    low: Point
    high: Point
    is_near: Any
    is_done: Any
    tries: Any


@dataclass(frozen=True)
class Line:
    """The line, as it begins: its first point, how others are found, when to give up."""

    start: Point
    at: Callable[[Any], Point]
    most: Any
    narrow: Any

    def search(self, length: Any) -> tuple[Point, Any]:
        """The point to go to, and how many were evaluated."""
        first = Stride(self.start, self.at(length), asarray(0, device=length.device))
        last = while_loop(self._goes_on, self._further, first)
        zoom = while_loop(self._is_open, self._closer, self._interval(last))
        return zoom.low, zoom.tries + 1

    def _is_high(self, point: Point) -> Any:
        """Whether a point is not as low as the first slope promises."""
        promised = ENOUGH * point.length * self.start.slope
        return point.value > self.start.value + promised

    def _is_flat(self, point: Point) -> Any:
        return size_of(point.slope) <= -FLAT * self.start.slope

    def _is_past(self, stride: Stride) -> Any:
        """Whether a stride went over a low point, into ground that is high again."""
        is_higher = (stride.tries > 1) & (stride.here.value >= stride.before.value)
        return self._is_high(stride.here) | is_higher

    def _goes_on(self, stride: Stride) -> Any:
        here = stride.here
        is_bracketed = self._is_past(stride) | self._is_flat(here) | (here.slope >= 0)
        return (stride.tries < self.most) & ~is_bracketed

    def _further(self, stride: Stride) -> Stride:
        before, here = stride.before, stride.here
        low = here.length + 0.01 * (here.length - before.length)
        length = cubic_minimum(before, here, low, here.length * 10.0)
        return Stride(here, self.at(length), stride.tries + 1)

    def _interval(self, stride: Stride) -> Zoom:
        """Between which points to look closer; done if the last one is good."""
        is_over = stride.tries >= self.most
        is_done = ~is_over & ~self._is_past(stride) & self._is_flat(stride.here)
        one = _chosen(is_over, self.start, stride.before)
        low, high = _in_order(one, stride.here)
        low = _chosen(is_done, stride.here, low)
        return Zoom(low, high, is_done & False, is_done, stride.tries)

    def _is_open(self, zoom: Zoom) -> Any:
        width = size_of(zoom.high.length - zoom.low.length)
        return ~zoom.is_done & (zoom.tries < self.most) & (width >= self.narrow)

    def _closer(self, zoom: Zoom) -> Zoom:
        length, is_near = _inside(zoom)
        new = self.at(length)
        is_worse = self._is_high(new) | (new.value >= zoom.low.value)
        ahead = zoom.high.length - zoom.low.length
        # Of a better point, the end towards which the loss rises stays.
        high = _chosen(new.slope * ahead >= 0, zoom.low, zoom.high)
        low, high = _chosen(is_worse, _in_order(zoom.low, new), (new, high))
        is_done = ~is_worse & self._is_flat(new)
        return Zoom(low, high, is_near, is_done, zoom.tries + 1)


def cubic_minimum(one: Point, two: Point, low: Any, high: Any) -> Any:
    """Where the cubic through two points, with their slopes, is lowest between two lengths."""
    left, right = _chosen(one.length <= two.length, (one, two), (two, one))
    width = right.length - left.length
    first = left.slope + right.slope - 3.0 * (right.value - left.value) / width
    square = first * first - left.slope * right.slope
    root = sqrt(maximum(square, 0.0))
    share = (right.slope + root - first) / (right.slope - left.slope + 2.0 * root)
    length = right.length - width * share
    is_found = (square >= 0) & ~isnan(length)
    return where(is_found, clip(length, low, high), (low + high) / 2.0)


def _inside(zoom: Zoom) -> tuple[Any, Any]:
    """The next length to try; and whether it is near an end, where one may be once in a row."""
    low = minimum(zoom.low.length, zoom.high.length)
    high = maximum(zoom.low.length, zoom.high.length)
    length = cubic_minimum(zoom.low, zoom.high, low, high)
    margin = 0.1 * (high - low)
    is_near = minimum(high - length, length - low) < margin
    is_moved = is_near & (zoom.is_near | (length >= high) | (length <= low))
    is_right = size_of(length - high) < size_of(length - low)
    moved = where(is_right, high - margin, low + margin)
    return where(is_moved, moved, length), is_near & ~is_moved


def _in_order(one: Point, two: Point) -> tuple[Point, Point]:
    """The lower point, and the other."""
    return _chosen(one.value <= two.value, (one, two), (two, one))


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    """One tree of tensors where the condition holds, else the other."""
    return tree_map(lambda left, right: where(condition, left, right), one, other)
