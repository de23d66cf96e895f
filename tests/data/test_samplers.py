"""Orders of items: what they hold, and that seed and epoch decide them."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import data
from kit.mistakes import Mistake, check

LENGTHS = [(7 * place) % 23 for place in range(50)]
SAMPLERS = {
    "in order": lambda seed: data.InOrder(10),
    "permuted": lambda seed: data.Permuted(10, seed),
    "weighted": lambda seed: data.Weighted(range(1, 11), seed=seed),
    "without replacement": lambda seed: data.Weighted(range(10), seed=seed, replacement=False),
    "buckets": lambda seed: data.LengthBuckets(LENGTHS, 4, seed),
    "sharded": lambda seed: data.Sharded(data.Permuted(10, seed), 1, 3),
}


def order(sampler: Any, epoch: int = 0) -> list[Any]:
    return [np.asarray(entry).tolist() for entry in sampler.order(epoch)]


@pytest.mark.parametrize("name", SAMPLERS)
def test_seed_and_epoch_decide(name: str) -> None:
    make = SAMPLERS[name]
    assert order(make(3), 5) == order(make(3), 5)
    if name != "in order":
        assert order(make(3), 5) != order(make(4), 5)
        assert order(make(3), 5) != order(make(3), 6)


def test_permuted() -> None:
    assert sorted(order(data.Permuted(10))) == list(range(10))
    assert order(data.Permuted(0)) == []


def test_weights() -> None:
    drawn = Counter(order(data.Weighted([0, 1, 3, 0], count=4000)))
    assert set(drawn) == {1, 2}
    assert 2.5 < drawn[2] / drawn[1] < 3.5  # 10 standard deviations
    assert len(order(data.Weighted([1, 1, 0]))) == 3
    assert sorted(order(data.Weighted([2, 0, 1], replacement=False))) == [0, 2]
    first = [order(data.Weighted([1, 3], 1, seed, replacement=False))[0] for seed in range(400)]
    assert 0.65 < np.mean(first) < 0.85  # 4 standard deviations around 3/4


def test_buckets() -> None:
    sampler = data.LengthBuckets(LENGTHS, 4, pool=100)
    batches = order(sampler)
    assert sampler.batched
    assert sorted(place for batch in batches for place in batch) == list(range(50))
    assert sorted(map(len, batches)) == [2] + [4] * 12
    spans = sorted((min(each), max(each)) for each in ([LENGTHS[p] for p in b] for b in batches))
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    dropped = order(data.LengthBuckets(LENGTHS, 4, drop_last=True))
    assert [len(batch) for batch in dropped] == [4] * 12


@pytest.mark.parametrize("drop_last", [False, True], ids=["filled", "dropped"])
def test_shares(drop_last: bool) -> None:
    shares = [order(data.Sharded(data.InOrder(10), rank, 4, drop_last)) for rank in range(4)]
    filled = [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]
    assert shares == ([share[:2] for share in filled] if drop_last else filled)
    assert order(data.Sharded(data.InOrder(0), 0, 4)) == []
    whole = data.LengthBuckets(LENGTHS, 4)
    share = data.Sharded(whole, 1, 2)
    assert share.batched
    assert order(share)[0] == order(whole)[1]


MISTAKES = [
    Mistake(lambda: data.InOrder(-1), bs.ArgumentError, "count is -1"),
    Mistake(lambda: data.Permuted(3, seed=True), bs.ArgumentError, "seed is True"),
    Mistake(lambda: data.Weighted([1, -1]), bs.ArgumentError, "these are no weights"),
    Mistake(lambda: data.Weighted([0, 0]), bs.ArgumentError, "these are no weights"),
    Mistake(lambda: data.Weighted([[1, 1]]), bs.ArgumentError, "these are no weights"),
    Mistake(lambda: data.Weighted([np.nan]), bs.ArgumentError, "these are no weights"),
    Mistake(lambda: data.Weighted(["a"]), bs.ArgumentError, "these are no weights"),
    Mistake(lambda: data.Weighted([]), bs.ArgumentError, "these are no weights"),
    Mistake(lambda: data.Weighted([1, 0], 2, replacement=False), bs.ArgumentError, "from 1 that"),
    Mistake(lambda: data.LengthBuckets(["a"], 2), bs.ArgumentError, "these are no lengths"),
    Mistake(lambda: data.LengthBuckets([1], 0), bs.ArgumentError, "batch is 0"),
    Mistake(lambda: data.Sharded(data.InOrder(3), 2, 2), bs.ArgumentError, "no rank 2 among 2"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)
