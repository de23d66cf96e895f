"""A run as two bars that move, for terminals: of the epoch, and of the whole.

Comes in: events. Goes out: bars, redrawn a few times a second by a thread of their own, and above
them a line for each epoch, checkpoint and note.
Never: a bar that is drawn by the thread that trains.
"""

from __future__ import annotations

from collections import deque
from threading import Lock

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..events import Event, Progress
from . import words
from .chart import STYLES
from .lines import line
from .renderer import Renderer
from .watched import Watched

FRAMES_A_SECOND = 4
"""Each takes the interpreter a millisecond or two from the thread that trains."""
WIDEST = 48


class Bars(Renderer):
    """Bars at the bottom of a console; a context, in which they move."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__()
        self.console = console or Console()
        self._watched = Watched()
        self._untold, self._taking = deque[Event](), Lock()
        self._live = Live(
            get_renderable=self.picture,
            console=self.console,
            refresh_per_second=FRAMES_A_SECOND,
            transient=True,
        )

    def __enter__(self) -> Bars:
        super().__enter__()
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()
        super().__exit__(*error)

    def show(self, event: Event) -> None:
        self._untold.append(event)
        if not isinstance(event, Progress):
            self._take()
            self.console.print(Text(line(event, self._watched)))

    def picture(self) -> Group:
        """What stands at the bottom now."""
        self._take()
        watched = self._watched
        table = Table.grid(padding=(0, 1))
        batch, started = watched.batch, watched.started
        if watched.state == "done" or batch is None:
            return Group()
        place = words.place(batch.place, batch.of)
        part = batch.place / batch.of if batch.of else None
        rate = f"{words.count(watched.rate or 0)} items/s"
        table.add_row(batch.split, self._bar(part), place, rate)
        place = f"epoch {words.place(watched.epoch, started.epochs)}"
        left = f"{words.duration(watched.left)} left" if watched.left is not None else ""
        table.add_row("run", self._bar(watched.done), place, left)
        return Group(table, Text(words.values(batch.latest), style="cyan", overflow="ellipsis"))

    def _bar(self, part: float | None) -> ProgressBar:
        """A bar, which only moves to and fro where nobody knows how much there is."""
        width = max(8, min(WIDEST, self.console.width - 40))
        done = STYLES[self._watched.batch.split] if self._watched.batch else ""
        return ProgressBar(
            1.0, part or 0.0, width, pulse=part is None, complete_style=done, finished_style=done
        )

    def _take(self) -> None:
        with self._taking:
            while self._untold:
                self._watched.take(self._untold.popleft())
