"""A run on a screen of its own: plots, progress, status, keys.

Comes in: events. Goes out: a process that draws them, and a `Stop` when a person asks for one.
Never: a screen that is drawn in this process: it trains, and drawing would take the interpreter
from it many times a second. If the screen is lost, the run goes on, and lines tell of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from importlib.util import find_spec
from threading import Event as Signal
from threading import Thread
from typing import Any, Protocol

from ...frontend.errors import ArgumentError, fail
from ..events import Event, Note, Progress
from .captured import Capture
from .health import health
from .lines import Lines, line
from .messages import packed
from .renderer import Renderer
from .watched import Watched

SECONDS_BETWEEN = 0.5
HEALTH_EVERY = 4
"""How the process is, is said in each so-manyth message."""
UNTOLD_AT_MOST = 100_000
LOST = "the dashboard has gone ({}); the run goes on"


class Screen(Protocol):
    """What draws, as seen from here; `Link` is one."""

    def send(self, messages: list[Any], /) -> None: ...
    def wish(self) -> bool: ...
    def close(self) -> None: ...


class Dashboard(Renderer):
    """The screen, while this context lasts; needs `textual`, of the extra `train`."""

    def __init__(self, start: Callable[[], Screen] | None = None) -> None:
        super().__init__()
        if find_spec("textual") is None:
            fail(
                ArgumentError,
                "Dashboard",
                "the library `textual` is not installed",
                hint="pip install 'brimstone[train]', or take `Bars` or `Lines`",
            )
        self._start = start or _link
        self._untold = deque[Event](maxlen=UNTOLD_AT_MOST)
        self._kept: dict[Any, Event] = {}
        self._over, self._lost = Signal(), False
        self._lines = Lines()

    def __enter__(self) -> Dashboard:
        self._screen = self._start()
        super().__enter__()
        self._untold.clear()
        self._kept.clear()
        self._over, self._lost = Signal(), False
        self._capture = Capture(lambda text: self._untold.append(Note(text)))
        self._capture.begin()
        self._sender = Thread(target=self._send_all, name="dashboard", daemon=True)
        self._sender.start()
        Thread(target=self._hear, name="dashboard keys", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        try:
            self._sender.join()
        finally:  # a second Ctrl-C may come even now
            super().__exit__(*error)
            self._leave()

    def _leave(self) -> None:
        """Give the terminal back, and say there how the run went."""
        if self._lost:
            return
        try:
            self._screen.close()
        finally:
            self._capture.end()
        for text in summary(self._kept.values()):
            print(text)

    def show(self, event: Event) -> None:
        if self._lost:
            self._lines.show(event)
            return
        self._untold.append(event)
        if not isinstance(event, Progress | Note):
            self._kept[type(event), getattr(event, "split", "")] = event

    def _send_all(self) -> None:
        """Tell the screen of events until the run is over, or the screen is."""
        rounds = 0
        try:
            while not self._over.wait(SECONDS_BETWEEN):
                about = [] if rounds % HEALTH_EVERY else [health()]
                self._send(about)
                rounds += 1
            self._send([])
        except Exception as problem:  # whatever it is, the run is worth more
            self._lose(problem)

    def _lose(self, problem: Exception) -> None:
        """Go on with lines, and first with what has been told before."""
        self._screen.close()
        self._capture.end()
        for event in [*self._kept.values(), Note(LOST.format(repr(problem)))]:
            self._lines.show(event)
        self._lost = True

    def _send(self, also: list[Any]) -> None:
        messages = packed([self._untold.popleft() for _ in range(len(self._untold))])
        if messages or also:
            self._screen.send(messages + also)

    def _hear(self) -> None:
        while self._screen.wish():
            if not self._over.is_set():
                self.interrupt.ask()


def summary(events: Any) -> list[str]:
    """What stays to be read when the screen is gone: how the run began, where it is, how it
    ended."""
    watched = Watched()
    found: list[str] = []
    for event in events:
        watched.take(event)
        found.append(line(event, watched))
    return found


def _link() -> Screen:
    from .link import Link

    return Link()
