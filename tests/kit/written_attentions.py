"""Attentions as people write them, each a function of queries, keys, values and a barrier.

Comes in: arrays. Goes out: `WRITTEN`, functions by name. Each hands its weights through the barrier
it is given: `whole` leaves them alone, and with `apart` no attention is recognised.
Never: a call of `bs.attention`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import brimstone as bs

INF = float("inf")
Barrier = Callable[[Any], Any]
Written = Callable[..., Any]


def whole(weights: Any) -> Any:
    """The weights."""
    return weights


def apart(weights: Any) -> Any:
    """The weights, turned around twice: no rule of recognition looks through that."""
    return bs.flip(bs.flip(weights, axis=-1), axis=-1)


def arguments(heads: int = 4) -> list[Any]:
    """Queries, keys and values of two texts."""
    draws = np.random.default_rng(5)
    shapes = (2, heads, 5, 8), (2, heads, 7, 8), (2, heads, 7, 3)
    return [bs.asarray(draws.normal(size=shape).astype(np.float32)) for shape in shapes]


def by_hand(scores: Any) -> Any:
    """A softmax, as it is written out."""
    exponentials = bs.exp(scores - bs.max(scores, axis=-1, keepdims=True))
    return exponentials / bs.sum(exponentials, axis=-1, keepdims=True)


def before() -> Any:
    """Whether a key stands at or before its query."""
    return bs.arange(5)[:, None] >= bs.arange(7)[None, :]


def padded() -> Any:
    """Which keys of two texts there are."""
    return bs.asarray(np.arange(7) < np.array([[3], [6]]))[:, None, None, :]


def _softmax(change: Callable[[Any], Any], by: Callable[[Any], Any] = by_hand) -> Written:
    """softmax(change(query @ keyᵀ)) @ value"""
    return lambda q, k, v, barrier: barrier(by(change(q @ k.mT))) @ v


def _divided_last(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    scores = bs.einsum("bhqd,bhkd->bhqk", q * 0.3, k)
    weights = barrier(bs.exp(scores - bs.max(scores, axis=-1, keepdims=True)))
    return bs.einsum("bhqk,bhkd->bhqd", weights, v) / bs.sum(weights, axis=-1, keepdims=True)


def _heads_inside(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    q, k, v = (x.permute(0, 2, 1, 3) for x in (q, k, v))
    weights = barrier(bs.softmax(bs.einsum("bqhd,bkhd->bhqk", q, k / 2.5), axis=-1))
    return bs.einsum("bhqk,bkhd->bqhd", weights, v)


def _split(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    merged = [x.permute(0, 2, 1, 3).reshape(2, x.shape[2], -1) for x in (q, k, v)]
    q, k, v = (x.reshape(2, x.shape[1], 4, -1).permute(0, 2, 1, 3) for x in merged)
    mixed = barrier(by_hand(q @ k.permute(0, 1, 3, 2) * 0.3)) @ v
    return mixed.permute(0, 2, 1, 3).reshape(2, 5, -1)


def _matrices(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    return barrier(by_hand(bs.where(before(), q[0, 1] @ k[1, 0].T, -INF))) @ v[0, 0]


def _merged(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    q, k, v = (x.reshape(8, *x.shape[2:]) for x in (q, k, v))
    return barrier(by_hand(bs.where(before(), q @ k.mT, -INF))) @ v


def _repeated(count: int) -> Written:
    def repeated(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
        k, v = (bs.repeat(x[:, :count], 4 // count, axis=1) for x in (k, v))
        return barrier(bs.softmax(bs.where(before(), q @ k.mT, -INF), axis=-1)) @ v

    return repeated


def _grouped(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    q, k, v = q.reshape(2, 2, 2, 5, 8), k[:, :2], v[:, :2]
    weights = barrier(by_hand(bs.einsum("bghqd,bgkd->bghqk", q, k) + bs.asarray(SLOPES[:2])))
    return (weights @ v[:, :, None]).reshape(2, 4, 5, 3)


def _keys_for_all(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    scores = bs.where(before(), bs.einsum("bhqd,kd->bhqk", q, k[0, 0]), -INF)
    return bs.einsum("bhqk,kd->bhqd", barrier(by_hand(scores)), v[0, 0])


def _values_first(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
    return bs.einsum("bhkd,bhqk->bhdq", v, barrier(by_hand(q @ k.mT)))


SLOPES = np.array([0.5, 0.25, 0.1, 0.0], np.float32)[:, None, None]

WRITTEN: dict[str, Written] = {
    "plain": _softmax(lambda s: s * 0.4),
    "softmax": _softmax(lambda s: s * 0.4, lambda s: bs.softmax(s, axis=-1)),
    "divided": _softmax(lambda s: s / 2.5),
    "divided last": _divided_last,
    "heads inside": _heads_inside,
    "heads split": _split,
    "merged": _merged,
    "matrices": _matrices,
    "causal": _softmax(lambda s: bs.where(before(), s, -INF)),
    "future": _softmax(lambda s: bs.where(bs.arange(7) > bs.arange(5)[:, None], -INF, s)),
    "tril": _softmax(lambda s: bs.where(bs.tril(bs.ones((5, 7), dtype=bs.bool)), s, -INF)),
    "added": _softmax(lambda s: s + bs.triu(bs.full((5, 7), -INF), k=1)),
    "finite": _softmax(lambda s: bs.where(padded(), s, -1e9)),
    "both": _softmax(lambda s: bs.where(before() & padded(), s, -INF)),
    "nothing": _softmax(lambda s: bs.where(bs.arange(5)[:, None] > 1, s, -INF)),
    "capped": _softmax(lambda s: bs.where(before(), 2.0 * bs.tanh(s / 2.0), -INF)),
    "slopes": _softmax(lambda s: s + bs.asarray(SLOPES) * (bs.arange(7) - bs.arange(5)[:, None])),
    "bent": _softmax(lambda s: bs.where(s > 0, s, s * 0.1)),
    "shared by two": _repeated(2),
    "shared by all": _repeated(1),
    "keys repeated": lambda q, k, v, barrier: (
        barrier(by_hand(q @ bs.repeat(k[:, :2], 2, axis=1).mT)) @ v
    ),
    "grouped": _grouped,
    "keys for all": _keys_for_all,
    "values first": _values_first,
    "one query": lambda q, k, v, barrier: barrier(bs.softmax(q[:, :, :1] @ k.mT, axis=-1)) @ v,
}

DEAD = ("nothing",)
"""Those in which a query attends to no key: its row is NaN."""


def drawn(seed: int) -> tuple[Written, list[Any]]:
    """An attention at random, and what it is called on."""
    draws = np.random.default_rng(seed)
    changes = [_CHANGES[place] for place in draws.choice(len(_CHANGES), draws.integers(0, 4))]
    softmax = (by_hand, lambda s: bs.softmax(s, axis=-1))[draws.integers(2)]
    heads = int(draws.choice([1, 2, 4]))
    scaled = int(draws.integers(3))
    mixed = (_mix_by_product, _mix_by_einsum)[draws.integers(2)]

    def written(q: Any, k: Any, v: Any, barrier: Barrier) -> Any:
        if scaled:
            q, k = (q * 0.4, k) if scaled == 1 else (q, k / 2)
        if heads != 4:
            k, v = (bs.repeat(x[:, :heads], 4 // heads, axis=1) for x in (k, v))
        scores = q @ k.mT
        for change in changes:
            scores = change(scores)
        return mixed(barrier(softmax(scores)), v)

    return written, arguments()


def _mix_by_product(weights: Any, v: Any) -> Any:
    return weights @ v


def _mix_by_einsum(weights: Any, v: Any) -> Any:
    return bs.einsum("bhqk,bhkd->bqhd", weights, v).reshape(2, 5, 12)


def _normal(*shape: int) -> Any:
    return bs.asarray(np.random.default_rng(7).normal(size=shape).astype(np.float32))


_CHANGES: list[Callable[[Any], Any]] = [
    lambda s: s * 0.3,
    lambda s: s / bs.asarray(np.float32(1.7)),
    lambda s: bs.where(before(), s, -INF),
    lambda s: bs.where(~before() | (bs.arange(7) == 3), -1e9, s),
    lambda s: bs.where(padded(), s, -INF),
    lambda s: 1.5 * bs.tanh(s / 1.5),
    lambda s: s + _normal(4, 1, 7),
    lambda s: _normal(2, 1, 5, 1) - s,
    lambda s: bs.where(s > 0.5, s, 0.5 * s * s),
    lambda s: s + bs.asarray(SLOPES) * (bs.arange(7) - bs.arange(5)[:, None]),
    lambda s: bs.where(bs.triu(bs.ones((5, 7)), k=2) == 0, s, bs.finfo(bs.float32).min),
]
