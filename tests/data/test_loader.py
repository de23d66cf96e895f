"""Loaders: batches in an order that the seed decides, on a device, gone on with; and mistakes."""

import json
import sys
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import data
from kit.datasets import Failing, Squares, counted, generated, jittered, shaken
from kit.mistakes import Mistake, check


def host(dataset: Any, batch: Any = 4, **how: Any) -> data.Loader:
    return data.Loader(dataset, batch, device="host", **how)


def places(loader: Any) -> list[list[int]]:
    return [batch["place"].tolist() for batch in loader]


def texts(loader: Any, count: int) -> list[str]:
    """So many batches, as texts, of as many epochs as that takes."""
    return [str(batch) for batch in islice(chain.from_iterable(repeat(loader)), count)]


WAYS = {
    "at once": {"prefetch": 0},
    "ahead": {},
    "far ahead": {"prefetch": 9},
    "threads": {"workers": "threads"},
}


@pytest.mark.parametrize("way", WAYS)
def test_batches(way: str) -> None:
    loader = host(Squares(), **WAYS[way])
    assert len(loader) == 3
    assert places(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    batch = next(iter(loader))
    assert batch["square"].tolist() == [0, 1, 4, 9]
    assert batch["name"] == ["n0", "n1", "n2", "n3"]
    assert places(host(Squares(), drop_last=True, **WAYS[way])) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert places(host(Squares(0), **WAYS[way])) == []


@pytest.mark.parametrize("way", WAYS)
def test_orders(way: str) -> None:
    how: dict[str, Any] = {"seed": 7, "augment": jittered, "augment_batch": shaken}
    loader = host(Squares(), shuffle=True, **how, **WAYS[way])
    epochs = [list(loader) for _ in range(2)]
    orders = [[place for batch in epoch for place in batch["place"]] for epoch in epochs]
    assert orders[0] != orders[1]
    assert [sorted(order) for order in orders] == [list(range(10))] * 2
    # The same places and the same noise, whoever makes the batches.
    plain = host(Squares(), shuffle=True, **how, prefetch=0)
    for batch, same in zip([*epochs[0], *epochs[1]], [*plain, *plain], strict=True):
        assert batch["place"].tolist() == same["place"].tolist()
        assert batch["noise"].tolist() == same["noise"].tolist()
        assert batch["shake"].tolist() == same["shake"].tolist()
    shakes = np.concatenate([batch["shake"] for epoch in epochs for batch in epoch])
    assert len({*shakes.tolist()}) == 20


def test_tensors_are_on_the_device() -> None:
    batch = next(iter(data.Loader(Squares(), 2)))
    assert isinstance(batch["square"], bs.Tensor)
    assert batch["square"].tolist() == [0.0, 1.0]
    assert (batch["square"].dtype, batch["place"].dtype) == ("float32", "int64")
    assert batch["name"] == ["n0", "n1"]
    with bs.device("reference"):
        there = next(iter(data.Loader(Squares(), 2)))
    assert there["place"].device == bs.device("reference")
    named = next(iter(data.Loader(Squares(), 2, device="reference")))
    assert named["place"].device == bs.device("reference")


def test_rows_are_taken_at_once() -> None:
    class Once(data.InMemory):
        asked = 0

        def batch(self, places: Any) -> Any:
            Once.asked += 1
            return super().batch(places)

    class Others(Once):
        def item(self, place: int) -> Any:
            return super().item(place) + 100

    rows = Once(np.arange(10))
    chosen = data.Shuffled(data.Selected(rows, range(9, -1, -1)), seed=2)
    found = np.concatenate(list(host(chosen)))
    assert found.tolist() == [chosen[place] for place in range(10)]
    assert Once.asked == 3
    assert next(iter(host(Others(np.arange(10))))).tolist() == [100, 101, 102, 103]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stream", [False, True], ids=["dataset", "stream"])
def test_going_on(way: str, stream: bool) -> None:
    source = data.Stream(generated, Squares(23)) if stream else Squares(23)
    how: dict[str, Any] = {"shuffle": True, "buffer": 5, "augment": jittered, **WAYS[way]}
    how["augment_batch"] = shaken
    expected = texts(host(source, **how), 18)
    for taken in range(0, 18, 3):
        first, second = host(source, **how), host(source, **how)
        found = texts(first, taken)
        second.restore(json.loads(json.dumps(first.state())))
        assert found + texts(second, 18 - taken) == expected


def test_each_iteration_is_an_epoch() -> None:
    loader = host(Squares(), shuffle=True)
    next(iter(loader))
    assert loader.state() == {"epoch": 0, "batch": 1, "seed": 0, "size": 4, "items": 10}
    once = places(loader)
    assert loader.state()["epoch"] == 2
    again = host(Squares(), shuffle=True)
    again.restore({**loader.state(), "epoch": 1})
    assert places(again) == once


def test_streams() -> None:
    loader = host(data.Stream(counted, 10))
    assert [batch.tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [len(batch) for batch in host(data.Stream(counted, 10), drop_last=True)] == [4, 4]
    mixed = host(data.Stream(counted, 100), 100, shuffle=True, buffer=10)
    first, second = next(iter(mixed)).tolist(), next(iter(mixed)).tolist()
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    assert all(item <= number + 10 for number, item in enumerate(first))
    with pytest.raises(TypeError, match="a stream"):
        len(loader)
    once = host(iter([1, 2]), 2)
    assert [batch.tolist() for batch in once] == [[1, 2]]
    with pytest.raises(bs.ArgumentError, match=r"read once(?s:.*)data\.Stream"):
        list(once)


def test_an_endless_stream_is_left() -> None:
    def forever() -> Any:
        number = 0
        while True:
            yield number
            number += 1

    for batch in host(data.Stream(forever)):
        if batch[0] > 20:
            break
    assert batch.tolist() == [24, 25, 26, 27]


class Odd:
    """A sampler of a user's."""

    def order(self, epoch: int) -> list[int]:
        return [1, 3, 5, 7, 9]


def test_samplers() -> None:
    loader = host(Squares(), sampler=data.Weighted([0] * 9 + [1], 6))
    assert places(loader) == [[9] * 4, [9] * 2]
    noisy = host(Squares(), sampler=data.Weighted([0] * 9 + [1], 6), augment=jittered)
    assert len({noise for batch in noisy for noise in batch["noise"].tolist()}) == 6
    assert places(host(Squares(), sampler=Odd())) == [[1, 3, 5, 7], [9]]
    assert places(host(Squares(), sampler=data.Sharded(Odd(), 1, 2))) == [[3, 7, 1]]
    buckets = data.LengthBuckets(range(10), 5)
    assert sorted(places(host(Squares(), None, sampler=buckets))) == [[*range(5)], [*range(5, 10)]]


def test_nothing_is_kept_of_what_was_taken() -> None:
    loader = iter(host(Squares()))
    batch = next(loader)
    assert sys.getrefcount(batch["place"]) == sys.getrefcount(np.zeros(4)) + 1


@pytest.mark.parametrize("way", WAYS)
def test_an_item_that_fails(way: str) -> None:
    batches = iter(host(Failing(), **WAYS[way]))
    assert next(batches)["place"].tolist() == [0, 1, 2, 3]
    with pytest.raises(bs.OperationFailed) as caught:
        next(batches)
    text = str(caught.value)
    assert "Loader: item 5 of Failing: ValueError: five is out of order" in text
    assert "test_loader.py" in text
    assert isinstance(caught.value.__cause__, ValueError)
    assert list(batches) == []


def test_a_batch_that_fails() -> None:
    with pytest.raises(bs.OperationFailed, match=r"the batch of items 0, 1, 2, 3, …: ShapeError"):
        list(host(data.Mapped(range(1, 9), np.ones), 5))


def test_a_stream_that_fails() -> None:
    def broken() -> Any:
        yield from (0, 1, 2)
        raise KeyError("no more")

    batches = iter(host(data.Stream(broken), 2))
    assert next(batches).tolist() == [0, 1]
    with pytest.raises(KeyError, match="no more"):
        next(batches)


TEN = Squares()
STATE = {"epoch": 0, "batch": 0, "seed": 0, "size": 4, "items": 10}
MISTAKES = [
    Mistake(lambda: host(TEN, 0), bs.ArgumentError, "batch is 0"),
    Mistake(lambda: host(TEN, None), bs.ArgumentError, "batch is None"),
    Mistake(lambda: host(TEN, workers=-1), bs.ArgumentError, "workers (if not 'threads') is -1"),
    Mistake(lambda: host(TEN, workers="fork"), bs.ArgumentError, "is 'fork'"),
    Mistake(lambda: host(TEN, prefetch=1.5), bs.ArgumentError, "prefetch is 1.5"),
    Mistake(lambda: host(TEN, seed=-1), bs.ArgumentError, "seed is -1"),
    Mistake(lambda: host(TEN, collate=3), bs.ArgumentError, "expected a function"),
    Mistake(lambda: host(5), bs.ArgumentError, "neither dataset nor stream"),
    Mistake(lambda: host(TEN, sampler=data.InOrder(3), shuffle=True), ValueError, "both `shuffle`"),
    Mistake(lambda: host(TEN, sampler=[1, 2]), bs.ArgumentError, "no method `order(epoch)`"),
    Mistake(lambda: host(iter([]), sampler=data.InOrder(3)), ValueError, "a stream has no places"),
    Mistake(lambda: host(TEN, sampler=data.LengthBuckets([1], 1)), ValueError, "makes the batches"),
    Mistake(lambda: data.Loader(TEN, 4, device="nowhere"), bs.DeviceError, "nowhere"),
    Mistake(lambda: host(TEN).restore({}), bs.ArgumentError, "what `state()` returned"),
    Mistake(lambda: host(TEN).restore({**STATE, "seed": 1}), ValueError, "seed is 0 here, and was"),
    Mistake(lambda: host(TEN).restore({**STATE, "items": 9}), ValueError, "items is 10 here"),
    Mistake(lambda: host(TEN).restore({**STATE, "batch": -1}), ValueError, "batch is -1"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)
