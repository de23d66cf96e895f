"""Rows of Parquet files, with pyarrow, and with what behaves like it."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from brimstone import data

ROWS = [{"n": number, "s": f"text {number}"} for number in range(5)]


class Table:
    """A group of rows."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def slice(self, start: int, count: int) -> "Table":
        return Table(self.rows[start : start + count])

    def to_pylist(self) -> list[dict[str, Any]]:
        return self.rows


class ParquetFile:
    """A file of two groups, which counts how often they are read."""

    groups = (ROWS[:3], ROWS[3:])
    schema_arrow = SimpleNamespace(names=["n", "s"])
    metadata = SimpleNamespace(
        num_row_groups=2, row_group=lambda at: SimpleNamespace(num_rows=len(ParquetFile.groups[at]))
    )
    read: tuple[int, ...] = ()

    def __init__(self, path: Any) -> None:
        if not Path(path).exists():
            raise FileNotFoundError(2, "No such file")

    def read_row_group(self, group: int, columns: Any) -> Table:
        ParquetFile.read += (group,)
        chosen = columns or self.schema_arrow.names
        return Table([{name: row[name] for name in chosen} for row in self.groups[group]])

    def close(self) -> None:
        pass


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """What behaves like pyarrow."""
    package, parquet = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    vars(package).update(ArrowException=RuntimeError, parquet=parquet)
    vars(parquet).update(ParquetFile=ParquetFile)
    monkeypatch.setitem(sys.modules, "pyarrow", package)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    monkeypatch.setattr(ParquetFile, "read", ())


@pytest.mark.usefixtures("stand_in")
def test_groups_are_read_once_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.touch()
    dataset = data.Parquet(path)
    assert list(dataset) == ROWS
    assert ParquetFile.read == (0, 1)
    assert dataset[-1] == ROWS[-1]
    assert data.Parquet(path, columns=["s"])[3] == {"s": "text 3"}
    with pytest.raises(ValueError, match=r"no column 'm' among \['n', 's'\]"):
        data.Parquet(path, columns=["m"])
    with pytest.raises(data.DataError, match="No such file"):
        data.Parquet(tmp_path / "nowhere")


def test_real_files(tmp_path: Path) -> None:
    reason = "pyarrow, of the extra `tables`, is not installed"
    arrow: Any = pytest.importorskip("pyarrow", reason=reason)
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason=reason)
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.Table.from_pylist(ROWS), path, row_group_size=2)
    dataset = data.Parquet(path)
    assert list(dataset) == ROWS
    assert data.Parquet(path, columns=["s"])[3] == {"s": "text 3"}
    path.write_bytes(b"PAR1 but no more")
    with pytest.raises(data.DataError, match=r"a\.parquet"):
        data.Parquet(path)


def test_pyarrow_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    with pytest.raises(ImportError, match=r"Parquet: (?s:.*)pip install 'brimstone\[tables\]'"):
        data.Parquet("a.parquet")
