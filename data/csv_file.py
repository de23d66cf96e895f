"""CSV files: a record is a row of named fields.

Comes in: a file in UTF-8. Goes out: a dataset of dicts, one text a column, or what a function makes
of it. The file is looked through once, to find where its records begin.
Never: a file kept in memory, or a row with too few or too many fields.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, BinaryIO

import numpy as np

from ..frontend.errors import ArgumentError, fail
from .dataset import Dataset
from .errors import Reading, refuse
from .records import Records

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Csv(Dataset):
    """The records of a CSV file, as dicts.

    The first record names the columns, unless `columns` does. `convert` has functions for columns
    that are no text: `{"age": int}`.
    """

    def __init__(
        self,
        path: Any,
        *,
        columns: Sequence[str] | None = None,
        convert: Mapping[str, Callable[[str], Any]] | None = None,
        delimiter: str = ",",
    ) -> None:
        if not isinstance(delimiter, str) or len(delimiter) != 1:
            fail(ArgumentError, "Csv", f"the delimiter is {delimiter!r}, no single character")
        self.delimiter = delimiter
        if convert is not None and not isinstance(convert, Mapping):
            hint = "`convert={'x': float}` has a function for each column that it names"
            fail(ArgumentError, "Csv", f"`convert` is {convert!r}, no mapping", hint=hint)
        self._convert = dict(convert or {})
        self.columns, edges = self._looked_through(path, columns)
        self._records = Records("Csv", path, edges)
        for name in self._convert:
            if name not in self.columns:
                fail(ArgumentError, "Csv", f"there is no column {name!r} among {self.columns}")

    def __len__(self) -> int:
        return len(self._records)

    def item(self, place: int) -> dict[str, Any]:
        text = StringIO(self._records[place].decode("utf-8"), newline="\n")
        fields = next(filter(None, self._reader(text)))
        return {
            name: self._converted(place, name, field)
            for name, field in zip(self.columns, fields, strict=True)
        }

    def _converted(self, place: int, name: str, field: str) -> Any:
        function = self._convert.get(name)
        if function is None:
            return field
        try:
            return function(field)
        except ValueError as problem:
            refuse("Csv", self._records.path, f"record {place}, column {name!r}: {problem}")

    def _reader(self, lines: Any) -> Any:
        return csv.reader(lines, delimiter=self.delimiter, strict=True)

    def _looked_through(self, path: Any, columns: Any) -> tuple[list[str], Any]:
        """The names of the columns, and where the records begin and the last one ends."""
        hint = "expected UTF-8, and quotes around and doubled within what has quotes"
        broken = Reading("Csv", path, UnicodeDecodeError, csv.Error, hint=hint)
        with broken, open(path, "rb") as file:
            lines = Lines(file)
            reader = self._reader(lines)
            names = list(columns) if columns is not None else next(reader, [])
            if not names or len(set(names)) < len(names):
                refuse("Csv", path, f"each column needs a name of its own, and these have {names}")
            edges = self._edges(path, lines, reader, len(names))
            return names, np.fromiter(edges, np.int64)

    def _edges(self, path: Any, lines: "Lines", reader: Any, width: int) -> Iterator[int]:
        yield lines.position
        for fields in filter(None, reader):  # lines with nothing on them are no records
            if len(fields) != width:
                problem = f"line {reader.line_num} has {len(fields)} fields and not {width}"
                refuse("Csv", path, problem)
            yield lines.position


class Lines:
    """The lines of a file, and the position of the first byte that none of them holds."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        start = file.read(len(BYTE_ORDER_MARK))
        self.position = len(start) if start == BYTE_ORDER_MARK else 0
        file.seek(self.position)

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.position += len(line)
            yield line.decode("utf-8")
