"""Lines and edits as numbers: what a page keeps instead of a whole text for each pass.

Comes in: lines, and which became which. Goes out: a table in which every line stands once, and
runs of edits: `[kind, count, first, kind, count, first, …]`, where `first` is the place in the
table of the first line that comes in; those of the rest of the run follow it.
Never: two lines that differ only in where a pass left them.
"""

from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import Generic, TypeVar

from ...ir.locations import Location, Place
from .align import align
from .lines import Line

T = TypeVar("T", bound=Hashable)


class Edit(IntEnum):
    """What becomes of a line before a pass, or where a line after it comes from."""

    KEEP = 0
    REMOVE = 1
    ADD = 2
    CHANGE = 3
    MOVE_HOME = 4  # the text stays, and the op stands for other lines of the user


class Table(Generic[T]):
    """Distinct items, by their places."""

    def __init__(self) -> None:
        self._places: dict[T, int] = {}

    def add(self, item: T) -> int:
        """The place of an item, which is new if the item is."""
        return self._places.setdefault(item, len(self._places))

    @property
    def items(self) -> list[T]:
        """The items, in order of their places."""
        return list(self._places)


class LineTable:
    """Every text together with its home, and the homes: the user's lines, as places."""

    def __init__(self) -> None:
        self.lines: Table[tuple[str, int]] = Table()
        self.homes: Table[Location] = Table()
        self.places: Table[Place] = Table()

    def home(self, location: Location) -> int:
        """The place of a location in the table of homes."""
        for place in location:
            self.places.add(place)
        return self.homes.add(location)

    def edits(self, before: Sequence[Line], after: Sequence[Line]) -> list[int]:
        """The runs of edits that make `after` from `before`."""
        old = [self._place(line) for line in before]
        new = [self._place(line) for line in after]
        runs = _Runs()
        for row in align(before, after):
            if row.after is None:
                runs.add(Edit.REMOVE)
            elif row.before is None:
                runs.add(Edit.ADD, new[row.after])
            elif old[row.before] == new[row.after]:
                runs.add(Edit.KEEP)
            elif before[row.before].text == after[row.after].text:
                runs.add(Edit.MOVE_HOME, new[row.after])
            else:
                runs.add(Edit.CHANGE, new[row.after])
        return runs.numbers

    def _place(self, line: Line) -> int:
        return self.lines.add((line.text, self.home(line.location)))


class _Runs:
    """Edits one by one become runs; an edit that brings no line in has 0 for its first line."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._next = -1

    def add(self, edit: Edit, line: int | None = None) -> None:
        numbers = self.numbers
        if numbers and numbers[-3] == edit and line in (None, self._next):
            numbers[-2] += 1
        else:
            numbers += [edit, 1, line or 0]
        self._next = -1 if line is None else line + 1
