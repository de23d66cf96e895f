"""Rows as machine code, with the CPU's own schedules: at sizes about the ends of their blocks."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs

SHAPES = ((1, 1), (3, 2049), (7, 2048), (257, 33), (300, 64), (2, 8193))
"""More columns than stream past one program; more rows than one program sums across; rows that are
too long for it."""


@bs.jit
def softmax_of_columns(x: Any) -> Any:
    above = bs.exp(x - bs.max(x, axis=0, keepdims=True))
    return above / bs.sum(above, axis=0, keepdims=True), bs.argmax(x, axis=0), bs.sum(x, axis=0)


@bs.jit
def norm_backward(x: Any, root: Any, scale: Any, dy: Any) -> Any:
    normal, d = x / root, dy * scale
    share = bs.sum(d * normal, axis=1, keepdims=True)
    back = (d - normal * share) / root
    return back, bs.sum(dy * normal, axis=0), bs.max(dy, axis=0)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_stream_past_columns(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(shape).standard_normal(shape)
    x[:, -1] = -np.inf
    x[-1, 0] = np.nan
    with bs.device("cpu"), np.errstate(all="ignore"):
        soft, place, sums = softmax_of_columns(bs.asarray(x.astype(np.float32)))
        above = np.exp(x - x.max(0))
        close(soft, above / above.sum(0))
        close(sums, x.sum(0))
        np.testing.assert_array_equal(place.numpy(), np.argmax(x, 0))


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_summed_across(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape)
    x, dy = rng.standard_normal((2, *shape))
    root, scale = rng.uniform(1, 2, (shape[0], 1)), rng.standard_normal((1, shape[1]))
    with bs.device("cpu"):
        given = [bs.asarray(each.astype(np.float32)) for each in (x, root, scale, dy)]
        back, products, most = norm_backward(*given)
        normal, d = x / root, dy * scale
        close(back, (d - normal * (d * normal).sum(1, keepdims=True)) / root)
        close(products, (dy * normal).sum(0))
        close(most, dy.max(0))


@bs.jit
def weighted(x: Any, weight: Any) -> Any:
    each = x * bs.exp(weight)[:, None, None]
    return bs.sum(each, axis=1), bs.max(each, axis=1, keepdims=True) * each, bs.argmax(each, axis=1)


@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 20, 2049)])
def test_what_is_the_same_for_all_columns_is_computed_with_the_rows(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(shape)
    x, weight = rng.standard_normal(shape), rng.standard_normal(shape[0])
    with bs.device("cpu"):
        given = [bs.asarray(each.astype(np.float32)) for each in (x, weight)]
        sums, products, place = weighted(*given)
        each = x * np.exp(weight)[:, None, None]
        close(sums, each.sum(1))
        close(products, each.max(1, keepdims=True) * each)
        np.testing.assert_array_equal(place.numpy(), each.argmax(1))
