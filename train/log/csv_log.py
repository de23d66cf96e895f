"""A log as comma-separated values: a column a value.

Comes in: events. Goes out: `metrics.csv`, which spreadsheets open; a value that a row does not have
is an empty field.
Never: a file whose rows differ in length. Where a value is new, all rows get its column, once.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any, cast

from .row import Row
from .text_log import TextLog

ABOUT = ("step", "epoch", "split", "scope")
"""The first columns; those of values follow in the order in which they were first there."""


class CsvLog(TextLog):
    """Writes `metrics.csv` in a folder."""

    file_name = "metrics.csv"
    _names: tuple[str, ...] = ()

    def line(self, row: Row) -> str:
        new = [name for name in row.values if name not in self._names]
        if new:
            self._widen(new)
        fields = (row.values.get(name, "") for name in self._names)
        return as_line([row.step, row.epoch, row.split, row.scope, *fields])

    def step_of(self, line: str) -> int:
        (fields,) = csv.reader([line])
        if len(fields) != len(ABOUT) + len(self._names):
            raise ValueError("too many fields, or too few")
        return int(fields[0])

    def kept(self, lines: list[str], step: int) -> list[str]:
        header = lines[:1]
        (columns,) = csv.reader(header) if header else ([],)
        self._names = tuple(columns[len(ABOUT) :])
        return header + super().kept(lines[1:], step)

    def _widen(self, new: list[str]) -> None:
        rows = [f"{line.rstrip()}{',' * len(new)}\n" for line in self.whole_lines()[1:]]
        self._names = (*self._names, *new)
        self.replace([as_line([*ABOUT, *self._names]), *rows])


def rows_of(lines: Iterable[str]) -> Iterator[Row]:
    """The rows of a file; its first line names the columns."""
    for fields in csv.DictReader(lines):
        step, epoch, split, scope = (cast("Any", fields.pop(name)) for name in ABOUT)
        values = {name: float(field) for name, field in fields.items() if field}
        yield Row(int(step), int(epoch), split, scope, values)


def as_line(fields: Iterable[Any]) -> str:
    """Fields as a line, those quoted that need it."""
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerow(fields)
    return written.getvalue()
