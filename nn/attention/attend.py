"""Attention as layers need it: with its weights dropped or returned, which the fused op has not.

Comes in: queries, keys and values [..., heads, length, size], and what changes the scores. Goes
out: a tensor like the queries, and the weights, if somebody wants them.
Never: the weights in memory unless they are dropped or wanted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...frontend.functions.activations import softmax
from ...frontend.functions.attention import attention
from ...frontend.functions.creation import arange
from ...frontend.functions.elementwise import tanh
from ...frontend.functions.logic import equal, where
from ...frontend.functions.reductions import all as all_of
from ...frontend.functions.repeating import repeat
from ...frontend.tensor import Tensor
from ..context import is_training
from ..functions.common import sizes_of, widened
from ..layers.dropout import Dropout
from .cache import KeyValueCache

NOTHING = float("-inf")
"""The score of what does not count."""


class Scoring(NamedTuple):
    """What is done to the scores, as `bs.attention` calls it."""

    mask: Tensor | None = None
    bias: Tensor | None = None
    causal: bool = False
    scale: float | None = None
    soft_cap: float | None = None

    def with_cache(self, cache: KeyValueCache, rows: int) -> Scoring:
        """For the keys of a cache, of which `rows` are of the same positions as the queries."""
        counting = cache.counting(rows, self.causal)
        mask = counting if self.mask is None else counting & self.mask
        return self._replace(mask=mask, causal=False)


def attend(
    query: Tensor, key: Tensor, value: Tensor, scoring: Scoring, dropout: float = 0.0
) -> Tensor:
    """`bs.attention`, whose weights are dropped in training with a probability."""
    if is_training() and dropout:
        return attend_with_weights(query, key, value, scoring, dropout)[0]
    return attention(query, key, value, **scoring._asdict())


def attend_with_weights(
    query: Tensor, key: Tensor, value: Tensor, scoring: Scoring, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The same, and its weights, [..., heads, rows, columns]."""
    share = query.shape[-3] // key.shape[-3]
    if share > 1:
        key, value = repeat(key, share, axis=-3), repeat(value, share, axis=-3)
    weights = Dropout(dropout)(attention_weights(query, key, scoring))
    return weights @ value, weights


def attention_weights(query: Tensor, key: Tensor, scoring: Scoring) -> Tensor:
    """How much each query attends to each key: 1 together, or 0 if it may attend to nothing."""
    wide, dtype = widened("attention", query)
    size = query.shape[-1]
    scale = max(size, 1) ** -0.5 if scoring.scale is None else scoring.scale
    scores = _changed(wide * scale @ key.astype(wide.dtype).mT, scoring)
    is_lost = all_of(equal(scores, NOTHING), axis=-1, keepdims=True)
    shares = softmax(where(is_lost, 0.0, scores), axis=-1)
    return where(is_lost, 0.0, shares).astype(dtype)


def _changed(scores: Tensor, scoring: Scoring) -> Tensor:
    """The scores, bounded, with a bias, and without those that do not count."""
    if scoring.soft_cap is not None:
        scores = tanh(scores / scoring.soft_cap) * scoring.soft_cap
    if scoring.bias is not None:
        scores = scores + scoring.bias.astype(scores.dtype)
    if scoring.mask is not None:
        scores = where(scoring.mask, scores, NOTHING)
    return where(not_after(scores), scores, NOTHING) if scoring.causal else scores


def not_after(scores: Tensor) -> Tensor:
    """Whether a key stands at or before its query, [rows, columns]; both end together."""
    rows, columns = sizes_of(scores)[-2:]
    places: Any = arange(rows, device=scores.device)[:, None] + (columns - rows)
    return arange(columns, device=scores.device) <= places
