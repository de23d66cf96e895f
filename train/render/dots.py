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
EACH = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
BITS = [[[sum(dots[top : end + 1]) for end in range(DOWN)] for top in range(DOWN)] for dots in EACH]
"""The bits of a character's dots: of which half of it, from which row to which."""
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
        self.column(x, y, y, style)

    def column(self, x: int, top: int, bottom: int, style: str) -> None:
        """Set the dots below each other from `top` to `bottom`; outside there are none."""
        top, bottom = max(top, 0), min(bottom, self.height - 1)
        if not 0 <= x < self.width or bottom < top:
            return
        column, bits = x // ACROSS, BITS[x % ACROSS]
        first, last = top // DOWN, bottom // DOWN
        for row in range(first, last + 1):
            mask = bits[top % DOWN if row == first else 0][bottom % DOWN if row == last else -1]
            if self._styles[row][column] != style:
                self._styles[row][column], self._masks[row][column] = style, 0
            self._masks[row][column] |= mask

    def line(self, start: Place, end: Place, style: str) -> None:
        """Set the dots between two places."""
        (x, y), (right, down) = start, end
        across, down = right - x, down - y
        steps = max(1, round(max(abs(across), abs(down))))
        at, top, bottom = round(x), round(y), round(y)
        for step in range(1, steps + 1):
            part = step / steps
            here, low = round(x + part * across), round(y + part * down)
            if here != at:
                self.column(at, top, bottom, style)
                at, top, bottom = here, low, low
            elif low < top:
                top = low
            elif low > bottom:
                bottom = low
        self.column(at, top, bottom, style)

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
