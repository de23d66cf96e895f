"""What a network reads, drawn: which digit it takes for which, and the images it misreads.

Comes in: labels, what was read, images. Goes out: things that `rich` prints.
Never: a colour or a block where the console shows none; letters take their place there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ...data import Example
from .digits import INK, Array

RIGHT, WRONG, PAPER = (38, 120, 200), (214, 93, 14), (24, 26, 32)
"""The colours of what is read right and wrong, and of neither."""
WEAKEST = 0.35
"""How strong the colour of a single digit is, of 1."""
CELL = 3
"""How wide a number of the table is."""
FACE, GAP, MOST_FACES = 12, 2, 6
"""How wide a misread image is with its caption, what lies between two, and how many are shown."""
UPPER, LOWER, FULL = "\N{UPPER HALF BLOCK}", "\N{LOWER HALF BLOCK}", "\N{FULL BLOCK}"
LETTERS = " .:-=+*#%@"
"""From paper to ink."""


def confusion_table(counts: Array) -> Table:
    """How often each digit (row) was read as each digit (column)."""
    shown = Table(box=None, padding=0, header_style="dim")
    shown.add_column("is", justify="right", style="dim")
    for digit in range(len(counts)):
        shown.add_column(str(digit), justify="right", width=CELL)
    for digit, row in enumerate(counts.tolist()):
        cells = [_cell(count, max(row), at == digit) for at, count in enumerate(row)]
        shown.add_row(str(digit), *cells)
    return shown


def _cell(count: int, most: int, is_right: bool) -> Text:
    """A number, on a colour that is stronger the larger a part of the row it is."""
    if count == 0:
        return Text(".", style="dim")
    strength = WEAKEST + (1 - WEAKEST) * count / most
    colour = np.add(PAPER, np.subtract(RIGHT if is_right else WRONG, PAPER) * strength)
    return Text(f"{count:>{CELL}}", style=Style(color="bright_white", bgcolor=_colour(colour)))


def misread_images(console: Console, digits: Example, read: Array) -> Table | None:
    """The first images that were misread, as many as fit beside each other; None if there are
    none."""
    places = np.flatnonzero(digits.label != read)
    fit = max(1, (console.width + GAP) // (FACE + GAP))
    places = places[: min(fit, MOST_FACES)]
    if not len(places):
        return None
    shown = Table.grid(padding=(0, GAP, 0, 0))
    for _ in places:
        shown.add_column(width=FACE, no_wrap=True)
    shown.add_row(*[draw(console, digits.input[place, 0]) for place in places])
    shown.add_row(*[f"{digits.label[place]}, read as {read[place]}" for place in places])
    return shown


def draw(console: Console, image: Array) -> Text:
    """An image from -1 to 1, two rows of pixels a line."""
    ink = np.rint((image + 1) * (INK / 2)).astype(int)
    pairs = list(zip(ink[0::2].tolist(), ink[1::2].tolist(), strict=True))
    line = _shades if shows_colours(console) else _blocks if shows_blocks(console) else _letters
    return Text("\n").join([line(above, below) for above, below in pairs])


def shows_blocks(console: Console) -> bool:
    """Whether half-blocks can be written."""
    return console.encoding.lower().startswith("utf")


def shows_colours(console: Console) -> bool:
    """Whether they can be coloured."""
    return shows_blocks(console) and console.color_system is not None and not console.no_color


def _shades(above: Sequence[int], below: Sequence[int]) -> Text:
    """Upper halves of blocks in front of the lower ones, each as light as there is ink."""
    found = Text()
    for pixels in zip(above, below, strict=True):
        upper, lower = [_colour(np.add(PAPER, np.subtract(240, PAPER) * p / INK)) for p in pixels]
        found.append(UPPER, Style(color=upper, bgcolor=lower))
    return found


def _blocks(above: Sequence[int], below: Sequence[int]) -> Text:
    """Halves of blocks where there is more ink than paper."""
    kinds = {(False, False): " ", (True, False): UPPER, (False, True): LOWER, (True, True): FULL}
    halves = [(2 * up > INK, 2 * low > INK) for up, low in zip(above, below, strict=True)]
    return Text("".join([kinds[each] for each in halves]))


def _letters(above: Sequence[int], below: Sequence[int]) -> Text:
    """A letter for the ink of two pixels."""
    most = len(LETTERS) - 1
    sums = [up + low for up, low in zip(above, below, strict=True)]
    return Text("".join([LETTERS[each * most // (2 * INK)] for each in sums]))


def _colour(red_green_blue: Any) -> Color:
    return Color.from_rgb(*np.rint(red_green_blue).astype(int).tolist())
