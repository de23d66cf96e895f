"""Databases of SQLite: the rows of a query.

Comes in: a file and a query. Goes out: a dataset of dicts, one value a column. Each process opens
the file, and keeps the query's rows in a temporary table of its own, where a row is found at once.
Never: a change to the file, or trust in functions that its schema calls.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from .dataset import Dataset
from .errors import Reading
from .per_process import PerProcess

Parameters = Sequence[Any] | Mapping[str, Any]


class Sqlite(Dataset):
    """The rows of a query, as dicts; an ORDER BY makes their order certain."""

    def __init__(self, path: Any, query: str, parameters: Parameters = ()) -> None:
        self.path = Path(path).absolute()
        self._rows = PerProcess(partial(_Rows, self.path, query, parameters), _Rows.close)
        with Reading("Sqlite", self.path, sqlite3.Error):
            self._count = self._rows().count()

    def __len__(self) -> int:
        return self._count

    def item(self, place: int) -> dict[str, Any]:
        with Reading("Sqlite", self.path, sqlite3.Error):
            return self._rows().row(place)


class _Rows:
    """The rows of a query, for threads that take turns."""

    def __init__(self, path: Path, query: str, parameters: Parameters) -> None:
        address = f"{path.as_uri()}?mode=ro"
        self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        self._turn = Lock()
        try:
            self._connection.execute("PRAGMA trusted_schema = off")
            self._connection.execute(f"CREATE TEMP TABLE items AS {query}", parameters)
            described = self._connection.execute("SELECT * FROM temp.items LIMIT 0").description
        except BaseException:
            self.close()
            raise
        self._columns = [name for name, *_ in described]

    def count(self) -> int:
        """How many there are."""
        return self._fetch("SELECT count(*) FROM temp.items")[0]

    def row(self, place: int) -> dict[str, Any]:
        """One of them."""
        fields = self._fetch("SELECT * FROM temp.items WHERE rowid = ?", place + 1)
        return dict(zip(self._columns, fields, strict=True))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _fetch(self, query: str, *parameters: Any) -> tuple[Any, ...]:
        with self._turn:
            return self._connection.execute(query, parameters).fetchone()
