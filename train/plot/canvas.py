"""A picture that is drawn on: lines with smooth edges, areas, and text made of such lines.

Comes in: places in pixels, from the upper left corner. Goes out: pixels.
Never: an axis; a canvas does not know what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .strokes import CAPITAL, advance, strokes_of

THINNEST = 1.1
"""How thick the lines of letters are at least."""
Colour = tuple[int, int, int]
Place = tuple[float, float]
Array = np.ndarray[Any, np.dtype[Any]]


class Canvas:
    """Pixels of one colour at first."""

    def __init__(self, width: int, height: int, colour: Colour = (255, 255, 255)) -> None:
        self.width, self.height = width, height
        self._pixels = np.empty((height, width, 3), np.float32)
        self._pixels[:] = colour

    def pixels(self) -> Array:
        """What is drawn, in bytes."""
        return np.rint(self._pixels).clip(0, 255).astype(np.uint8)

    def rectangle(self, corner: Place, opposite: Place, colour: Colour) -> None:
        """Fill the pixels from one corner to before the other."""
        (left, top), (right, bottom) = corner, opposite
        self._pixels[round(top) : round(bottom), round(left) : round(right)] = colour

    def line(
        self, places: Sequence[Place], colour: Colour, width: float = 1.0, opacity: float = 1.0
    ) -> None:
        """Join places; where the line crosses itself, it is no darker than elsewhere."""
        self._draw([places], width, colour, opacity)

    def text(
        self, text: str, place: Place, size: float, colour: Colour, align: float = 0.0
    ) -> None:
        """Write on one line: `place` is on its base line, at its left end (`align` 0), its middle
        (0.5) or its right end (1)."""
        scale = size / CAPITAL
        left, base = place[0] - align * text_width(text, size), place[1]
        drawn: list[Sequence[Place]] = []
        for glyph in text:
            drawn += [
                [(left + x * scale, base - y * scale) for x, y in stroke]
                for stroke in strokes_of(glyph)
            ]
            left += advance(glyph) * scale
        if drawn:
            self._draw(drawn, max(THINNEST, size / 8.5), colour)

    def _draw(
        self, lines: Sequence[Sequence[Place]], width: float, colour: Colour, opacity: float = 1.0
    ) -> None:
        """Colour the pixels under lines, each by how much of it they cover."""
        reach = width / 2 + 1
        within = self._window([place for line in lines for place in line], reach)
        covered = np.zeros(self._pixels[within].shape[:2], np.float32)
        top, left = within[0].start, within[1].start
        for start, end in (segment for line in lines for segment in pairwise(line)):
            rows, columns = self._window((start, end), reach)
            distance = _distance(rows, columns, start, end)
            window = (_moved(rows, top), _moved(columns, left))
            part = covered[window]
            np.maximum(part, np.clip(width / 2 + 0.5 - distance, 0, 1), out=part)
        under = self._pixels[within]
        under += opacity * covered[..., None] * (np.asarray(colour, np.float32) - under)

    def _window(self, places: Sequence[Place], reach: float) -> tuple[slice, slice]:
        """The rows and columns that lines between places may touch."""
        across, down = [x for x, _ in places], [y for _, y in places]
        columns = _span(min(across) - reach, max(across) + reach, self.width)
        return _span(min(down) - reach, max(down) + reach, self.height), columns


def text_width(text: str, size: float) -> float:
    """How wide a text is."""
    return sum(map(advance, text)) * size / CAPITAL


def _span(low: float, high: float, size: int) -> slice:
    """The whole numbers of an interval, as far as there are such pixels; perhaps none."""
    first = min(max(0, int(low)), size)
    return slice(first, max(first, min(size, int(high) + 1)))


def _moved(span: slice, start: int) -> slice:
    return slice(span.start - start, span.stop - start)


def _distance(rows: slice, columns: slice, start: Place, end: Place) -> Array:
    """How far the middles of pixels are from the line between two places."""
    x = np.arange(columns.start, columns.stop, dtype=np.float32)[None, :] + 0.5 - start[0]
    y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] + 0.5 - start[1]
    across, down = end[0] - start[0], end[1] - start[1]
    length = across * across + down * down
    along = np.clip((x * across + y * down) / length, 0, 1) if length else 0.0
    return np.hypot(x - along * across, y - along * down)
