"""Records of a file, found by where they begin.

Comes in: a path, and where each record begins. Goes out: the bytes of one record.
Never: a file read as a whole, or a place in it that threads share.
"""

import os
from functools import partial
from typing import Any

import numpy as np

from .errors import refuse
from .per_process import PerProcess


class Records:
    """Pieces of a file: each goes from one of the edges to the next one."""

    def __init__(self, operation: str, path: Any, edges: np.ndarray) -> None:
        self.operation, self.path, self.edges = operation, os.path.abspath(path), edges
        self._file = PerProcess(partial(os.open, self.path, os.O_RDONLY), os.close)

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, place: int) -> bytes:
        start, end = int(self.edges[place]), int(self.edges[place + 1])
        found = os.pread(self._file(), end - start, start)
        if len(found) < end - start:
            refuse(self.operation, self.path, "the file has become shorter since it was opened")
        return found
