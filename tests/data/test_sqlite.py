"""Rows of databases."""

import pickle
import sqlite3
from pathlib import Path

import pytest

from brimstone import data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with a table, in a file whose name needs quoting."""
    path = tmp_path / "a b?#%.db"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE reviews (text TEXT, stars INTEGER)")
        rows = [("fine", 4), ("bad", 1), ("great", 5)]
        connection.executemany("INSERT INTO reviews VALUES (?, ?)", rows)
    connection.close()
    return path


def test_rows_of_a_query(path: Path) -> None:
    dataset = data.Sqlite(path, "SELECT * FROM reviews WHERE stars > ? ORDER BY stars DESC", (1,))
    assert list(dataset) == [{"text": "great", "stars": 5}, {"text": "fine", "stars": 4}]
    assert pickle.loads(pickle.dumps(dataset))[-1] == {"text": "fine", "stars": 4}
    assert len(data.Sqlite(path, "SELECT * FROM reviews WHERE stars > 9")) == 0


@pytest.mark.parametrize("query", ["DROP TABLE reviews", "", "SELECT 1; DROP TABLE reviews",
                                   "SELECT nothing FROM reviews"])  # fmt: skip
def test_queries_that_are_refused(path: Path, query: str) -> None:
    with pytest.raises(data.DataError, match="Sqlite: "):
        data.Sqlite(path, query)
    assert len(data.Sqlite(path, "SELECT * FROM reviews")) == 3


def test_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(data.DataError, match="unable to open"):
        data.Sqlite(tmp_path / "nowhere.db", "SELECT 1")
    assert not (tmp_path / "nowhere.db").exists()
    (tmp_path / "text.db").write_text("no database " * 100)
    with pytest.raises(data.DataError, match=r"text\.db: file is not a database"):
        data.Sqlite(tmp_path / "text.db", "SELECT * FROM a")
