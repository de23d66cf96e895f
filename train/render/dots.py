"""A picture of dots in a terminal: eight in a character, as in Braille.

Comes in: places, in dots from the upper left corner. Goes out: lines of text.
Never: two colours in one character, which no terminal has: the later drawn one is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

ACROSS, DOWN = 2, 4
"""How many dots a character has."""
BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
BRAILLE = 0x2800

Place = tuple[float, float]


class Dots:
    """So many columns and rows of characters, without dots at first."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._masks = [[0] * columns for _ in range(rows)]
        self._styles = [[""] * columns for _ in range(rows)]

    @property
    def width(self) -> int:
        """Dots across."""
        return self.columns * ACROSS

    @property
    def height(self) -> int:
        """Dots down."""
        return self.rows * DOWN

    def dot(self, x: int, y: int, style: str) -> None:
        """Set one dot; outside of the picture there is none."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        column, row = x // ACROSS, y // DOWN
        if self._styles[row][column] != style:
            self._styles[row][column], self._masks[row][column] = style, 0
        self._masks[row][column] |= BITS[y % DOWN][x % ACROSS]

    def line(self, start: Place, end: Place, style: str) -> None:
        """Set the dots between two places."""
        across, down = end[0] - start[0], end[1] - start[1]
        steps = max(1, round(max(abs(across), abs(down))))
        for step in range(steps + 1):
            part = step / steps
            self.dot(round(start[0] + part * across), round(start[1] + part * down), style)

    def lines(self) -> list[Text]:
        """The rows of characters, in colours."""
        return [_line(*row) for row in zip(self._masks, self._styles, strict=True)]


def _line(masks: Sequence[int], styles: Sequence[str]) -> Text:
    """A row, with one span for neighbours of one colour."""
    text = "".join([chr(BRAILLE + mask) if mask else " " for mask in masks])
    line, at = Text(text), 0
    for style, run in groupby(styles):
        begin, at = at, at + sum(1 for _ in run)
        if style:
            line.stylize(style, begin, at)
    return line
