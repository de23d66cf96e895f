"""Parquet files: the rows of a table that is read group by group.

Comes in: a file. Goes out: a dataset of dicts, one value a column. Of the file one group of rows is
kept, the last that was asked for: who asks in order, as a stream does, reads each once.
Never: pyarrow imported before such a file is opened, or the table as a whole.
"""

from collections.abc import Iterable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from ..frontend.errors import ArgumentError, fail
from .dataset import Dataset
from .errors import Reading, of_extra
from .per_process import PerProcess


class Parquet(Dataset):
    """The rows of a Parquet file, as dicts; `columns` says which, if not all."""

    def __init__(self, path: Any, columns: Iterable[str] | None = None) -> None:
        self.path = path
        chosen = None if columns is None else list(columns)
        self._groups = PerProcess(partial(_Groups, path, chosen), _Groups.close)
        groups = self._groups()
        missing = [name for name in chosen or () if name not in groups.names]
        if missing:
            problem = f"there is no column {missing[0]!r} among {groups.names}"
            fail(ArgumentError, "Parquet", problem)
        self._edges = np.cumsum([0, *groups.sizes])

    def __len__(self) -> int:
        return int(self._edges[-1])

    def item(self, place: int) -> dict[str, Any]:
        group = int(np.searchsorted(self._edges, place, side="right")) - 1
        return self._groups().row(group, place - int(self._edges[group]))


class _Groups:
    """An open file, and the group of its rows that was read last."""

    def __init__(self, path: Any, columns: list[str] | None) -> None:
        parquet = of_extra("pyarrow.parquet", "tables", "Parquet")
        self._broken = of_extra("pyarrow", "tables", "Parquet").ArrowException
        self.path, self.columns = path, columns
        with Reading("Parquet", path, self._broken):
            self._file = parquet.ParquetFile(path)
        about = self._file.metadata
        self.names: list[str] = list(self._file.schema_arrow.names)
        self.sizes = [about.row_group(each).num_rows for each in range(about.num_row_groups)]
        self._last: tuple[int, Any] = (-1, None)
        self._turn = Lock()

    def row(self, group: int, place: int) -> dict[str, Any]:
        """One row of a group."""
        with self._turn, Reading("Parquet", self.path, self._broken):
            if self._last[0] != group:
                self._last = group, self._file.read_row_group(group, columns=self.columns)
            return self._last[1].slice(place, 1).to_pylist()[0]

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
