"""The picture of what a network believes: the plane, coloured by side, with the points on it.

Comes in: scores on a lattice of places, and the points. Goes out: something that `rich` prints.
Never: a colour where the console shows none; letters take their place there.
"""

from typing import Any

import numpy as np
from rich.color import Color
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

Array = np.ndarray[Any, np.dtype[Any]]

REACH = 1.1
"""The plane is shown from -REACH to REACH."""
LARGEST, SMALLEST, OTHER_ROWS = 48, 16, 8
"""How many dots a side has, and how many rows of a terminal the rest of the show takes."""
FIRST, MIDDLE, SECOND = (242, 142, 43), (28, 28, 34), (66, 133, 205)
"""The colours of the first spiral, of doubt, and of the second."""
FIELD, POINT = 0.45, 1.0
"""How strong the colour of the plane and that of a point are."""
LETTERS = ".-+#"
"""From surely the second spiral to surely the first."""


def side_for(console: Console) -> int:
    """How many dots, and columns, the picture's side has on a console; an even number."""
    rows = console.height - OTHER_ROWS if console.is_interactive else LARGEST
    return max(SMALLEST, min(LARGEST, console.width, 2 * rows) // 2 * 2)


def lattice(side: int) -> Array:
    """The place of each dot, row by row from the top, as points."""
    ticks = np.linspace(-REACH, REACH, side, dtype=np.float32)
    across, up = np.meshgrid(ticks, ticks[::-1])
    return np.stack([across.ravel(), up.ravel()], axis=1)


def draw(console: Console, scores: Array, points: Array, sides: Array) -> Segments:
    """The picture, from the scores at the lattice's places."""
    side = int(np.sqrt(scores.size))
    belief = np.tanh(scores.reshape(side, side).astype(np.float64) / 2)
    if shows_colours(console):
        return _blocks(colours(belief, points, sides))
    return Segments([Segment(line + "\n") for line in letters(belief)])


def shows_colours(console: Console) -> bool:
    """Whether coloured half-blocks can be shown."""
    encodes = console.encoding.lower().startswith("utf")
    return encodes and console.color_system is not None and not console.no_color


def letters(belief: Array) -> list[str]:
    """The plane in letters, a line for two rows of dots: a letter is twice as high as wide."""
    rows = (belief[0::2] + belief[1::2]) / 2
    ranks = np.clip((rows + 1) / 2 * len(LETTERS), 0, len(LETTERS) - 1).astype(int)
    return ["".join(LETTERS[rank] for rank in row) for row in ranks]


def colours(belief: Array, points: Array, sides: Array) -> Array:
    """The colour of each dot: that of the point on it, else a weaker one for what is believed."""
    strength = FIELD * belief
    place = _dots(points, len(belief))
    strength[place[:, 1], place[:, 0]] = POINT * sides
    ends = np.where(strength[..., None] > 0, FIRST, SECOND)
    return np.rint(MIDDLE + np.abs(strength)[..., None] * (ends - MIDDLE)).astype(int)


def _dots(points: Array, side: int) -> Array:
    """The column and the row of the dot that each point lies on."""
    place = (points * (1, -1) + REACH) / (2 * REACH) * (side - 1)
    return np.clip(np.rint(place), 0, side - 1).astype(int)


def _blocks(dots: Array) -> Segments:
    """Two rows of dots in each line: upper halves of blocks in front of the lower ones."""
    segments: list[Segment] = []
    for upper, lower in zip(dots[0::2], dots[1::2], strict=True):
        for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
            style = Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below))
            segments.append(Segment("\N{UPPER HALF BLOCK}", style))
        segments.append(Segment.line())
    return Segments(segments)
