"""The parts of the dashboard's screen.

Comes in: a run that is watched, and how a person wants to see it. Goes out: text in boxes.
Never: an event; parts look at the run when the screen is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.markup import escape
from textual.widget import Widget

from . import words
from .chart import AXIS, LABELS, STYLES, chart, legend
from .health import Health
from .watched import Watched

FLAME, DONE, WARNING = "#f2913d", "#6cc070", "#e5c07b"
STATE_STYLES = {
    "starting": LABELS,
    "training": STYLES["train"],
    "validating": STYLES["valid"],
    "done": DONE,
}
ROOMY = 60
"""From this width on, bars say how much of them is full."""


@dataclass
class View:
    """What is shown, and how."""

    watched: Watched = field(default_factory=Watched)
    health: Health | None = None
    metric: str = ""
    recent: bool = False
    smoothed: bool = True
    stopping: bool = False

    def metrics(self) -> list[str]:
        """The names of all metrics."""
        return list(self.watched.histories)

    def selected(self) -> str:
        """The metric that is plotted: the chosen one, if the run has it, or the first."""
        names = self.metrics()
        return self.metric if self.metric in names else next(iter(names), "")


class Part(Widget):
    """A part of the screen that looks at the view, in every so-manyth frame."""

    every: ClassVar = 1

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self._made: object = None

    def renew(self) -> None:
        """Draw it anew if it shows something else than before: that costs ten times as much as to
        see it."""
        made = self.render()
        if made != self._made:
            self._made = made
            self.refresh()


class Header(Part):
    """One line: the run's name, what it does, where."""

    def render(self) -> Text:
        watched, view = self.view.watched, self.view
        line = Text(" ▲ ", f"bold {FLAME}", no_wrap=True, overflow="ellipsis")
        line.append(watched.started.name or "brimstone")
        state, style = watched.state, STATE_STYLES[watched.state]
        if view.stopping and state != "done":
            state, style = "stopping after this step", WARNING
        line.append(f"  ● {state}", style)
        if watched.started.device:
            line.append(f"  on {watched.started.device}", LABELS)
        return line


class Plot(Part):
    """The selected metric over the steps; it costs more than all else together."""

    every = 3

    def renew(self) -> None:
        """There are new points whenever somebody looks."""
        self.refresh()

    def render(self) -> Text:
        view, name = self.view, self.view.selected()
        self.border_title = escape(name)
        self.border_subtitle = "recent" if view.recent else "all steps"
        histories = view.watched.histories.get(name, {})
        columns, rows = self.size
        drawn = chart(histories, columns, rows - 1, view.recent, view.smoothed)
        titled = "" if self.styles.border.top[0] else f"{name} "
        title = Text().append(titled, "bold").append_text(legend(name, view.watched.values))
        return Text("\n").join([title, drawn])


class Status(Part):
    """Facts of the run, and the latest values of all metrics."""

    def render(self) -> Text:
        width = self.size.width
        facts = [_row((name, LABELS), [(f" {text}", "")], width) for name, text in self._facts()]
        return Text("\n").join([*facts, Text(), *self._values(width)])

    def _facts(self) -> list[tuple[str, str]]:
        watched, started = self.view.watched, self.view.watched.started
        facts = [
            ("epoch", words.place(watched.epoch, started.epochs)),
            ("step", words.place(watched.step, started.steps)),
            ("time left", words.duration(0 if watched.ended else watched.left)),
            ("items/s", "?" if watched.rate is None else words.count(watched.rate)),
        ]
        if self.view.health is not None:
            health = self.view.health
            facts.append(("memory", words.amount(health.memory)))
            facts.append(("at most", words.amount(health.most_memory)))
            facts.append(("kernels", words.count(health.kernels)))
        if started.parameters:
            facts.append(("parameters", words.count(started.parameters)))
        return facts

    def _values(self, width: int) -> list[Text]:
        """The values of all metrics, those of each split below its name."""
        watched, names, chosen = self.view.watched, self.view.metrics(), self.view.selected()
        labels = [("", LABELS), *[_label(name, name == chosen) for name in names]]
        columns: list[list[tuple[str, str]]] = []
        for split, style in STYLES.items():
            cells = [split, *[_cell(watched.values.get((name, split))) for name in names]]
            wide = max(map(cell_len, cells))
            columns.append([(f" {cell:>{wide}}", style) for cell in cells])
        rows = zip(labels, *columns, strict=True)
        return [_row(label, values, width) for label, *values in rows]


def _label(name: str, is_chosen: bool) -> tuple[str, str]:
    return ("▸ " + name, "bold") if is_chosen else ("  " + name, LABELS)


def _cell(value: float | None) -> str:
    return "" if value is None else words.value(value)


def _row(left: tuple[str, str], right: list[tuple[str, str]], width: int) -> Text:
    """A line of so many columns with styled texts at both ends; the one on the left gives way.

    A table of `rich` would be measured again and again: it takes ten times as long.
    """
    end = Text.assemble(*right)
    row = Text(no_wrap=True).append(*left)
    row.truncate(max(0, width - end.cell_len), overflow="ellipsis", pad=True)
    return row.append_text(end)


class Gauges(Part):
    """How far the epoch is, and the run."""

    def render(self) -> Text:
        watched = self.view.watched
        batch, started = watched.batch, watched.started
        done = batch.place if batch else 0
        of = batch.of if batch else None
        split = batch.split if batch else "train"
        run = f"epoch {words.place(watched.epoch, started.epochs)}"
        left = watched.left
        if watched.ended:
            run += f"  {watched.ended.reason}"
        elif left is not None:
            run += f"  {words.duration(left)} left"
        rows = [
            (split, STYLES[split], done / of if of else 0.0, words.place(done, of)),
            ("run", DONE, watched.done or 0.0, run),
        ]
        return Text("\n").join(self._bar(*row) for row in rows)

    def _bar(self, name: str, style: str, part: float, text: str) -> Text:
        roomy = self.size.width >= ROOMY
        width = max(4, self.size.width - (38 if roomy else 31))
        halves = round(part * width * 2)
        bar = Text(f" {name:<6}", LABELS, no_wrap=True, overflow="crop")
        bar.append("━" * (halves // 2) + "╸" * (halves % 2), style)
        bar.append("─" * (width - (halves + 1) // 2), AXIS)
        bar.append(f" {part:>4.0%}  " if roomy else " ", "bold")
        return bar.append(text, LABELS)


class Notes(Part):
    """What the run said last."""

    def render(self) -> Text:
        lines = list(self.view.watched.notes)[-max(1, self.size.height) :]
        return Text("\n").join(
            Text(f" {line}", LABELS, no_wrap=True, overflow="ellipsis") for line in lines
        )
