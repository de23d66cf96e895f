"""How training is watched: on a screen that is redrawn, or as lines where there is none.

Comes in: a console and a training run. Goes out: what is printed meanwhile.
Never: a step; whoever trains says when one is done.
"""

import time
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from .picture import draw, lattice, side_for
from .training import Training

FRAMES_PER_SECOND = 12
LINES = 5
"""How often a step is told of where there is no screen."""


class View:
    """What somebody sees of a training run of so many steps; a context around it."""

    def __init__(self, console: Console, training: Training, steps: int) -> None:
        self.console, self.training, self.steps = console, training, steps
        self.lattice = lattice(side_for(console))

    def __enter__(self) -> "View":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.console.print(self.picture())

    def update(self, step: int, loss: Any) -> None:
        """So many steps are done; the last one had this loss."""
        if step == 1 or step % max(1, self.steps // LINES) == 0:
            self.console.print(f"step {step}: {self.told(loss)}")

    def told(self, loss: Any) -> str:
        """How well it goes, in words."""
        return f"loss {float(loss):.4f}, {self.training.right():.1%} right"

    def picture(self) -> Any:
        """What the network believes now."""
        scores = self.training.scores_at(self.lattice)
        return draw(self.console, scores, self.training.points, self.training.sides)


class Screen(View):
    """A picture that changes, and a bar below it."""

    def __init__(self, console: Console, training: Training, steps: int) -> None:
        super().__init__(console, training, steps)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=max(4, min(32, console.width - 24))),
            MofNCompleteColumn(),
            console=console,
        )
        self.task = self.progress.add_task("compiling", total=None)
        self.live = Live(self.progress, console=console, refresh_per_second=FRAMES_PER_SECOND)
        self.drawn = 0.0

    def __enter__(self) -> "Screen":
        self.live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def update(self, step: int, loss: Any) -> None:
        """Redraw, if the last time was long enough ago."""
        now = time.perf_counter()
        if step < self.steps and now - self.drawn < 1 / FRAMES_PER_SECOND:
            return
        self.progress.update(self.task, description="training", completed=step, total=self.steps)
        self.live.update(Group(self.picture(), self.progress, Text(self.told(loss))))
        self.drawn = now


def view_for(console: Console, training: Training, steps: int) -> View:
    """A screen, if there is one."""
    kind = Screen if console.is_interactive else View
    return kind(console, training, steps)
