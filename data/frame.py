"""Data frames: the rows of columns.

Comes in: what has named columns, be it pandas', Polars', Arrow's or a dict. Goes out: a dataset of
dicts, one value a column.
Never: an import of the library that the frame is from.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..frontend.errors import ArgumentError, fail
from .in_memory import InMemory


class Frame(InMemory):
    """The rows of a data frame, or of a dict of columns; `columns` says which, if not all."""

    def __init__(self, frame: Any, columns: Iterable[str] | None = None) -> None:
        there = _columns(frame)
        chosen = there if columns is None else list(columns)
        missing = [name for name in chosen if name not in there]
        if missing:
            fail(ArgumentError, "Frame", f"there is no column {missing[0]!r} among {there}")
        super().__init__({name: np.asarray(frame[name]) for name in chosen})


def _columns(frame: Any) -> Sequence[str]:
    """The names of the columns, by the word that the library has for them."""
    if isinstance(frame, Mapping):
        return list(frame)
    for word in ("column_names", "columns"):
        if hasattr(frame, word):
            return list(getattr(frame, word))
    problem = f"expected a data frame, got {type(frame).__name__}"
    fail(ArgumentError, "Frame", problem, frame, hint="give a dict of columns")
