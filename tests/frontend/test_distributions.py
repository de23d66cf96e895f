"""The distributions of `bs.random`: samples of fixed keys, by Kolmogorov and Smirnov or by χ²."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import random
from kit.samples import Array, chi_square, farthest

COUNT = 20_000
KEY = random.key(20260)
FLOATS = ["float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float32", "float64"]
erf = np.vectorize(math.erf)


def gaussian(x: Array) -> Array:
    return (1 + erf(x / math.sqrt(2))) / 2


def tail(x: Array) -> Array:
    """1 less `gaussian`, to all digits."""
    return np.vectorize(math.erfc)(np.asarray(x, np.float64) / math.sqrt(2)) / 2


def erlang(shape: int) -> Callable[[Array], Array]:
    """Gamma's distribution for a whole number."""
    return lambda x: 1 - np.exp(-x) * sum(x**k / math.factorial(k) for k in range(shape))


Case = tuple[Callable[..., bs.Tensor], dict[str, Any], Callable[[Array], Array]]
CASES: dict[str, Case] = {
    "uniform": (random.uniform, {}, lambda x: x),
    "uniform between": (random.uniform, {"minval": -3, "maxval": 5.0}, lambda x: (x + 3) / 8),
    "normal": (random.normal, {}, gaussian),
    "normal around": (random.normal, {"mean": 2, "std": 0.5}, lambda x: gaussian((x - 2) * 2)),
    "truncated": (
        random.truncated_normal,
        {"lower": -1.0, "upper": 2.0},
        lambda x: (
            (gaussian(x) - gaussian(np.array(-1)))
            / (gaussian(np.array(2)) - gaussian(np.array(-1)))
        ),
    ),
    "truncated far": (
        random.truncated_normal,
        {"lower": 5.5, "upper": 6.5},
        lambda x: (tail(np.array(5.5)) - tail(x)) / (tail(np.array(5.5)) - tail(np.array(6.5))),
    ),
    "truncated far below": (
        random.truncated_normal,
        {"lower": np.float32(-20), "upper": np.float32(-6)},
        lambda x: tail(-x) / tail(np.array(6.0)),
    ),
    "exponential": (random.exponential, {"rate": 2.0}, lambda x: 1 - np.exp(-2 * x)),
    "laplace": (
        random.laplace,
        {"scale": 2.0},
        lambda x: (
            np.where(x < 0, np.exp(np.minimum(x, 0) / 2), 2 - np.exp(-np.maximum(x, 0) / 2)) / 2
        ),
    ),
    "gumbel": (random.gumbel, {"loc": 1.0}, lambda x: np.exp(-np.exp(1 - x))),
    "logistic": (random.logistic, {}, lambda x: 1 / (1 + np.exp(-x))),
    "cauchy": (random.cauchy, {}, lambda x: np.arctan(x) / np.pi + 0.5),
    "lognormal": (random.lognormal, {"sigma": 0.5}, lambda x: gaussian(np.log(x) * 2)),
    "rayleigh": (random.rayleigh, {}, lambda x: 1 - np.exp(-x * x / 2)),
    "weibull": (random.weibull, {"concentration": 3}, lambda x: 1 - np.exp(-(x**3))),
    "pareto": (random.pareto, {"b": 2.0}, lambda x: 1 - x**-2.0),
    "gamma 1": (random.gamma, {"a": 1.0}, erlang(1)),
    "gamma 4": (random.gamma, {"a": 4.0, "scale": 0.5}, lambda x: erlang(4)(2 * x)),
    "gamma 1/2": (random.gamma, {"a": 0.5}, lambda x: erf(np.sqrt(x))),
    "log gamma": (random.loggamma, {"a": 2}, lambda x: erlang(2)(np.exp(x))),
    "chisquare": (random.chisquare, {"df": 6}, lambda x: erlang(3)(x / 2)),
    "student": (random.student_t, {"df": 2.0}, lambda x: 0.5 + x / (2 * np.sqrt(2 + x * x))),
    "beta": (random.beta, {"a": 2.0, "b": 1.0}, lambda x: x * x),
    "beta below 1": (random.beta, {"a": 1.0, "b": 0.5}, lambda x: 1 - np.sqrt(1 - x)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_distributions(name: str, dtype: str) -> None:
    """By the test of Kolmogorov and Smirnov: one good sample in 1600 is farther off than 2."""
    draw, options, distribution = CASES[name]
    sample = draw(KEY, shape=(COUNT,), dtype=dtype, **options)
    assert sample.dtype == dtype
    assert farthest(sample.numpy(), distribution) < 2


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["normal", "exponential", "gamma", "beta", "laplace"])
def test_narrow_samples_are_wide_ones_rounded_once(name: str, dtype: str) -> None:
    found = getattr(random, name)(KEY, shape=(50,), dtype=dtype)
    assert found.dtype == dtype
    if dtype != "float64":
        wide = getattr(random, name)(KEY, shape=(50,)).astype(dtype)
        np.testing.assert_array_equal(found.numpy(), wide.numpy())


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_normal_numbers(dtype: str) -> None:
    sample = random.normal(KEY, (COUNT,), dtype, std=2.0)
    assert sample.dtype == dtype
    for part in (sample.real, sample.imag):
        assert farthest(part.numpy() / math.sqrt(2), gaussian) < 2
    assert abs(np.corrcoef(sample.real.numpy(), sample.imag.numpy())[0, 1]) < 0.03


@pytest.mark.parametrize("rate", [0.3, 3.0, 9.99, 10.0, 25.0])
def test_poisson(rate: float) -> None:
    sample = random.poisson(KEY, rate, (COUNT,)).numpy()
    low, high = max(int(rate - 2.5 * rate**0.5), 0), int(rate + 2.5 * rate**0.5) + 1
    numbers = np.arange(high + 1)
    chances = np.array([math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in numbers])
    counts = np.bincount(np.minimum(sample, high + 1), minlength=high + 2)
    inner, inner_chances = counts[low : high + 1], chances[low:]
    rest = COUNT - inner.sum()
    found = np.append(inner, rest)
    assert chi_square(found, np.append(inner_chances, 1 - inner_chances.sum())) < 4


def test_poisson_of_great_and_odd_rates() -> None:
    sample = random.poisson(KEY, 1e9, (COUNT,)).numpy()
    assert farthest((sample - 1e9) / math.sqrt(1e9), gaussian) < 2
    odd = random.poisson(KEY, bs.asarray([0.0, -1.0, math.nan, math.inf]))
    assert odd.tolist() == [0, 0, 0, 0]
    assert random.poisson(KEY, 4.0, (3,), bs.float32).dtype == bs.float32


def test_gamma_of_odd_parameters() -> None:
    found = random.gamma(KEY, bs.asarray([-1.0, 0.0, math.nan, 2.0])).numpy()
    assert np.isnan(found).tolist() == [True, True, True, False]
    tiny = random.loggamma(KEY, 1e-5, (100,)).numpy()
    assert np.isfinite(tiny).all()
    assert tiny.mean() < -1e4


def test_dirichlet() -> None:
    alpha = bs.asarray([1.0, 2.0, 5.0])
    sample = random.dirichlet(KEY, alpha, (5000,)).numpy()
    assert sample.shape == (5000, 3)
    np.testing.assert_allclose(sample.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(sample.mean(0), alpha.numpy() / 8, atol=0.01)
    assert random.dirichlet(KEY, (1.0, 1.0)).shape == (2,)
    assert random.dirichlet(KEY, bs.ones((4, 3))).shape == (4, 3)


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-3, 4), (5, 6), (-(2**63), 2**63)])
def test_integers(low: int, high: int) -> None:
    sample = random.randint(KEY, (COUNT,), low, high).numpy()
    assert sample.dtype == np.int64
    assert low <= sample.min() <= sample.max() < high
    if 1 < high - low < 100:
        counts = np.bincount(sample - low, minlength=high - low)
        assert chi_square(counts, np.full(len(counts), 1 / len(counts))) < 4


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_integers_of_every_width(dtype: str) -> None:
    ends = np.iinfo(dtype)
    sample = random.randint(KEY, (4000,), int(ends.min), int(ends.max) + 1, dtype).numpy()
    assert sample.dtype == dtype
    assert sample.max() > ends.max * 0.9
    signed = dtype.startswith("int")
    assert sample.min() < (ends.min * 0.9 if signed else ends.max * 0.1)


