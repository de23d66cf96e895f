"""What all renderers have in common: they show events, and hand on that somebody wants to stop.

Comes in: events. Goes out: whatever a person sees; and a `Stop`, once asked for.
Never: a step that waits for a screen.
"""

from __future__ import annotations

from ..events import Ended, Event, Note, Stop
from .interrupt import Interrupt

STOPPING = "stopping after this step; once more ends at once"


class Renderer:
    """A listener that shows a run; a context around it, in which Ctrl-C ends the run gently."""

    def __init__(self) -> None:
        self.interrupt = Interrupt()
        self._told_of_stop = False
        self.is_open = False
        """Whether this context lasts; the Learner enters those that are not open yet."""

    def __enter__(self) -> Renderer:
        self._told_of_stop = False
        self.interrupt.__enter__()
        self.is_open = True
        return self

    def __exit__(self, *error: object) -> None:
        self.is_open = False
        self.interrupt.__exit__(*error)

    def __call__(self, event: Event) -> Stop | None:
        """Show an event, soon."""
        stop = self.interrupt.stop
        if stop is not None and not self._told_of_stop and not isinstance(event, Ended):
            self._told_of_stop = True
            self.show(Note(STOPPING))
        self.show(event)
        return stop

    def show(self, event: Event) -> None:
        """Take an event from the thread that trains, at the cost of a few microseconds."""
        raise NotImplementedError
