"""The text of a func, each line of which knows the op that it shows.

Comes in: a func, and what its values are called. Goes out: its lines.
Never: a second printer; the lines are those of `ir.printer`.
"""

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from ...ir.func import Func
from ...ir.locations import Location
from ...ir.printer import print_func
from ...ir.values import Op
from .names import Names, called


class Line(NamedTuple):
    """One line of a func.

    `key` is the same before and after a pass if the line shows the same part of the same op.
    """

    key: Hashable
    text: str
    location: Location

    @property
    def defined(self) -> str | None:
        """The names of the values that the line defines, as one text."""
        names, found, _ = self.text.lstrip().partition(" = ")
        return names if found and names.startswith("%") else None


def lines_of(func: Func, names: Names) -> list[Line]:
    """All lines of a func, from `func` to its closing brace."""
    with called(names.of(func)):
        header, *inner, last = print_func(func).rstrip("\n").split("\n")
    return [
        Line("header", header, func.location),
        *_inner_lines(func, inner),
        Line("end", last, func.location),
    ]


def _inner_lines(func: Func, texts: list[str]) -> Iterator[Line]:
    """The printer writes ops in the order of `walk`, and a line that begins with a brace after
    each region of an op, which also opens the next one."""
    ops = func.walk()
    opened: list[tuple[Op, int]] = []
    for text in texts:
        op, part = (next(ops), 0) if not text.lstrip().startswith("}") else opened.pop()
        yield Line((op, part), text, op.location)
        if part < len(op.regions):
            opened.append((op, part + 1))
