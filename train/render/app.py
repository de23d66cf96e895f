"""The dashboard's screen: plots, progress, status and keys, in a terminal.

Comes in: messages, in a queue that another thread fills; keys. Goes out: the screen; and a
call whenever a person asks the run to stop.
Never: training; it runs in another process, which a slow terminal does not hold up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer

from .budget import Budget
from .health import Health
from .help import Help
from .messages import Message
from .panels import Gauges, Header, Notes, Part, Plot, Status, View

FRAMES_A_SECOND = 5
LEAVE_AFTER = 3
"""So often a person asks to stop until the screen is given up: a run may be stuck."""
KEYS: list[Binding] = [
    Binding(
        "q,ctrl+c,ctrl+q", "stop", "stop", key_display="q", priority=True,
        tooltip="stop after this step, as Ctrl-C does; twice: at once; three times: leave",
    ),
    Binding("question_mark", "help", "help", key_display="?", tooltip="this help"),
    Binding("right", "metric(1)", "metric", key_display="→", tooltip="the next metric"),
    Binding("left", "metric(-1)", show=False, key_display="←", tooltip="the metric before"),
    Binding("f", "span", "recent", key_display="f", tooltip="recent steps, or all"),
    Binding("s", "smooth", "smooth", key_display="s", tooltip="running means, or only values"),
]  # fmt: skip


class DashboardApp(App[None]):
    """The screen, which takes what is in `inbox` a few times a second; None is the last."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "brimstone"
    BINDINGS: ClassVar = [*KEYS]
    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (72, "-wide")]
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-short"), (20, "-high")]
    CSS = """
    Screen { background: #14171c; color: #d7dce4; }
    Header { height: 1; background: #1d222a; }
    Plot { border: round #39414e; border-title-color: #d7dce4; border-title-style: bold;
           border-subtitle-color: #8b95a5; padding: 0 1; width: 1fr; height: 1fr; }
    Status { border: round #39414e; width: 34; height: 1fr; padding: 0 1; }
    Gauges { height: 2; }
    Notes { height: 4; border-top: solid #2a303a; }
    Footer { background: #1d222a; }
    #body { height: 1fr; }
    .-narrow Status { display: none; }
    .-short Notes { display: none; }
    .-short Plot { border: none; padding: 0; }
    Help { align: center middle; background: #14171c 70%; }
    #help { width: 64; max-width: 96%; height: auto; max-height: 90%; padding: 1 2;
            border: round #f2913d; background: #1d222a; }
    .pale { color: #8b95a5; }
    """

    def __init__(
        self,
        inbox: deque[Message | None],
        ask: Callable[[], None],
        budget: Callable[[], Budget] = Budget,
    ) -> None:
        super().__init__()
        self._new_budget = budget
        self.view, self._inbox, self._ask = View(), inbox, ask
        self._asked = self._frame = 0
        self._is_whole = True

    def compose(self) -> ComposeResult:
        yield Header(self.view)
        with Vertical(id="body"), Horizontal():
            yield Plot(self.view)
            yield Status(self.view)
        yield Gauges(self.view)
        yield Notes(self.view)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to look into the inbox."""
        self._budget = self._new_budget()
        self.set_interval(1 / FRAMES_A_SECOND, self.look)

    def look(self) -> None:
        """Take what has come, and draw what is to be drawn then; at last, all. Over budget it waits
        in the inbox: to take much at once costs less."""
        is_last = bool(self._inbox) and self._inbox[-1] is None
        if self._budget.is_over() and not is_last:
            return
        if self._inbox:
            while self._inbox:
                self._take(self._inbox.popleft())
            self.draw(self._frame)
            self._is_whole = self._frame == 0
            self._frame = (self._frame + 1) % Plot.every
        elif not self._is_whole:
            self.draw()
            self._is_whole = True

    def _take(self, message: Message | None) -> None:
        if message is None:
            self.exit()
        elif isinstance(message, Health):
            self.view.health = message
        else:
            self.view.watched.take(message)

    def draw(self, frame: int = 0) -> None:
        """Show the view as it is now, all of it or what is drawn in this frame."""
        for part in self.screen_stack[0].query(Part):
            if frame % part.every == 0:
                part.renew()

    def action_metric(self, step: int) -> None:
        """Plot another metric."""
        names = self.view.metrics()
        if names:
            at = names.index(self.view.selected()) + step
            self.view.metric = names[at % len(names)]
            self.draw()

    def action_span(self) -> None:
        """All steps, or recent ones."""
        self.view.recent = not self.view.recent
        self.draw()

    def action_smooth(self) -> None:
        """Running means, or values as they are."""
        self.view.smoothed = not self.view.smoothed
        self.draw()

    def action_stop(self) -> None:
        """Ask the run to stop."""
        self._asked += 1
        self.view.stopping = True
        self._ask()
        self.draw()
        if self._asked == LEAVE_AFTER:
            self.exit()

    def action_help(self) -> None:
        """Say what the keys do."""
        self.push_screen(Help(KEYS))
