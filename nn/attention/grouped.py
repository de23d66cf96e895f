"""Attention whose heads of queries share heads of keys and values, as newer language models do.

Comes in: a sequence, and another one where it attends to that; a mask, a bias, a cache. Goes out: a
sequence, and the next cache.
Never: keys and values repeated for the heads that share them, unless weights are dropped.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from ...frontend.functions.creation import asarray
from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..functions.common import check_last
from ..functions.dropout import check_probability
from ..initialisers import Keys
from ..layers.linear import Linear
from ..module import Module
from .attend import Scoring, attend
from .cache import KeyValueCache, Remembered
from .heads import check_groups, check_heads, join_heads, split_heads
from .rotary import RotaryEncoding


class Options(TypedDict, total=False):
    """What such layers may be told besides their sizes.

    `num_kv_heads` heads of keys, as many as of queries if not said, of `head_dim` numbers each;
    `scale` and `soft_cap` are those of `bs.attention`; `dropout` drops weights in training.
    """

    num_kv_heads: int | None
    head_dim: int | None
    bias: bool
    scale: float | None
    soft_cap: float | None
    dropout: float
    key: Any
    dtype: Any


class SharingHeads(Module):
    """The projections, by the names of Llama's layers."""

    q_proj: Linear
    k_proj: Linear
    v_proj: Linear
    o_proj: Linear

    def __init__(  # noqa: PLR0913 (each is a choice of the user's)
        self, embed_dim: int, context_dim: int, num_heads: int, *,
        num_kv_heads: int | None = None, head_dim: int | None = None, bias: bool = False,
        scale: float | None = None, soft_cap: float | None = None, dropout: float = 0.0,
        key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        name, groups = type(self).__name__, num_heads if num_kv_heads is None else num_kv_heads
        check_groups(name, num_heads, groups)
        check_probability(name, dropout)
        if head_dim is None:
            check_heads(name, embed_dim, num_heads)
            head_dim = embed_dim // num_heads
        check_counts(name, 1, embed_dim=embed_dim, context_dim=context_dim, head_dim=head_dim)
        self.embed_dim, self.context_dim, self.head_dim = embed_dim, context_dim, head_dim
        self.num_heads, self.num_kv_heads = num_heads, groups
        self.scale, self.soft_cap, self.dropout = scale, soft_cap, float(dropout)
        keys = Keys(key)

        def projection(inputs: int, outputs: int) -> Linear:
            return Linear(inputs, outputs, bias, key=keys.next(), dtype=dtype)

        self.q_proj = projection(embed_dim, num_heads * head_dim)
        self.k_proj = projection(context_dim, groups * head_dim)
        self.v_proj = projection(context_dim, groups * head_dim)
        self.o_proj = projection(num_heads * head_dim, embed_dim)

    def queries(self, x: Tensor) -> Tensor:
        """[…, length, embed_dim] -> […, num_heads, length, head_dim]"""
        check_last(type(self).__name__, x, (self.embed_dim,))
        return split_heads(self.q_proj(x), self.num_heads)

    def keys_and_values(self, context: Tensor) -> tuple[Tensor, Tensor]:
        """[…, keys, context_dim] -> two of […, num_kv_heads, keys, head_dim]"""
        check_last(type(self).__name__, context, (self.context_dim,))
        made = self.k_proj(context), self.v_proj(context)
        keys, values = [split_heads(each, self.num_kv_heads) for each in made]
        return keys, values

    def scoring(self, mask: Any, bias: Any, causal: bool) -> Scoring:
        """What is done to the scores."""
        mask = None if mask is None else asarray(mask)
        bias = None if bias is None else asarray(bias)
        return Scoring(mask, bias, causal, self.scale, self.soft_cap)

    def attended(self, query: Tensor, key: Tensor, value: Tensor, scoring: Scoring) -> Tensor:
        """[…, num_heads, length, head_dim] -> […, length, embed_dim]"""
        return self.o_proj(join_heads(attend(query, key, value, scoring, self.dropout)))


class GroupedQueryAttention(SharingHeads):
    """A sequence attends to itself; `rotary` turns its queries and keys by their positions.

    Which heads share is as in `bs.attention`: neighbours do.
    """

    rotary: RotaryEncoding | None

    def __init__(
        self, embed_dim: int, num_heads: int, *, rotary: RotaryEncoding | None = None,
        **options: Unpack[Options],
    ) -> None:  # fmt: skip
        super().__init__(embed_dim, embed_dim, num_heads, **options)
        self.rotary = rotary

    def forward(
        self, x: Tensor, *, mask: Any = None, bias: Any = None, causal: bool = False,
        cache: KeyValueCache | None = None,
    ) -> Any:  # fmt: skip
        """[batch, length, embed_dim] -> [batch, length, embed_dim]

        `mask`, true where a key counts, and `bias`, which is added to the scores, stretch to
        [batch, num_heads, length, keys]. With a `cache` (see `empty_cache`) x goes on where that
        ends, and attends to what it holds, too; the keys are then as many as it has room for, and
        the next cache is returned beside the sequence.
        """
        query, (key, value) = self.queries(x), self.keys_and_values(x)
        if self.rotary is not None:
            offset = 0 if cache is None else cache.position
            query, key = self.rotary(query, offset), self.rotary(key, offset)
        scoring = self.scoring(mask, bias, causal)
        if cache is None:
            return self.attended(query, key, value, scoring)
        cache = cache.append(key, value)
        scoring = scoring.with_cache(cache, x.shape[-2])
        return self.attended(query, cache.key, cache.value, scoring), cache

    def empty_cache(self, batch: int, capacity: int, dtype: Any = None) -> KeyValueCache:
        """Room for the keys and values of as many positions, of the weights' dtype if not said."""
        own = dtype or self.k_proj.weight.dtype
        return KeyValueCache.empty(batch, self.num_kv_heads, capacity, self.head_dim, own)


class CrossAttention(SharingHeads):
    """A sequence attends to another one, the context, whose vectors may have another size."""

    def __init__(
        self, embed_dim: int, context_dim: int, num_heads: int, **options: Unpack[Options]
    ) -> None:
        super().__init__(embed_dim, context_dim, num_heads, **options)

    def forward(
        self, x: Tensor, context: Tensor | Remembered, *, mask: Any = None, bias: Any = None
    ) -> Tensor:
        """[batch, length, embed_dim], [batch, keys, context_dim] -> [batch, length, embed_dim];
        the context may also be what `remember` has returned.

        `mask`, true where a key counts, and `bias`, which is added to the scores, stretch to
        [batch, num_heads, length, keys].
        """
        known = context if isinstance(context, Remembered) else self.remember(context)
        scoring = self.scoring(mask, bias, causal=False)
        return self.attended(self.queries(x), known.key, known.value, scoring)

    def remember(self, context: Tensor) -> Remembered:
        """The keys and values of a context, for one that is attended to often."""
        return Remembered(*self.keys_and_values(context))
