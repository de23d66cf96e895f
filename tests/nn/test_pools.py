"""Pools as modules, against loops over windows."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.differences import check_gradients
from kit.mistakes import Mistake, check
from kit.windows import pooled

RNG = np.random.default_rng(6)
IMAGE = RNG.permutation(np.arange(60.0)).reshape(1, 2, 5, 6)


def largest(seen: list[Any]) -> Any:
    return np.max(seen, axis=0)


# The layer of a line of seven elements, and which of these each window sees.
LINES: dict[str, tuple[Any, list[tuple[int, int]]]] = {
    "pairs": (nn.MaxPool1d(2), [(0, 2), (2, 4), (4, 6)]),
    "pairs and what is left": (nn.MaxPool1d(2, ceil_mode=True), [(0, 2), (2, 4), (4, 6), (6, 7)]),
    "all": (nn.MaxPool1d(7), [(0, 7)]),
    "gaps": (nn.MaxPool1d(1, 4), [(0, 1), (4, 5)]),
    "gaps to the end": (nn.MaxPool1d(2, 5, ceil_mode=True), [(0, 2), (5, 7)]),
    "no window begins in the padding behind": (
        nn.MaxPool1d(2, 4, 1, ceil_mode=True), [(0, 1), (3, 5)]),
    "around": (nn.MaxPool1d(3, 2, 1), [(0, 2), (1, 4), (3, 6), (5, 7)]),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_windows_of_lines(name: str) -> None:
    layer, ends = LINES[name]
    x = RNG.permutation(np.arange(14.0)).reshape(1, 2, 7)
    expected = np.stack([x[..., first:end].max(-1) for first, end in ends], axis=-1)
    np.testing.assert_array_equal(layer(bs.asarray(x)).numpy(), expected)
    mean = nn.AvgPool1d(
        layer.kernel_size, layer.stride, layer.padding, layer.ceil_mode, count_include_pad=False
    )
    expected = np.stack([x[..., first:end].mean(-1) for first, end in ends], axis=-1)
    np.testing.assert_allclose(mean(bs.asarray(x)).numpy(), expected, rtol=1e-14)


def test_images() -> None:
    by = {"stride": (2, 1), "low": (1, 0), "dilation": (1, 2)}
    layer = nn.MaxPool2d((3, 2), (2, 1), (1, 0), (1, 2))
    expected = pooled(IMAGE, (3, 2), (1, 0), largest, **by)
    np.testing.assert_array_equal(layer(bs.asarray(IMAGE)).numpy(), expected)


def test_zeros_count_and_what_is_beyond_them_does_not() -> None:
    x = bs.asarray(np.arange(1.0, 6.0).reshape(1, 1, 5))
    found = nn.AvgPool1d(4, 3, 1, ceil_mode=True)(x)
    np.testing.assert_allclose(found.numpy()[0, 0], [6 / 4, (3 + 4 + 5) / 4])
    found = nn.AvgPool1d(3, 2, 0, ceil_mode=True)(bs.asarray(np.arange(1.0, 7).reshape(1, 1, 6)))
    np.testing.assert_allclose(found.numpy()[0, 0], [6 / 3, 12 / 3, 11 / 2])
    found = nn.AvgPool1d(2, divisor_override=4)(x)
    np.testing.assert_allclose(found.numpy()[0, 0], [3 / 4, 7 / 4])


@pytest.mark.parametrize(("size", "counts"), [(3, (3, 3)), ((4, None), (4, 6)), ((7, 1), (7, 1))])
def test_windows_of_about_one_size(size: Any, counts: tuple[int, int]) -> None:
    ends = [
        [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]
        for size, count in zip((5, 6), counts, strict=True)
    ]
    seen = [IMAGE[..., slice(*rows), slice(*columns)] for rows in ends[0] for columns in ends[1]]
    for layer, combine in ((nn.AdaptiveMaxPool2d, np.max), (nn.AdaptiveAvgPool2d, np.mean)):
        expected = np.stack([combine(each, axis=(2, 3)) for each in seen], axis=-1)
        found = layer(size)(bs.asarray(IMAGE)).numpy()
        np.testing.assert_allclose(found, expected.reshape(1, 2, *counts), rtol=1e-14)


def test_volumes() -> None:
    x = RNG.permutation(np.arange(48.0)).reshape(1, 2, 2, 3, 4)
    blocks = x[:, :, :, :2].reshape(1, 2, 1, 2, 1, 2, 2, 2)
    given = bs.asarray(x)
    np.testing.assert_array_equal(nn.MaxPool3d(2)(given).numpy(), blocks.max((3, 5, 7)))
    np.testing.assert_allclose(nn.AvgPool3d(2)(given).numpy(), blocks.mean((3, 5, 7)))
    np.testing.assert_array_equal(
        nn.AdaptiveMaxPool3d(1)(given).numpy()[..., 0, 0, 0], x.max((2, 3, 4))
    )


def test_gradients() -> None:
    x = bs.asarray(IMAGE)
    check_gradients(nn.AdaptiveMaxPool2d((3, 4)), x)
    check_gradients(nn.AvgPool2d(3, 2, 1, ceil_mode=True), x)


def test_an_element_that_is_seen_twice_in_one_window_counts_once() -> None:
    """Windows that are shorter than others see their last element again."""
    slope = bs.grad(lambda x: nn.AdaptiveMaxPool1d(2)(x).sum())(bs.asarray([[[1.0, 2.0, 3.0]]]))
    assert slope.tolist() == [[[0, 1, 1]]]
    slope = bs.grad(lambda x: nn.AdaptiveMaxPool1d(3)(x).sum())(bs.asarray([[[5.0, 2, 3, 4]]]))
    assert slope.tolist() == [[[1, 0, 1, 1]]]


def test_means_are_rounded_once() -> None:
    x = bs.full((1, 1, 2048), 300.0, dtype=bs.float16)
    for layer in (nn.AvgPool1d(2048), nn.AvgPool1d(2048, divisor_override=4096)):
        found = layer(x)
        assert found.dtype == bs.float16
        assert float(found) in (300.0, 150.0)


def test_functions_take_a_number_for_all_axes() -> None:
    x = bs.asarray(IMAGE)
    same = bs.array_equal
    assert same(nn.functions.max_pool(x, 2, ceil_mode=True), nn.MaxPool2d(2, ceil_mode=True)(x))
    assert same(nn.functions.mean_pool(x, 3, 2, 1), nn.AvgPool2d(3, 2, 1)(x))
    assert same(nn.functions.adaptive_max_pool(x, 2), nn.AdaptiveMaxPool2d(2)(x))


X = bs.zeros((1, 2, 5, 6))
MISTAKES = {
    "a line": Mistake(lambda: nn.MaxPool2d(2)(X[0]), bs.ShapeError, "takes [N, C, space…] of 4"),
    "a large window": Mistake(
        lambda: nn.AvgPool2d(9)(X), bs.ShapeError, "spans 9 places along axis 2"),
    "padding alone": Mistake(
        lambda: nn.MaxPool2d(2, padding=2)(X), bs.ArgumentError, "would see nothing else"),
    "no axes of space": Mistake(
        lambda: nn.functions.mean_pool(X[0, 0], 2), bs.ShapeError, "mean_pool: takes images"),
    "no window": Mistake(
        lambda: nn.MaxPool2d(0), bs.ArgumentError, "`kernel_size` is at least 1"),
    "a negative padding": Mistake(
        lambda: nn.AvgPool1d(2, padding=-1), bs.ArgumentError, "`padding` is at least 0"),
    "a divisor of 0": Mistake(
        lambda: nn.AvgPool1d(2, divisor_override=0), bs.ArgumentError, "is not 0"),
    "a size of another number of axes": Mistake(
        lambda: nn.AdaptiveMaxPool2d((1, 2, 3)), bs.ArgumentError, "`output_size` is [1, 2, 3]"),
    "no windows": Mistake(
        lambda: nn.AdaptiveAvgPool1d(0), bs.ArgumentError, "`output_size` is at least 1"),
    "no elements": Mistake(
        lambda: nn.AdaptiveMaxPool1d(2)(bs.zeros((1, 1, 0))), bs.ShapeError, "has no elements"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
