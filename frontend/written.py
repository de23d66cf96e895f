"""Functions that are written out as text, where they run so often that each call in them counts.

Comes in: lines of Python, and the objects of which they speak. Goes out: the function. Equal texts
are compiled once, whatever they speak of, and tracebacks show them.
Never: anything of a user's in a text; what is his is among the objects.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from textwrap import indent
from typing import Any

_AT_MOST = 1024
"""So many texts are kept compiled."""
_numbers = count(1)


class Text:
    """The body of a function that is being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._objects: list[Any] = []
        self._names: dict[int, str] = {}

    def add(self, *lines: str) -> None:
        """Write lines behind those before."""
        self.lines += lines

    def name(self, value: Any, like: str) -> str:
        """What an object is called in the text, where it is the first: `like`, and a number. One
        and the same object is called the same."""
        if id(value) not in self._names:
            self._names[id(value)] = f"{like}_{len(self._objects)}"
            self._objects.append(value)
        return self._names[id(value)]

    def function(self, parameters: str) -> Any:
        """The function that has these parameters and this body."""
        names = ", ".join(self._names.values())
        body = indent("\n".join(self.lines), " " * 8)
        made = f"def write({names}):\n    def written({parameters}):\n{body}\n    return written\n"
        return _compiled(made)(*self._objects)


def tuple_of(parts: Sequence[str]) -> str:
    """The tuple of some expressions."""
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


@lru_cache(_AT_MOST)
def _compiled(text: str) -> Callable[..., Any]:
    """What makes a function of the objects that a text speaks of."""
    file = f"{__file__}, text {next(_numbers)}"  # which lies in the package, as far as lines matter
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    namespace: dict[str, Any] = {}
    exec(compile(text, file, "exec"), namespace)
    return namespace["write"]
