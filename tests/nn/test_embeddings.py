"""Embeddings: rows of a table, and the one that has no gradient."""

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check

PLACES = bs.asarray(np.array([[1, 0, 4], [2, 2, 0]]))


def test_rows() -> None:
    layer = nn.Embedding(5, 3, key=bs.random.key(0))
    assert layer.weight.shape == (5, 3)
    np.testing.assert_array_equal(layer(PLACES).numpy(), layer.weight.numpy()[PLACES.numpy()])
    assert layer(PLACES[0, 0]).shape == (3,)
    assert nn.Embedding(5, 3, dtype=bs.bfloat16)(PLACES).dtype == bs.bfloat16


@pytest.mark.parametrize("padding", [2, -3])
def test_the_row_of_the_padding_stays_zero(padding: int) -> None:
    layer = nn.Embedding(5, 2, padding_idx=padding)
    assert layer.padding_idx == 2
    assert not layer.weight[2].any()
    slope = bs.grad(lambda layer: layer(PLACES).sum())(layer)
    assert slope.weight[:, 0].tolist() == [2, 1, 0, 0, 1]
    whole = bs.grad(lambda layer: layer(PLACES).sum())(nn.Embedding(5, 2))
    assert whole.weight[:, 0].tolist() == [2, 1, 2, 0, 1]


MISTAKES = {
    "outside": Mistake(
        lambda: nn.Embedding(4, 2)(PLACES), bs.PlaceError, "outside"),
    "padding outside": Mistake(
        lambda: nn.Embedding(4, 2, padding_idx=4), bs.ArgumentError, "`padding_idx` is 4"),
    "a list": Mistake(
        lambda: nn.Embedding(4, 2)([1, 2]), bs.DTypeError, "embedding: expected a tensor"),
    "floats": Mistake(
        lambda: nn.Embedding(4, 2)(PLACES.astype(bs.float32)), bs.PlaceError,
        "an index is an integer"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
