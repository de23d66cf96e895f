"""How windows move over images.

Comes in: numbers as users give them, one for all axes of space or one for each. Goes out: one for
each axis, and how many windows there are.
Never: a window that finds no place.
"""

from __future__ import annotations

from typing import Any

from ...frontend.functions.space import each_axis, pairs, refuse_no_place
from ...frontend.tensor import Tensor
from ...ir.tensor.windows import spread
from .common import known_size

Numbers = tuple[int, ...]


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
        self.sides = pairs(name, padding, count)
        self.spans = tuple(map(spread, self.window, self.dilation))

    @property
    def around(self) -> tuple[tuple[int, int], ...]:
        """The padding before and behind each axis of space."""
        return tuple(zip(*self.sides, strict=True))

    def sizes(self, x: Tensor) -> Numbers:
        """The sizes of the axes of space of an image, which are known."""
        return tuple([known_size(self.name, x, axis) for axis in range(2, x.ndim)])

    def places(self, sizes: Numbers, *given: Any) -> Numbers:
        """How many windows there are along axes of these sizes."""
        refuse_no_place(self.name, "window", sizes, self.spans, self.sides, *given)
        axes = zip(sizes, self.spans, *self.sides, self.stride, strict=True)
        return tuple([(low + size + high - span) // by + 1 for size, span, low, high, by in axes])
