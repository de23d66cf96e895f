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
from .dots import Dots, Place
from .history import History, Point

STYLES: dict[Split, str] = {"train": "#5b9cf5", "valid": "#f2913d"}
PALE: dict[Split, str] = {"train": "#2c4a78", "valid": "#7a4a22"}
AXIS, LABELS = "#4a5261", "#8b95a5"
SMOOTHING = 0.9
SMALLEST = (24, 5)
"""Columns and rows below which there are no axes."""


def chart(
    histories: Mapping[Split, History], columns: int, rows: int, recent: bool, smoothed: bool
) -> Text:
    """The plot, so many characters wide and high."""
    points = shown(histories, recent)
    if not points:
        return Text("nothing to plot yet", LABELS)
    drawing = Drawing(points, smoothed)
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        return Text("\n").join(drawing.curves(max(0, columns), rows).lines())
    return Text("\n").join(drawing.with_axes(columns, rows))


def legend(name: str, values: Mapping[tuple[str, Split], float]) -> Text:
    """What the colours mean, with the latest values."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for split, style in STYLES.items():
        if (name, split) in values:
            text.append(" ━ ", style).append(f"{split} ", LABELS)
            text.append(f"{words.value(values[name, split])}  ", style)
    return text


def shown(histories: Mapping[Split, History], recent: bool) -> dict[Split, list[Point]]:
    """The points to draw; of validation, where only recent steps are, those since the first."""
    trained = histories["train"].recent() if "train" in histories else []
    since = trained[0].step if trained else 0.0
    found: dict[Split, list[Point]] = {}
    for split, history in histories.items():
        last = [point for point in history.recent() if point.step >= since]
        found[split] = last if recent else history.all()
    return {split: points for split, points in found.items() if points}


class Drawing:
    """Points of curves, and the steps and values that they lie between."""

    def __init__(self, points: Mapping[Split, Sequence[Point]], smoothed: bool) -> None:
        self.points, self.smoothed = points, smoothed
        every = [point for each in points.values() for point in each]
        first, last = min(every).step, max(every).step
        self.first, self.last = (first, last) if first < last else padded(first, last)
        values = [end for point in every for end in (point.low, point.high)]
        self.low, self.high = padded(*extent(values))

    def curves(self, columns: int, rows: int) -> Dots:
        """Curves: a noisy one pale, from its lowest to its highest values, its mean on top."""
        dots = Dots(columns, rows)
        for split in sorted(self.points):
            points = self.points[split]
            steps, means = [point.step for point in points], [point.mean for point in points]
            noisy = self.smoothed and len(points) >= NOISY_FROM
            for step, _, low, high in points if noisy else ():
                (across, top), (_, bottom) = (self._place(dots, step, end) for end in (high, low))
                dots.column(round(across), round(top), round(bottom), PALE[split])
            self._join(dots, steps, means, PALE[split] if noisy else STYLES[split])
            if noisy:
                self._join(dots, steps, smooth(means, SMOOTHING), STYLES[split])
        return dots

    def with_axes(self, columns: int, rows: int) -> list[Text]:
        """Curves with values beside them and steps below."""
        rows -= 2
        ticks = spaced(self.low, self.high, at_most=max(3, min(8, rows * 2 // 5)))
        labels = texts(ticks)
        margin = max(map(len, labels)) + 1
        beside = dict(zip([self._row(tick, rows) for tick in ticks], labels, strict=True))
        dots = self.curves(columns - margin - 1, rows)
        found = list[Text]()
        for row, drawn in enumerate(dots.lines()):
            label = beside.get(row, "")
            line = Text(f"{label:>{margin - 1}} ", LABELS).append("┤" if label else "│", AXIS)
            found.append(line.append_text(drawn))
        return [*found, *self._steps(dots.columns, margin)]

    def _steps(self, columns: int, margin: int) -> list[Text]:
        """The line below, and the numbers below that."""
        ticks = spaced(self.first, self.last, at_most=max(2, columns // 12), whole=True)
        line, numbers = ["─"] * columns, [" "] * (columns + margin + 1)
        for tick, label in zip(ticks, texts(ticks), strict=True):
            part = (tick - self.first) / (self.last - self.first)
            column = min(columns - 1, int(part * columns))
            line[column] = "┬"
            first = max(0, min(margin + 1 + column - len(label) // 2, len(numbers) - len(label)))
            if set(numbers[max(0, first - 1) : first + len(label)]) == {" "}:
                numbers[first : first + len(label)] = label
        below = Text(" " * margin).append("└" + "".join(line), AXIS)
        return [below, Text("".join(numbers), LABELS)]

    def _row(self, value: float, rows: int) -> int:
        return min(rows - 1, int((self.high - value) / (self.high - self.low) * rows))

    def _join(
        self, dots: Dots, steps: Sequence[float], values: Sequence[float], style: str
    ) -> None:
        places = [self._place(dots, *each) for each in zip(steps, values, strict=True)]
        for start, end in pairwise(places if places[1:] else places * 2):
            dots.line(start, end, style)

    def _place(self, dots: Dots, step: float, value: float) -> Place:
        """Where a value at a step is; one that is not shown is at the edge."""
        right = (step - self.first) / (self.last - self.first)
        down = (self.high - min(max(value, self.low), self.high)) / (self.high - self.low)
        return right * (dots.width - 1), down * (dots.height - 1)
