"""How windows move over images.

Comes in: numbers as users give them, one for all axes of space or one for each. Goes out: one for
each axis, and how many windows there are.
Never: a window that finds no place.
"""

from __future__ import annotations

from typing import Any, cast

from ...frontend.functions.space import around, each_axis, refuse_no_place
from ...frontend.tensor import Tensor
from ...ir.tensor.windows import spread
from .common import known_size

Numbers = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


class Steps:
    """Windows of the operation `name`, over `count` axes of space."""

    def __init__(
        self, name: str, count: int, window: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1,
    ) -> None:  # fmt: skip
        self.name = name
        self.window = each_axis(name, "kernel_size", window, count)
        self.stride = each_axis(name, "stride", stride, count)
        self.dilation = each_axis(name, "dilation", dilation, count)
        self.spans = tuple(map(spread, self.window, self.dilation))
        sides = around(name, padding, self.spans, self.stride)
        self.around = cast(Pairs, tuple(zip(*sides, strict=True)))
        """The padding before and behind each axis of space."""

    def sizes(self, x: Tensor) -> Numbers:
        """The sizes of the axes of space of an image, which are known."""
        return tuple([known_size(self.name, x, axis) for axis in range(2, x.ndim)])

    def places(self, sizes: Numbers, *given: Any) -> Numbers:
        """How many windows there are along axes of these sizes."""
        low, high = zip(*self.around, strict=True)
        refuse_no_place(self.name, "window", sizes, self.spans, (low, high), *given)
        rooms = [sum(each) for each in zip(sizes, low, high, strict=True)]
        axes = zip(rooms, self.spans, self.stride, strict=True)
        return tuple([(room - span) // by + 1 for room, span, by in axes])
