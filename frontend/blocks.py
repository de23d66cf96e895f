"""What blocks of `with` say to the functions that run in them.

Comes in: values, as blocks begin. Goes out: the value of the innermost block of this thread.
Never: what a block said after it has ended, in whichever order they end: a generator leaves its
blocks when somebody ends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any


class Blocks(local):
    """The blocks that this thread is in; each has an entry of its own."""

    def __init__(self) -> None:
        self._entries: list[list[Any]] = []

    @property
    def innermost(self) -> Any:
        """What the innermost block says; None outside of all."""
        return self._entries[-1][0] if self._entries else None

    @contextmanager
    def saying(self, value: Any) -> Iterator[None]:
        """While the block runs, it says this."""
        entries, entry = self._entries, [value]
        entries.append(entry)
        try:
            yield
        finally:
            entries[:] = [each for each in entries if each is not entry]
