"""Convolutions over bent windows, against loops over elements of windows."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.differences import check_gradients
from kit.mistakes import Mistake, check

RNG = np.random.default_rng(11)
IMAGE = RNG.normal(size=(2, 4, 5, 4))


def between(image: Any, row: float, column: float) -> Any:
    """Channels at a place between elements; outside there are zeros."""
    total = np.zeros(len(image))
    for y in (int(np.floor(row)), int(np.floor(row)) + 1):
        for x in (int(np.floor(column)), int(np.floor(column)) + 1):
            if 0 <= y < image.shape[1] and 0 <= x < image.shape[2]:
                total += image[:, y, x] * (1 - abs(row - y)) * (1 - abs(column - x))
    return total


def by_hand(layer: Any, x: Any, offset: Any, mask: Any, apart: int) -> Any:
    """The layer's windows of 2 * 3, whose settings are those of `layer_of`."""
    weight, bias = layer.weight.numpy(), layer.bias.numpy()
    rows, columns = offset.shape[2:]
    result = np.zeros((len(x), len(weight), rows, columns)) + bias[:, None, None]
    shared, inputs = x.shape[1] // apart, weight.shape[1]
    for n, r, c, k in np.ndindex(len(x), rows, columns, 6):
        read = []
        for group in range(apart):
            at = group * 6 + k
            down, right = offset[n, 2 * at : 2 * at + 2, r, c]
            row, column = r * 2 - 1 + k // 3 + down, c - 1 + k % 3 * 2 + right
            channels = x[n, group * shared : (group + 1) * shared]
            read.append(between(channels, row, column) * mask[n, at, r, c])
        seen = np.concatenate(read)
        for output in range(len(weight)):
            group = output // (len(weight) // layer.groups)
            own = seen[group * inputs : (group + 1) * inputs]
            result[n, output, r, c] += own @ weight[output, :, k // 3, k % 3]
    return result


def layer_of(groups: int) -> Any:
    return nn.DeformConv2d(4, 2, (2, 3), (2, 1), 1, (1, 2), groups, dtype=bs.float64)


@pytest.mark.parametrize(("groups", "apart"), [(1, 1), (2, 1), (1, 2), (2, 4)])
def test_windows_are_bent(groups: int, apart: int) -> None:
    layer = layer_of(groups)
    offset = RNG.normal(size=(2, apart * 12, 3, 2)) * 1.5
    mask = RNG.uniform(size=(2, apart * 6, 3, 2))
    given = bs.asarray(IMAGE), bs.asarray(offset)
    plain = by_hand(layer, IMAGE, offset, np.ones_like(mask), apart)
    np.testing.assert_allclose(layer(*given).numpy(), plain, rtol=1e-11, atol=1e-12)
    expected = by_hand(layer, IMAGE, offset, mask, apart)
    found = layer(*given, bs.asarray(mask))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-12)


def test_windows_that_are_not_bent() -> None:
    layer = layer_of(2)
    plain = nn.Conv2d(4, 2, (2, 3), (2, 1), 1, (1, 2), 2, dtype=bs.float64)
    plain = plain.replace(weight=layer.weight, bias=layer.bias)
    x = bs.asarray(IMAGE)
    expected = plain(x)
    offset = bs.zeros((2, 12, *expected.shape[2:]), dtype=bs.float64)
    np.testing.assert_allclose(layer(x, offset).numpy(), expected.numpy(), rtol=1e-12)


def test_gradients() -> None:
    layer = nn.DeformConv2d(2, 2, 2, groups=2, dtype=bs.float64)
    x, offset = bs.asarray(IMAGE[:1, :2, :3, :2]), RNG.uniform(0.2, 0.7, size=(1, 8, 2, 1))
    mask = RNG.uniform(size=(1, 4, 2, 1))
    check_gradients(
        lambda x, offset, mask, weight: layer.replace(weight=weight)(x, offset, mask),
        x, bs.asarray(offset), bs.asarray(mask), layer.weight,
    )  # fmt: skip


X = bs.zeros((2, 4, 5, 4))
OFFSET, MASK = bs.zeros((2, 12, 3, 2)), bs.zeros((2, 6, 3, 2))
MISTAKES = {
    "a line": Mistake(lambda: layer_of(1)(X[0], OFFSET), bs.ShapeError, "of 4 axes, not 3"),
    "channels": Mistake(
        lambda: layer_of(1)(X[:, :3], OFFSET), bs.ShapeError, "the weight takes 4 in each of 1"),
    "offsets": Mistake(
        lambda: layer_of(1)(X, OFFSET[:, :, :2]), bs.ShapeError, "offsets are [N, G * 12, 3, 2]"),
    "offsets of groups": Mistake(
        lambda: layer_of(1)(X, bs.zeros((2, 36, 3, 2))), bs.ShapeError, "offsets are [N, G * 12"),
    "a mask": Mistake(
        lambda: layer_of(1)(X, OFFSET, MASK[:1]), bs.ShapeError, "a mask has one number"),
    "groups": Mistake(
        lambda: nn.functions.deform_conv2d(X, OFFSET, bs.zeros((3, 2, 2, 3)), groups=2),
        bs.ShapeError, "in each of 2 groups"),
    "a large window": Mistake(
        lambda: nn.DeformConv2d(4, 2, 6)(X, OFFSET), bs.ShapeError, "spans 6 places along axis 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
