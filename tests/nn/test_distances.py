"""How near vectors are to each other, by formulas."""

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.differences import check_gradients
from kit.mistakes import Mistake, check

RNG = np.random.default_rng(10)
LEFT, RIGHT = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
PAIR = (bs.asarray(LEFT), bs.asarray(RIGHT))


@pytest.mark.parametrize("axis", [0, 1])
def test_cosines(axis: int) -> None:
    lengths = np.linalg.norm(LEFT, axis=axis) * np.linalg.norm(RIGHT, axis=axis)
    found = nn.CosineSimilarity(dim=axis)(*PAIR)
    np.testing.assert_allclose(found.numpy(), (LEFT * RIGHT).sum(axis) / lengths, rtol=1e-13)


def test_short_vectors_count_as_longer() -> None:
    found = nn.CosineSimilarity(eps=100.0)(*PAIR)
    np.testing.assert_allclose(found.numpy(), (LEFT * RIGHT).sum(1) / 1e4, rtol=1e-13)
    zeros = bs.zeros((2, 3), dtype=bs.float64)
    value, slope = bs.value_and_grad(lambda x: nn.CosineSimilarity()(x, x).sum())(zeros)
    assert (float(value), bs.array_equal(slope, zeros)) == (0, True)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, float("inf")])
def test_distances(order: float) -> None:
    expected = np.linalg.norm(LEFT - RIGHT + 1e-6, order, axis=1)
    np.testing.assert_allclose(nn.PairwiseDistance(order)(*PAIR).numpy(), expected, rtol=1e-12)
    kept = nn.PairwiseDistance(order, keepdim=True)(*PAIR)
    assert kept.shape == (3, 1)


def test_gradients() -> None:
    check_gradients(nn.CosineSimilarity(), *PAIR)
    check_gradients(nn.PairwiseDistance(3.0), *PAIR)


def test_narrow_floats_are_summed_wide() -> None:
    x = bs.full((1, 1024), 3.0, dtype=bs.bfloat16)
    assert nn.CosineSimilarity()(x, x).dtype == bs.bfloat16
    assert (float(nn.CosineSimilarity()(x, x)), float(nn.PairwiseDistance()(x, -x))) == (1, 192)


def test_mistakes() -> None:
    check(Mistake(lambda: nn.PairwiseDistance()(PAIR[0], PAIR[1][:2]), bs.ShapeError, "[3, 4]"))
    check(Mistake(lambda: nn.CosineSimilarity(dim=2)(*PAIR), bs.AxisError, "no axis 2"))
