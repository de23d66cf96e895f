"""Files of JSON lines: a record is a line.

Comes in: a file in UTF-8. Goes out: a dataset of what the lines say. The file is looked through
once, to find where its lines begin.
Never: a file kept in memory, or a line read before somebody asks for it.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from .dataset import Dataset
from .errors import Reading, refuse
from .records import Records


class JsonLines(Dataset):
    """What the lines of a file say in JSON; empty lines are left out."""

    def __init__(self, path: Any) -> None:
        with Reading("JsonLines", path):
            edges = np.fromiter(_edges(path), np.int64)
        self._records = Records("JsonLines", path, edges)

    def __len__(self) -> int:
        return len(self._records)

    def item(self, place: int) -> Any:
        try:
            return json.loads(self._records[place])
        except (ValueError, RecursionError) as problem:
            start = self._records.edges[place]
            refuse("JsonLines", self._records.path, f"record {place}, at byte {start}: {problem}")


def _edges(path: Any) -> Iterator[int]:
    """Where each record ends, and before the first one a zero; white space begins a record."""
    position = 0
    yield position
    with open(path, "rb") as file:
        for line in file:
            position += len(line)
            if not line.isspace():
                yield position
