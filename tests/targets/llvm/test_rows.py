"""Rows as machine code, with the CPU's own schedules: at sizes about the ends of their blocks."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.tile import Scratch
from brimstone.targets.llvm.machines import AVX512
from kit.lowered import in_tiles

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
        expected = (d - normal * (d * normal).sum(1, keepdims=True)) / root
        # Where the difference is next to nothing, both of its sides are as large as elsewhere.
        least = 1e-6 * np.abs(expected).max()
        np.testing.assert_allclose(back.numpy(), expected, rtol=2e-5, atol=least)
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


def columns_of(x: Any, np_like: Any) -> tuple[Any, ...]:
    """A norm with its factor, and a softmax: of two levels each."""
    low = x - np_like.mean(x, axis=0, keepdims=True)
    factor = 1 / np_like.sqrt(np_like.mean(low * low, axis=0, keepdims=True) + 1)
    above = np_like.exp(x - np_like.max(x, axis=0, keepdims=True))
    return low * factor, factor, above / np_like.sum(above, axis=0, keepdims=True)


@pytest.mark.parametrize("shape", [(70_001, 33), (2051, 1027), (521, 4097), (2_100_001,)])
def test_long_columns_are_done_level_by_level(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(shape).standard_normal(shape)
    x[-1] = -np.inf
    if len(shape) > 1:
        x[-1, 1:], x[7, 3], x[8, 4] = 3, np.nan, np.inf
    step = bs.jit(lambda x: columns_of(x, bs))
    with bs.device("cpu"), np.errstate(all="ignore"):
        given = bs.asarray(x.astype(np.float32))
        text = str(step.explain(given))
        for found, expected in zip(step(given), columns_of(x, np), strict=True):
            close(found, expected)
    assert ("level2_parts, " in text.split("else", maxsplit=1)[0]) is (shape[-1:] != (4097,))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rows_that_pass_columns_leave_no_row_behind(dtype: str) -> None:
    """What results have no memory for, as they are narrower, is computed again: to keep 1,024
    columns of each row took 1.2 GB for 300,000 rows of three."""

    def softmax(x: Any) -> Any:
        return bs.softmax(x, axis=0)

    def backward(x: Any, dy: Any) -> Any:
        return bs.vjp(softmax, x)[1](dy)

    x = bs.zeros((300, 30), dtype=dtype)
    for function, given in ((softmax, (x,)), (backward, (x, x))):
        made = in_tiles(function, *given, machine=AVX512)
        assert not made.refused
        rooms = [op for func in made.module for op in func.walk() if isinstance(op, Scratch)]
        assert rooms
        assert all(isinstance(size, int) for room in rooms for size in room.shape)
