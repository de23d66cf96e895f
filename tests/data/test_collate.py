"""Batches of items."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone import data
from kit.mistakes import Mistake, check


class Pair(NamedTuple):
    one: Any
    other: Any


def test_dtypes() -> None:
    batch = data.stack([{"b": True, "i": 1, "f": 0.5, "c": 1j, "m": 1}] * 2)
    kinds = {name: str(array.dtype) for name, array in batch.items()}
    assert kinds == {"b": "bool", "i": "int64", "f": "float32", "c": "complex64", "m": "int64"}
    assert data.stack([1, 0.5]).dtype == np.float32
    assert data.stack([np.float64(1), np.float64(2)]).dtype == np.float64
    assert data.stack([np.ones(2, np.uint8)] * 3).shape == (3, 2)
    assert data.stack([bs.asarray([1.0, 2.0])]).tolist() == [[1.0, 2.0]]


def test_what_is_no_number_is_listed() -> None:
    assert data.stack(["a", "b"]) == ["a", "b"]
    assert data.stack([b"a", 1]) == [b"a", 1]
    batch = data.stack([Pair([1, "a"], None), Pair([2, "b"], None)])
    assert isinstance(batch, Pair)
    assert batch.one[0].tolist() == [1, 2]
    assert batch.one[1] == ["a", "b"]
    assert batch.other is None


def test_padded() -> None:
    items = [(np.array([1, 2, 3]), 5), (np.array([4]), 6)]
    tokens, labels = data.Padded(-1)(items)
    assert tokens.tolist() == [[1, 2, 3], [4, -1, -1]]
    assert labels.tolist() == [5, 6]
    assert data.Padded(multiple=4)(items)[0].shape == (2, 4)
    boxes = data.Padded(np.nan)([np.ones((2, 4), np.float32), np.ones((0, 4), np.float32)])
    assert np.isnan(boxes[1]).all()
    assert boxes.dtype == np.float32
    alike = data.Padded(-1)([np.ones(2, np.uint8)] * 2)  # nothing is filled up
    assert alike.tolist() == [[1, 1], [1, 1]]


ONE, TWO = np.ones(1, np.uint8), np.ones(2, np.uint8)
MISTAKES = [
    Mistake(lambda: data.stack([]), bs.ArgumentError, "no items"),
    Mistake(lambda: data.stack([{"a": 1}, {"b": 1}]), bs.ShapeError, "items 0 and 1"),
    Mistake(lambda: data.stack([[1, 2], [1]]), bs.ShapeError, "make arrays of lists"),
    Mistake(lambda: data.stack([(0, ONE), (0, TWO)]), bs.ShapeError, "leaf 1 of (*, *): the"),
    Mistake(lambda: data.stack([ONE, TWO]), bs.ShapeError, "uint8[1], uint8[2]"),
    Mistake(lambda: data.stack([1 << 70]), bs.DTypeError, "more than 64 bits"),
    Mistake(lambda: data.Padded(-1)([ONE, TWO]), bs.DTypeError, "uint8 does not hold -1"),
    Mistake(lambda: data.Padded(0.5)([ONE, TWO]), bs.DTypeError, "uint8 does not hold 0.5"),
    Mistake(lambda: data.Padded()([ONE, TWO[None]]), bs.ShapeError, "differ in rank"),
    Mistake(lambda: data.Padded(multiple=0), bs.ArgumentError, "multiple is 0"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)
