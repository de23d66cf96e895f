"""What a run has logged, read back.

Comes in: the folder of a run, or one of its files. Goes out: rows; a `FileNotFoundError` where
there is no run or no log, a `ValueError` where a file is no log.
Never: a row that is half written: another process may be writing the file meanwhile.
"""

from __future__ import annotations

from pathlib import Path

from . import csv_log, json_lines
from .row import Row

READERS = {"metrics.jsonl": json_lines.rows_of, "metrics.csv": csv_log.rows_of}
"""The logs that can be read, the better one first."""


def read_log(run: Path | str) -> list[Row]:
    """The rows of a run's log, as JSON lines or else as CSV."""
    run = Path(run)
    path = run if run.is_file() else _log_in(run)
    reader = csv_log.rows_of if path.suffix == ".csv" else json_lines.rows_of
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        return list(reader([line for line in lines if line.endswith("\n")]))
    except (ValueError, KeyError, TypeError) as problem:
        name = type(problem).__name__
        raise ValueError(f"{path} is no log of a run: {name}: {problem}") from problem


def _log_in(folder: Path) -> Path:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no run {folder}")
    found = [folder / name for name in READERS if (folder / name).is_file()]
    if not found:
        names = " or ".join(READERS)
        raise FileNotFoundError(
            f"{folder} has no {names}, which a `JsonLinesLog` or a `CsvLog` would have written"
        )
    return found[0]
