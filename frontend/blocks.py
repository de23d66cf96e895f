"""What blocks of `with` say to the functions that run in them.

Comes in: values, as blocks begin. Goes out: the value of the innermost block of this thread, or of
this task of `asyncio`.
Never: what a block said after it has ended, in whichever order they end: a generator leaves its
blocks when somebody ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Blocks:
    """The blocks that a thread or a task is in; each has an entry of its own."""

    def __init__(self, name: str) -> None:
        self._entries: ContextVar[tuple[list[Any], ...]] = ContextVar(name, default=())
        self.around: Callable[[], tuple[list[Any], ...]] = self._entries.get
        """The entries around where it is called, the innermost last: to find none takes little."""

    @property
    def innermost(self) -> Any:
        """What the innermost block says; None outside of all."""
        entries = self._entries.get()
        return entries[-1][0] if entries else None

    @contextmanager
    def saying(self, value: Any) -> Iterator[None]:
        """While the block runs, it says this."""
        entry = [value]
        self._entries.set((*self._entries.get(), entry))
        try:
            yield
        finally:
            entries = self._entries.get()
            self._entries.set(tuple([each for each in entries if each is not entry]))
