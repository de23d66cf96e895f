"""Rows of a table, which integers name.

Comes in: integers, a table. Goes out: rows.
Never: a place outside the table read as one inside.
"""

from __future__ import annotations

from typing import Any

from ...frontend.functions.common import as_node
from ...frontend.functions.indexing import take
from ...frontend.functions.logic import equal, where
from ...frontend.grad import stop_gradient
from ...frontend.handle import wrap
from ...frontend.tensor import Tensor


def embedding(indices: Any, weight: Any, /, padding_idx: int | None = None) -> Tensor:
    """Rows of a table [count, length], of which the one at `padding_idx` has no gradient.

    Of integers […] come rows […, length].
    """
    places = wrap(as_node(indices, "embedding"))
    rows = take(weight, places, axis=0)
    if padding_idx is None:
        return rows
    return where(equal(places, padding_idx)[..., None], stop_gradient(rows), rows)
