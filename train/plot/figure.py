"""The picture of a run: a panel a metric, with axes, and curves of training and of validation.

Comes in: curves by metric. Goes out: pixels.
Never: a curve of more places than there are columns to tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from .canvas import Array, Canvas, Colour, Place, text_width
from .curves import Curve
from .extent import NOISY_FROM, extent
from .smooth import smooth
from .ticks import padded, spaced, texts

PANEL = (760, 440)
"""Width and height of one panel among several."""
ALONE = (1100, 620)
INK, PALE_INK, GRID, FRAME = (38, 43, 51), (108, 117, 130), (233, 236, 240), (176, 183, 192)
COLOURS: dict[str, Colour] = {"train": (45, 108, 210), "valid": (233, 114, 30)}
NAMES = {"train": "training", "valid": "validation"}
LEFT, RIGHT, TOP, BOTTOM = 78, 26, 58, 56
TITLE, LABEL = 13.0, 9.0
"""Sizes of letters."""
ABOVE = 24
"""From the axes to the line that the title and the legend stand on."""
FEW = 12
"""A curve of so few places has a dot on each."""


def figure(curves: Mapping[str, Sequence[Curve]], smoothing: float = 0.9) -> Array:
    """A picture of all metrics; a noisy curve is pale beneath a smooth one."""
    names = list(curves)
    width, height = ALONE if len(names) == 1 else PANEL
    columns = min(len(names), 2)
    rows = ceil(len(names) / columns)
    canvas = Canvas(columns * width, rows * height)
    for at, name in enumerate(names):
        corner = (at % columns * width, at // columns * height)
        Panel(canvas, corner, (width, height), curves[name]).draw(name, smoothing)
    return canvas.pixels()


class Panel:
    """One metric's part of the picture."""

    def __init__(
        self, canvas: Canvas, corner: Place, size: tuple[int, int], curves: Sequence[Curve]
    ) -> None:
        self.canvas, self.curves = canvas, curves
        self.left, self.right = corner[0] + LEFT, corner[0] + size[0] - RIGHT
        self.top, self.bottom = corner[1] + TOP, corner[1] + size[1] - BOTTOM
        steps = [step for curve in curves for step in curve.steps]
        values = [value for curve in curves for value in curve.values]
        ends = min(steps), max(steps)
        self.steps = ends if ends[0] < ends[1] else padded(*ends)
        self.values = padded(*extent(values))

    def draw(self, name: str, smoothing: float) -> None:
        """The panel with its title."""
        self.canvas.text(name, (self.left, self.top - ABOVE), TITLE, INK)
        self._grid()
        for curve in self.curves:
            self._curve(curve, smoothing)
        self._frame()
        self._legend()

    def place(self, step: float, value: float) -> Place:
        """Where a value at a step is."""
        across = (step - self.steps[0]) / (self.steps[1] - self.steps[0])
        up = (value - self.values[0]) / (self.values[1] - self.values[0])
        return (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )

    def _grid(self) -> None:
        ticks = spaced(*self.values, at_most=6)
        for tick, text in zip(ticks, texts(ticks), strict=True):
            _, y = self.place(self.steps[0], tick)
            self._rule((self.left, y), (self.right, y), GRID)
            self.canvas.text(text, (self.left - 10, y + LABEL / 2), LABEL, PALE_INK, align=1)
        ticks = spaced(*self.steps, at_most=8, whole=True)
        for tick, text in zip(ticks, texts(ticks), strict=True):
            x, _ = self.place(tick, self.values[0])
            self._rule((x, self.top), (x, self.bottom), GRID)
            self.canvas.text(text, (x, self.bottom + 19), LABEL, PALE_INK, align=0.5)
        middle = (self.left + self.right) / 2
        self.canvas.text("step", (middle, self.bottom + 40), LABEL, PALE_INK, align=0.5)

    def _frame(self) -> None:
        for end in ((self.left, self.top), (self.right, self.bottom)):
            self._rule((self.left, self.bottom), end, FRAME)

    def _rule(self, start: Place, end: Place, colour: Colour) -> None:
        """A line of one pixel, straight across or straight up."""
        (left, right), (top, bottom) = sorted((start[0], end[0])), sorted((start[1], end[1]))
        left, top = round(left), round(top)
        opposite = (max(round(right), left + 1), max(round(bottom), top + 1))
        self.canvas.rectangle((left, top), opposite, colour)

    def _curve(self, curve: Curve, smoothing: float) -> None:
        colour = COLOURS[curve.split]
        if len(curve.steps) < NOISY_FROM or not smoothing:
            self._line(curve.steps, curve.values, colour, 1.8)
            return
        self._line(curve.steps, curve.values, colour, 1.0, 0.28)
        self._line(curve.steps, smooth(curve.values, smoothing), colour, 2.0)

    def _line(
        self,
        steps: Sequence[float],
        values: Sequence[float],
        colour: Colour,
        width: float,
        opacity: float = 1.0,
    ) -> None:
        places = [self.place(step, value) for step, value in zip(steps, values, strict=True)]
        clipped = [(x, min(max(y, self.top), self.bottom)) for x, y in places]
        self.canvas.line(thinned(clipped), colour, width, opacity)
        for place in clipped if len(clipped) <= FEW else ():
            self.canvas.line([place, place], colour, 6.0)

    def _legend(self) -> None:
        right = self.right
        for curve in reversed(self.curves):
            name = NAMES[curve.split]
            self.canvas.text(name, (right, self.top - ABOVE), LABEL + 1, INK, align=1)
            right -= text_width(name, LABEL + 1) + 8
            y = self.top - ABOVE - LABEL / 2
            self.canvas.line([(right - 20, y), (right, y)], COLOURS[curve.split], 3.0)
            right -= 20 + 22


def thinned(places: Sequence[Place]) -> list[Place]:
    """Of the places in one column of pixels the first, the lowest, the highest and the last."""
    columns: dict[int, list[Place]] = {}
    for place in places:
        columns.setdefault(int(place[0]), []).append(place)
    return [place for each in columns.values() for place in _extremes(each)]


def _extremes(places: list[Place]) -> list[Place]:
    if len(places) <= 4:
        return places
    lowest = max(range(len(places)), key=lambda at: places[at][1])
    highest = min(range(len(places)), key=lambda at: places[at][1])
    return [places[at] for at in sorted({0, lowest, highest, len(places) - 1})]
