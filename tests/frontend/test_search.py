"""Searches: what numpy finds, for all lengths, dtypes and sides, in code with open sizes too."""

from collections.abc import Callable

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.functions.search import FEW
from brimstone.ir import tensor as ops

NAN = float("nan")
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 16, 17, 100, 1009)
SIDES = ("left", "right")


def lines(dtype: str, length: int) -> tuple[np.ndarray, np.ndarray]:
    """A sorted line with equal elements, and values within and around it; with NaN if there is."""
    draws = np.random.default_rng(length)
    line = np.sort(draws.integers(0, max(length // 2, 2), length).astype(dtype))
    values = draws.integers(0, length + 4, (5, 7)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        line[len(line) - length // 5 :] = NAN
        values[0] = [NAN, -np.inf, np.inf, -0.0, 0.5, 1e4, NAN]
    return line, values


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("side", SIDES)
def test_places_are_numpys(dtype: str, length: int, side: str) -> None:
    line, values = lines(dtype, length)
    expected = np.searchsorted(line, values, side=side)  # pyright: ignore[reportCallIssue, reportArgumentType]
    found = bs.searchsorted(bs.asarray(line), bs.asarray(values), side=side)
    np.testing.assert_array_equal(found.numpy(), expected)
    assert found.dtype == bs.int64


@pytest.mark.parametrize("side", SIDES)
def test_one_function_serves_all_lengths(side: str) -> None:
    traced: list[int] = []

    @bs.jit
    def search(line: bs.Tensor, values: bs.Tensor) -> bs.Tensor:
        traced.append(1)
        return bs.searchsorted(line, values, side=side)

    for length in (300, 9, 2, 64, 1009):
        line, values = lines("float32", length)
        expected = np.searchsorted(line, values, side=side)  # pyright: ignore[reportCallIssue, reportArgumentType]
        found = search(bs.asarray(line), bs.asarray(values))
        np.testing.assert_array_equal(found.numpy(), expected)
    assert len(traced) == 1


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("least", [-1.0, 2.5, 9.0])
def test_a_line_that_is_picked_may_be_empty(least: float, jitted: bool) -> None:
    def function(line: bs.Tensor, values: bs.Tensor) -> tuple[bs.Tensor, bs.Tensor]:
        picked = line[line > least]
        return bs.searchsorted(picked, values), bs.isin(values, picked)

    line, values = np.arange(6, dtype=np.float32), np.array([0, 3, 5, 7], np.float32)
    function = bs.jit(function) if jitted else function
    places, inside = function(bs.asarray(line), bs.asarray(values))
    picked = line[line > least]
    assert places.tolist() == np.searchsorted(picked, values).tolist()
    assert inside.tolist() == np.isin(values, picked).tolist()


@pytest.mark.parametrize("search", [bs.searchsorted, lambda line, x: bs.isin(x, line)])
def test_many_values_are_not_compared_with_all_of_a_line(search: Callable[..., bs.Tensor]) -> None:
    line, values = bs.zeros(1500), bs.zeros((30, 50))
    assert line.size * values.size > FEW
    recorded = bs.jit(search).lower(line, values).ir.main.walk()
    assert max(op.result.type.rank for op in recorded if isinstance(op, ops.Broadcast)) <= 2
    expected = np.searchsorted(np.sort(line.numpy()), values.numpy())
    np.testing.assert_array_equal(bs.searchsorted(line, values).numpy(), expected)
    assert bs.isin(values, line).all()


def test_lines_side_by_side() -> None:
    draws = np.random.default_rng(0)
    line = np.sort(draws.standard_normal((4, 33)), axis=1).astype(np.float32)
    values = draws.standard_normal((4, 6)).astype(np.float32)
    expected = [np.searchsorted(*each) for each in zip(line, values, strict=True)]
    for search in (bs.vmap(bs.searchsorted), bs.jit(bs.vmap(bs.searchsorted))):
        np.testing.assert_array_equal(
            search(bs.asarray(line), bs.asarray(values)).numpy(), expected
        )


def interpolated(x: bs.Tensor, xs: bs.Tensor, ys: bs.Tensor) -> bs.Tensor:
    at = bs.clip(bs.searchsorted(xs, x), 1, xs.shape[0] - 1)
    share = (x - xs[at - 1]) / (xs[at] - xs[at - 1])
    return (ys[at - 1] + share * (ys[at] - ys[at - 1])).sum()


@pytest.mark.parametrize("jitted", [False, True])
def test_derivatives_pass_by_a_search(jitted: bool) -> None:
    xs, ys = bs.asarray([0.0, 1.0, 2.0, 4.0]), bs.asarray([0.0, 3.0, 2.0, 6.0])
    derive = bs.grad(interpolated, argnums=(0, 1, 2))
    derive = bs.jit(derive) if jitted else derive
    by_x, by_xs, by_ys = derive(bs.asarray([0.5, 3.0]), xs, ys)
    assert by_x.tolist() == [3.0, 2.0]
    assert by_xs.tolist() == [-1.5, -1.5, -1.0, -1.0]
    assert by_ys.tolist() == [0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex64"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("jitted", [False, True])
def test_what_is_in_is_numpys(dtype: str, length: int, jitted: bool) -> None:
    line, values = lines(dtype, length)
    line = np.random.default_rng(1).permutation(line)
    expected = np.isin(values, line)
    found = (bs.jit(bs.isin) if jitted else bs.isin)(bs.asarray(values), bs.asarray(line))
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("length", [1, 2, 17, 1009])
def test_places_where_a_mask_is_true(length: int, jitted: bool) -> None:
    mask = np.random.default_rng(length).random(length) < 0.4
    given = bs.asarray(mask)
    for size in (0, 1, length, length + 3):
        asked = bs.jit(lambda each, size=size: bs.nonzero(each, size=size, fill_value=-1)[0])
        found = asked(given) if jitted else bs.nonzero(given, size=size, fill_value=-1)[0]
        places = np.flatnonzero(mask)[:size]
        expected = np.pad(places, (0, size - len(places)), constant_values=-1)
        assert found.tolist() == expected.tolist()
    assert bs.nonzero(given)[0].tolist() == np.flatnonzero(mask).tolist()
    values = bs.arange(length)
    picked = (
        bs.jit(lambda each, mask: each[mask] * 2) if jitted else lambda each, mask: each[mask] * 2
    )
    assert picked(values, given).tolist() == (2 * np.flatnonzero(mask)).tolist()
