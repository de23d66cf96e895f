"""A plot of one metric, as text: axes with ticks, training and validation in two colours.

Comes in: the histories of a metric, and how many characters there is room for. Goes out: text.
Never: more than fits, however little that is; axes go first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from rich.text import Text

from ..events import Split
from ..plot.extent import NOISY_FROM, extent
from ..plot.smooth import smooth
from ..plot.ticks import padded, spaced, texts
from . import words
from .dots import Dots
from .history import History, Point

STYLES: dict[Split, str] = {"train": "#5b9cf5", "valid": "#f2913d"}
PALE: dict[Split, str] = {"train": "#2c4a78", "valid": "#7a4a22"}
AXIS, LABELS = "#4a5261", "#8b95a5"
SMOOTHING = 0.9
SMALLEST = (24, 5)
"""Columns and rows below which there are no axes."""
Ends = tuple[float, float]


def chart(
    histories: Mapping[Split, History], columns: int, rows: int, recent: bool, smoothed: bool
) -> Text:
    """The plot, so many characters wide and high."""
    points = _shown(histories, recent)
    if not points:
        return Text("nothing to plot yet", LABELS)
    if columns < 1 or rows < 1:
        return Text()
    steps = [point.step for each in points.values() for point in each]
    values = [point.mean for each in points.values() for point in each]
    ends = min(steps), max(steps)
    across = ends if ends[0] < ends[1] else padded(*ends)
    up = padded(*extent(values))
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        dots = _drawn(points, Dots(columns, rows), across, up, smoothed)
        return Text("\n").join(dots.text(row) for row in range(rows))
    return _with_axes(points, (columns, rows), across, up, smoothed)


def legend(name: str, watched: Mapping[tuple[str, Split], float]) -> Text:
    """What the colours mean, with the latest values."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for split, style in STYLES.items():
        if (name, split) in watched:
            text.append(" ━ ", style).append(f"{split} ", LABELS)
            text.append(f"{words.value(watched[name, split])}  ", style)
    return text


def _shown(histories: Mapping[Split, History], recent: bool) -> dict[Split, list[Point]]:
    """The points to draw; of validation, where only recent steps are, those since the first."""
    if not recent:
        return {split: history.all() for split, history in histories.items()}
    trained = histories["train"].recent() if "train" in histories else []
    since = trained[0].step if trained else 0.0
    found: dict[Split, list[Point]] = {}
    for split, history in histories.items():
        found[split] = [point for point in history.recent() if point.step >= since]
    return {split: each for split, each in found.items() if each}


def _with_axes(
    points: Mapping[Split, list[Point]],
    size: tuple[int, int],
    across: Ends,
    up: Ends,
    smoothed: bool,
) -> Text:
    columns, rows = size
    rows -= 2
    ticks = spaced(*up, at_most=max(3, rows // 3))
    labels = texts(ticks)
    margin = max(map(len, labels)) + 1
    dots = _drawn(points, Dots(columns - margin - 1, rows), across, up, smoothed)
    beside = {
        min(rows - 1, int((up[1] - tick) / (up[1] - up[0]) * rows)): label
        for tick, label in zip(ticks, labels, strict=True)
    }
    lines = list[Text]()
    for row in range(rows):
        label = beside.get(row, "")
        line = Text(f"{label:>{margin - 1}} ", LABELS).append("┤" if label else "│", AXIS)
        lines.append(line.append_text(dots.text(row)))
    return Text("\n").join([*lines, *_axis_of_steps(across, dots.columns, margin)])


def _axis_of_steps(across: Ends, columns: int, margin: int) -> list[Text]:
    """The line below, and the numbers below that."""
    ticks = spaced(*across, at_most=max(2, columns // 12), whole=True)
    line, numbers = ["─"] * columns, [" "] * (columns + margin + 1)
    for tick, label in zip(ticks, texts(ticks), strict=True):
        column = min(columns - 1, int((tick - across[0]) / (across[1] - across[0]) * columns))
        line[column] = "┬"
        first = max(0, min(margin + 1 + column - len(label) // 2, len(numbers) - len(label)))
        if all(each == " " for each in numbers[max(0, first - 1) : first + len(label)]):
            numbers[first : first + len(label)] = label
    below = Text(" " * margin).append("└" + "".join(line), AXIS)
    return [below, Text("".join(numbers), LABELS)]


def _drawn(
    points: Mapping[Split, list[Point]], dots: Dots, across: Ends, up: Ends, smoothed: bool
) -> Dots:
    """Curves: a noisy one pale, and what it is in the mean on top of it."""

    def place(step: float, value: float) -> tuple[float, float]:
        right = (step - across[0]) / (across[1] - across[0])
        down = (up[1] - min(max(value, up[0]), up[1])) / (up[1] - up[0])
        return right * (dots.width - 1), down * (dots.height - 1)

    def join(steps: Sequence[float], values: Sequence[float], style: str) -> None:
        places = [place(*each) for each in zip(steps, values, strict=True)]
        for start, end in pairwise(places if places[1:] else places * 2):
            dots.line(start, end, style)

    for split in sorted(points):
        steps, means = [p.step for p in points[split]], [p.mean for p in points[split]]
        noisy = smoothed and len(means) >= NOISY_FROM
        join(steps, means, PALE[split] if noisy else STYLES[split])
        if noisy:
            join(steps, smooth(means, SMOOTHING), STYLES[split])
    return dots