@pytest.mark.parametrize(
    ("low", "high", "dtype"), [(0, 257, "uint8"), (-1, 5, "uint8"), (0, 2**40, "int32")]
)
def test_integers_that_the_dtype_has_not(low: int, high: int, dtype: str) -> None:
    with pytest.raises(bs.ArgumentError, match=f"not all integers in .* are {dtype}"):
        random.randint(KEY, (3,), low, high, dtype)


def test_integers_between_tensors() -> None:
    low, high = bs.asarray([-5, 0, 7]), bs.asarray([[-4], [100]])
    sample = random.randint(KEY, (200, 2, 3), low, high).numpy()
    assert (sample[:, 0, 0] == -5).all()
    assert (sample[:, 1] >= low.numpy()).all()
    assert (sample[:, 1] < 100).all()


def test_coins() -> None:
    p = bs.asarray([0.0, 0.2, 0.9, 1.0])
    sample = random.bernoulli(KEY, p, (5000, 4))
    assert sample.dtype == bs.bool
    np.testing.assert_allclose(sample.numpy().mean(0), p.numpy(), atol=0.02)
    assert sample.numpy()[:, [0, 3]].mean(0).tolist() == [0, 1]
    assert abs(random.rademacher(KEY, (5000,)).numpy().mean()) < 0.05
    assert {*random.rademacher(KEY, (50,), bs.float32).tolist()} == {-1.0, 1.0}


