"""Attention of several heads, as PyTorch lays it out.

Comes in: sequences of queries, keys and values, masks, a cache. Goes out: a sequence like the
queries, and, if wanted, the weights and the next cache.
Never: a name or a layout of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.creation import zeros
from ...frontend.functions.manipulation import swapaxes
from ...frontend.functions.pieces import chunk
from ...frontend.tensor import Tensor
from ..arguments import check_flags
from ..functions.common import sizes_of
from ..functions.dropout import check_probability
from ..functions.linear import linear
from ..initialisers import Keys, XavierUniform
from ..layers.linear import Linear
from ..module import Module
from .attend import attend, attend_with_weights
from .cache import KeyValueCache, Remembered
from .heads import check_heads, join_heads, split_heads
from .masks import scoring_of

QUERY, KEY, VALUE = range(3)


class MultiHeadAttention(Module):
    """softmax(query @ keyᵀ / √size) @ value for each head, between products with what is learned.

    Parameters, arguments and masks are those of PyTorch's `MultiheadAttention`, with these
    differences: the batch comes first unless `batch_first=False`; weights are returned if
    `need_weights` says so; `is_causal` needs no mask beside it; and a query that may attend to
    nothing gets zeros.
    """

    in_proj_weight: Tensor | None  # [3 * embed_dim, embed_dim], if keys and values are as wide
    q_proj_weight: Tensor | None  # [embed_dim, embed_dim], else
    k_proj_weight: Tensor | None  # [embed_dim, kdim], else
    v_proj_weight: Tensor | None  # [embed_dim, vdim], else
    in_proj_bias: Tensor | None  # [3 * embed_dim]
    out_proj: Linear

    def __init__(  # noqa: PLR0913 (each is a choice of the user's, as in PyTorch)
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, *,
        kdim: int | None = None, vdim: int | None = None, batch_first: bool = True,
        key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        check_heads("MultiHeadAttention", embed_dim, num_heads)
        check_probability("MultiHeadAttention", dropout)
        check_flags("MultiHeadAttention", bias=bias)
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, float(dropout)
        self.kdim, self.vdim, self.batch_first = kdim or embed_dim, vdim or embed_dim, batch_first
        keys, draw = Keys(key), XavierUniform()
        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = draw((3 * embed_dim, embed_dim), keys.next(), dtype)
            self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        else:
            self.in_proj_weight = None
            self.q_proj_weight = draw((embed_dim, embed_dim), keys.next(), dtype)
            self.k_proj_weight = draw((embed_dim, self.kdim), keys.next(), dtype)
            self.v_proj_weight = draw((embed_dim, self.vdim), keys.next(), dtype)
        self.in_proj_bias = zeros((3 * embed_dim,), dtype=dtype) if bias else None
        out_proj = Linear(embed_dim, embed_dim, bias, key=keys.next(), dtype=dtype)
        self.out_proj = out_proj.replace(bias=zeros((embed_dim,), dtype=dtype) if bias else None)

    def forward(  # noqa: PLR0913 (each is a choice of the user's, as in PyTorch)
        self, query: Tensor, key: Tensor | Remembered | None = None, value: Tensor | None = None, *,
        key_padding_mask: Any = None, need_weights: bool = False, attn_mask: Any = None,
        average_attn_weights: bool = True, is_causal: bool = False,
        cache: KeyValueCache | None = None,
    ) -> Any:  # fmt: skip
        """[batch, length, embed_dim], [batch, keys, kdim], [batch, keys, vdim] -> [batch, length,
        embed_dim]; where it is not given, `key` is the query, `value` the key. `key` may also be
        what `remember` has returned. Without an axis for a batch, there is none in what comes out.

        `attn_mask`, [length, keys] or [batch * heads, length, keys], and `key_padding_mask`,
        [batch, keys], are true where something does not count, or floats to add to the scores;
        with `is_causal` no key after its query counts, and both end together.

        With `need_weights` the weights are returned, too: [batch, length, keys], the mean over the
        heads, or [batch, heads, length, keys] without `average_attn_weights`. With a `cache` (see
        `empty_cache`) keys and values are put behind those that it holds and attended to with
        them, masks have its capacity for keys, and the next cache is returned, too.
        """
        name = type(self).__name__
        scoring = scoring_of(name, attn_mask, key_padding_mask, self.num_heads, is_causal)
        queries, keys, values = self._all_heads(query, key, value)
        if cache is not None:
            cache = cache.append(keys, values)
            keys, values = cache.key, cache.value
            scoring = scoring.with_cache(cache, queries.shape[-2])
        if need_weights:
            made, weights = attend_with_weights(queries, keys, values, scoring, self.dropout)
        else:
            made, weights = attend(queries, keys, values, scoring, self.dropout), None
        output = self.out_proj(self._laid_out(join_heads(made), query.ndim))
        besides: list[Any] = [] if cache is None else [cache]
        if weights is not None:
            weights = weights.mean(axis=1) if average_attn_weights else weights
            besides = [weights[0] if query.ndim == 2 else weights, *besides]
        return (output, *besides) if besides else output

    def remember(self, key: Tensor, value: Tensor | None = None) -> Remembered:
        """Keys and values as they are attended to, for sequences that are attended to often."""
        value = key if value is None else value
        return Remembered(self._heads(KEY, key), self._heads(VALUE, value))

    def empty_cache(self, batch: int, capacity: int, dtype: Any = None) -> KeyValueCache:
        """Room for the keys and values of as many positions, of the weights' dtype if not said."""
        size = self.embed_dim // self.num_heads
        own = self.out_proj.weight.dtype
        return KeyValueCache.empty(batch, self.num_heads, capacity, size, dtype or own)

    def _all_heads(
        self, query: Tensor, key: Tensor | Remembered | None, value: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, [batch, heads, length, size]; by one product if it can be."""
        if isinstance(key, Remembered):
            return self._heads(QUERY, query), key.key, key.value
        key = query if key is None else key
        value = key if value is None else value
        weight, bias = self.in_proj_weight, self.in_proj_bias
        if weight is None or query is not key or key is not value:
            found = self.remember(key, value)
            return self._heads(QUERY, query), found.key, found.value
        self._check(query, self.embed_dim)
        whole = linear(query, weight, bias)
        sizes: Any = sizes_of(whole)
        thirds = whole.reshape((*sizes[:-1], 3, sizes[-1] // 3))
        queries, keys, values = [self._split(thirds[..., place, :]) for place in range(3)]
        return queries, keys, values

    def _heads(self, place: int, x: Tensor) -> Tensor:
        """Queries, keys or values."""
        self._check(x, (self.embed_dim, self.kdim, self.vdim)[place])
        whole, bias = self.in_proj_weight, self.in_proj_bias
        apart: Any = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        weight = apart[place] if whole is None else chunk(whole, 3)[place]
        return self._split(linear(x, weight, None if bias is None else chunk(bias, 3)[place]))

    def _split(self, x: Tensor) -> Tensor:
        """A sequence as users lay it out -> [batch, heads, length, size]"""
        batched = x[None] if x.ndim == 2 else x if self.batch_first else swapaxes(x, 0, 1)
        return split_heads(batched, self.num_heads)

    def _laid_out(self, x: Tensor, rank: int) -> Tensor:
        """[batch, length, embed_dim] -> as the queries were laid out."""
        return x[0] if rank == 2 else x if self.batch_first else swapaxes(x, 0, 1)

    def _check(self, x: Tensor, size: int) -> None:
        """Refuse what is no sequence of vectors of a size."""
        if x.ndim not in (2, 3) or x.shape[-1] != size:
            order = "batch, length" if self.batch_first else "length, batch"
            problem = f"takes [{order}, {size}], or [length, {size}]"
            fail(ShapeError, type(self).__name__, problem, x)


MultiheadAttention = MultiHeadAttention
"""The name that it has in PyTorch."""
