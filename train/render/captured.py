"""What a program prints while the screen belongs to a dashboard.

Comes in: text that is written. Goes out: lines, to whom it may concern, at once; and later all of
it, to where it should have gone.
Never: all the memory; of very much text the end is kept.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from io import TextIOBase
from typing import Any

LINES = 10_000


class Captured(TextIOBase):
    """A stream of text whose lines are told and kept."""

    def __init__(self, tell: Callable[[str], Any]) -> None:
        super().__init__()
        self._tell, self._line = tell, ""
        self._lines = deque[str](maxlen=LINES)

    @property
    def encoding(self) -> str:
        """What programs ask for that want to know what they can print."""
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._lines.append(line + "\n")
            if line.strip():
                self._tell(line)
        return len(text)

    def text(self) -> str:
        """What was written, or the end of it."""
        return "".join(self._lines) + self._line


class Capture:
    """Both standard streams, from `begin` to `end`."""

    def __init__(self, tell: Callable[[str], Any]) -> None:
        self._before = sys.stdout, sys.stderr
        self._held = Captured(tell), Captured(tell)

    def begin(self) -> None:
        """Take the place of the streams."""
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self._held

    def end(self) -> None:
        """Put them back, if that is still to be done, and write to them what was held back."""
        if sys.stdout is not self._held[0]:
            return
        sys.stdout, sys.stderr = self._before
        for stream, held in zip(self._before, self._held, strict=True):
            stream.write(held.text())
            stream.flush()
