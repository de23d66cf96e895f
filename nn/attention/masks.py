"""Masks as PyTorch's layers take them, as `bs.attention` does.

Comes in: `attn_mask` and `key_padding_mask`: booleans, true where something does *not* count, or
floats that are added to the scores. Goes out: a mask, true where it counts, and a bias.
Never: a mask of another library's meaning under a name that `bs.attention` has.
"""

from __future__ import annotations

from typing import Any

from ...frontend.dtypes import bool as boolean
from ...frontend.errors import DTypeError, ShapeError, fail
from ...frontend.functions.creation import asarray
from ...frontend.functions.types import isdtype
from ...frontend.tensor import Tensor
from .attend import Scoring


def scoring_of(
    name: str, attn_mask: Any, key_padding_mask: Any, heads: int, causal: bool
) -> Scoring:
    """What masks [rows, columns] or [batch * heads, rows, columns], and [batch, columns], do."""
    counts, added = None, None
    for each in (_of_scores(name, attn_mask, heads), _of_keys(name, key_padding_mask)):
        if each is None:
            continue
        if each.dtype == boolean:
            counts = ~each if counts is None else counts & ~each
        else:
            added = each if added is None else added + each
    return Scoring(counts, added, causal)


def _of_scores(name: str, mask: Any, heads: int) -> Tensor | None:
    """A mask with an axis of heads if it has one of batches."""
    if mask is None:
        return None
    made = _known(name, "attn_mask", mask)
    if made.ndim == 2:
        return made
    if made.ndim != 3 or made.shape[0] % heads:
        problem = f"attn_mask is [length, length of keys], or [batch * {heads}, …] of these"
        fail(ShapeError, name, problem, made)
    return made.reshape((made.shape[0] // heads, heads, *made.shape[1:]))


def _of_keys(name: str, mask: Any) -> Tensor | None:
    """A mask of keys with axes of heads and of queries."""
    if mask is None:
        return None
    made = _known(name, "key_padding_mask", mask)
    if made.ndim not in (1, 2):
        fail(ShapeError, name, "key_padding_mask is [batch, length of keys]", made)
    return made[..., None, None, :]


def _known(name: str, what: str, mask: Any) -> Tensor:
    """A mask of booleans or floats."""
    made = asarray(mask)
    if made.dtype != boolean and not isdtype(made.dtype, "real floating"):
        problem = f"{what} is of booleans, true where something does not count, or of floats"
        fail(DTypeError, name, problem, made)
    return made
