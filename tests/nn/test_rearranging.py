"""Layers that put elements elsewhere: windows as columns, pixels, borders, axes."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.differences import check_gradients
from kit.mistakes import Mistake, check

IMAGE = np.random.default_rng(9).normal(size=(2, 3, 4, 6))


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.numpy(), expected)


def test_windows_are_columns() -> None:
    layer = nn.Unfold((3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1))
    padded = np.pad(IMAGE, ((0, 0), (0, 0), (1, 1), (0, 0)))
    expected = [
        padded[:, :, row : row + 3, column : column + 3 : 2].reshape(2, -1)
        for row in (0, 2)
        for column in range(4)
    ]
    same(layer(bs.asarray(IMAGE)), np.stack(expected, axis=-1))


def test_a_window_of_all_is_one_column() -> None:
    same(nn.Unfold((4, 6))(bs.asarray(IMAGE)), IMAGE.reshape(2, -1, 1))
    line = nn.Unfold(2, stride=3)(bs.asarray(IMAGE[0]))
    assert line.shape == (3, 8, 2)
    volume = nn.Unfold((1, 2, 3))(bs.asarray(IMAGE[None]))
    assert volume.shape == (1, 12, 3 * 3 * 4)


@pytest.mark.parametrize("options", [{"stride": 2}, {"padding": 1}, {"dilation": (2, 3)}])
def test_folding_counts_how_often_an_element_was_seen(options: Any) -> None:
    x = bs.asarray(IMAGE)
    columns = nn.Unfold(2, **options)(x)
    seen = np.zeros((4, 6))
    places = nn.Unfold(2, **options)(bs.asarray(np.arange(1.0, 25).reshape(1, 1, 4, 6)))
    for place in places.numpy().ravel().astype(int):
        seen.ravel()[place - 1] += place > 0
    found = nn.Fold((4, 6), 2, **options)(columns)
    np.testing.assert_allclose(found.numpy(), IMAGE * seen, rtol=1e-13)


def test_folding_inside_transformations() -> None:
    layer = nn.Fold(4, 2, stride=2)
    x = bs.asarray(IMAGE[:, :, :, :4].reshape(2, 12, 4))
    np.testing.assert_allclose(bs.jit(layer)(x).numpy(), layer(x).numpy())
    check_gradients(lambda x: layer(x) ** 2, x)
    batched = bs.vmap(layer)(x[:, None])
    same(batched[:, 0], layer(x).numpy())
    narrow = nn.Fold((4, 4), 2)(bs.full((1, 4, 9), 300.0, dtype=bs.bfloat16))
    assert (narrow.dtype, float(narrow.max())) == (bs.bfloat16, 1200)


def test_pixels() -> None:
    x = np.arange(2 * 4 * 2 * 3).reshape(2, 4, 2, 3)
    made = nn.PixelShuffle(2)(bs.asarray(x))
    assert made.shape == (2, 1, 4, 6)
    for at in range(4):
        same(made[:, 0, at // 2 :: 2, at % 2 :: 2], x[:, at])
    same(nn.PixelUnshuffle(2)(made), x)
    same(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(bs.asarray(x[0]))), x[0])


# Kinds of borders, and what numpy calls them.
BORDERS = {
    "zeros": ((nn.ZeroPad1d, nn.ZeroPad2d, nn.ZeroPad3d), "constant"),
    "reflected": ((nn.ReflectionPad1d, nn.ReflectionPad2d, nn.ReflectionPad3d), "reflect"),
    "repeated": ((nn.ReplicationPad1d, nn.ReplicationPad2d, nn.ReplicationPad3d), "edge"),
    "circular": ((nn.CircularPad1d, nn.CircularPad2d, nn.CircularPad3d), "wrap"),
}


@pytest.mark.parametrize("name", BORDERS)
def test_borders(name: str) -> None:
    """Pairs go from the last axis of space to the first."""
    kinds, mode = BORDERS[name]
    x = np.broadcast_to(IMAGE[:, None], (2, 2, 3, 4, 6))
    numbers: Any = [(2, 1), (0, 3), (1, 2)]
    for space, kind in enumerate(kinds, 1):
        given = x[(0,) * (3 - space)]
        widths = [(0, 0), (0, 0), *numbers[:space][::-1]]
        layer = kind([each for pair in numbers[:space] for each in pair])
        same(layer(bs.asarray(given)), np.pad(given, widths, mode))


def test_constant_borders() -> None:
    for kind, x in ((nn.ConstantPad1d, IMAGE[0]), (nn.ConstantPad2d, IMAGE)):
        widths = ((0, 0), (0, 0), *[(1, 1)] * (x.ndim - 2))
        same(kind(1, 2.5)(bs.asarray(x)), np.pad(x, widths, constant_values=2.5))
    same(nn.ConstantPad3d(0, 1.0)(bs.asarray(IMAGE[None])), IMAGE[None])
    same(nn.ZeroPad2d((-1, -2, 0, -1))(bs.asarray(IMAGE)), IMAGE[:, :, :3, 1:4])


def test_axes() -> None:
    x = bs.asarray(IMAGE)
    same(nn.Flatten()(x), IMAGE.reshape(2, -1))
    same(nn.Flatten(0, 1)(x), IMAGE.reshape(6, 4, 6))
    same(nn.Unflatten(-1, (2, -1))(x), IMAGE.reshape(2, 3, 4, 2, 3))
    same(nn.Unflatten(1, [3, 1])(x), IMAGE[:, :, None])


X = bs.zeros((2, 3, 4, 6))
MISTAKES = {
    "a large window": Mistake(
        lambda: nn.Unfold(5)(X), bs.ShapeError, "the window spans 5 places along axis 2"),
    "no axes of space": Mistake(
        lambda: nn.Unfold(1)(X[0, 0]), bs.ShapeError, "unfold: takes images [N, C, space…]"),
    "columns of another window": Mistake(
        lambda: nn.Fold((4, 6), (2, 2))(X[0]), bs.ShapeError, "takes [N, C * 4, 15]"),
    "columns of another number": Mistake(
        lambda: nn.Fold((4, 6), 1)(X[0]), bs.ShapeError, "takes [N, C * 1, 24]"),
    "channels": Mistake(
        lambda: nn.PixelShuffle(2)(X), bs.ShapeError, "3 channels do not make squares of 2 * 2"),
    "pixels": Mistake(
        lambda: nn.PixelUnshuffle(4)(X), bs.ShapeError, "do not split into squares of 4 * 4"),
    "no factor": Mistake(
        lambda: nn.functions.pixel_shuffle(X, 0), bs.ArgumentError, "the factor is at least 1"),
    "a line of pixels": Mistake(
        lambda: nn.PixelShuffle(1)(X[0, 0]), bs.ShapeError, "takes images"),
    "too few widths": Mistake(
        lambda: nn.ZeroPad2d((1, 2)), bs.ArgumentError, "takes one number, or 4, but [1, 2]"),
    "a line": Mistake(lambda: nn.ReflectionPad2d(1)(X[0]), bs.ShapeError, "of 4 axes, not 3"),
    "more than there is": Mistake(
        lambda: nn.ReflectionPad2d(4)(X), bs.ShapeError, "cannot be reflect-padded by 4"),
    "an axis": Mistake(lambda: nn.Unflatten(4, (1, 1))(X), bs.AxisError, "there is no axis 4"),
    "sizes": Mistake(
        lambda: nn.Unflatten(1, (2, 2))(X), bs.ShapeError, "do not fit the shape [2, 2, 2, 4, 6]"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