def test_geometric() -> None:
    sample = random.geometric(KEY, 0.3, (COUNT,)).numpy()
    counts = np.bincount(np.minimum(sample, 12))[1:]
    chances = 0.3 * 0.7 ** np.arange(11)
    assert chi_square(counts, np.append(chances, 1 - chances.sum())) < 4


@pytest.mark.parametrize("axis", [0, -1])
def test_categories(axis: int) -> None:
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    logits = bs.asarray(np.log(np.moveaxis(np.stack([shares, shares[::-1]]), -1, axis)))
    sample = random.categorical(KEY, logits, axis, (COUNT, 2)).numpy()
    for column, expected in zip(sample.T, (shares, shares[::-1]), strict=True):
        assert chi_square(np.bincount(column), expected) < 4
    assert random.categorical(KEY, logits, axis).shape == (2,)


def test_no_impossible_category() -> None:
    logits = bs.asarray([-math.inf, 0.0, -math.inf])
    assert {*random.categorical(KEY, logits, shape=(500,)).tolist()} == {1}


def test_permutations() -> None:
    sample = bs.vmap(lambda key: random.permutation(key, 5))(random.split(KEY, 600)).numpy()
    assert (np.sort(sample) == np.arange(5)).all()
    for place in range(5):
        assert chi_square(np.bincount(sample[:, place]), np.full(5, 0.2)) < 4
    x = bs.reshape(bs.arange(12), (4, 3))
    rows = random.permutation(KEY, x).numpy()
    assert sorted(rows.tolist()) == x.tolist()
    np.testing.assert_array_equal(random.shuffle(KEY, x).numpy(), rows)
    mixed = random.permutation(KEY, bs.tile(bs.arange(50), (2, 1)), 1, independent=True).numpy()
    assert (np.sort(mixed) == np.arange(50)).all()
    assert (mixed[0] != mixed[1]).any()


def test_choices() -> None:
    p = bs.asarray([0.5, 0.25, 0.25, 0.0])
    even = random.choice(KEY, 4, (COUNT,)).numpy()
    assert chi_square(np.bincount(even), np.full(4, 0.25)) < 4
    weighted = random.choice(KEY, 4, (COUNT,), p=p).numpy()
    assert chi_square(np.bincount(weighted), p.numpy()[:3]) < 4
    once = random.choice(KEY, 100, (10, 5), False).numpy()
    assert len({*once.ravel().tolist()}) == 50
    some = bs.vmap(lambda key: random.choice(key, 4, 2, False, p))(random.split(KEY, 300)).tolist()
    assert all(3 not in pair and pair[0] != pair[1] for pair in some)
    assert 120 < sum(pair[0] == 0 for pair in some) < 180
    x = bs.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    columns = random.choice(KEY, x, (5,), axis=1).numpy()
    np.testing.assert_array_equal(columns[1] - columns[0], np.full(5, 3))
