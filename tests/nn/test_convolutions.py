"""Convolutions as modules, against loops over windows."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.differences import check_gradients
from kit.mistakes import Mistake, check
from kit.windows import convolved, transposed

RNG = np.random.default_rng(5)
IMAGE = RNG.normal(size=(2, 4, 5, 6))
NUMPY_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def array(tensor: Any) -> Any:
    return np.asarray(tensor.numpy(), np.float64)


def by_hand(layer: Any, x: Any, stride: Any, low: Any, high: Any, apart: Any, groups: int) -> Any:
    by = {"stride": stride, "low": low, "dilation": apart}
    return convolved(x, array(layer.weight), array(layer.bias), groups, high, **by)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_images(groups: int) -> None:
    layer = nn.Conv2d(4, 4, (3, 2), (2, 1), (1, 2), (1, 2), groups, dtype=bs.float64)
    expected = by_hand(layer, IMAGE, (2, 1), (1, 2), (1, 2), (1, 2), groups)
    np.testing.assert_allclose(array(layer(bs.asarray(IMAGE))), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("kind", "shape"), [(nn.Conv1d, (1, 2, 4)), (nn.Conv3d, (1, 2, 2, 3, 2))])
def test_a_window_as_large_as_the_image(kind: Any, shape: tuple[int, ...]) -> None:
    x, space = RNG.normal(size=shape), len(shape) - 2
    layer = kind(2, 3, shape[2:], stride=5, dtype=bs.float64)
    weight = array(layer.weight).reshape(3, -1)
    expected = x.reshape(1, -1) @ weight.T + array(layer.bias)
    found = array(layer(bs.asarray(x)))
    np.testing.assert_allclose(found, expected.reshape(1, 3, *[1] * space), rtol=1e-12)


def test_same_padding_keeps_the_size() -> None:
    layer = nn.Conv2d(4, 3, (2, 3), padding="same", dilation=(3, 1), dtype=bs.float64)
    expected = by_hand(layer, IMAGE, (1, 1), (1, 1), (2, 1), (3, 1), 1)
    found = layer(bs.asarray(IMAGE))
    assert found.shape == (2, 3, 5, 6)
    np.testing.assert_allclose(array(found), expected, rtol=1e-12, atol=1e-14)
    assert nn.Conv2d(4, 3, (2, 3), padding="valid")(bs.asarray(IMAGE)).shape == (2, 3, 4, 4)


@pytest.mark.parametrize("mode", NUMPY_MODES)
def test_what_stands_around_an_image(mode: str) -> None:
    layer = nn.Conv2d(4, 2, 3, 2, (2, 1), padding_mode=mode, dtype=bs.float64)
    padded = np.pad(IMAGE, ((0, 0), (0, 0), (2, 2), (1, 1)), NUMPY_MODES[mode])  # pyright: ignore[reportCallIssue, reportArgumentType]
    expected = by_hand(layer, padded, (2, 2), (0, 0), (0, 0), (1, 1), 1)
    np.testing.assert_allclose(array(layer(bs.asarray(IMAGE))), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_transposed(groups: int) -> None:
    layer = nn.ConvTranspose2d(4, 4, (3, 2), (2, 3), (1, 0), (1, 2), groups, dtype=bs.float64)
    by = {"stride": (2, 3), "low": (1, 0), "dilation": (1, 1)}
    weight, bias = array(layer.weight), array(layer.bias)
    expected = transposed(IMAGE, weight, bias, groups, (10, 19), **by)
    np.testing.assert_allclose(array(layer(bs.asarray(IMAGE))), expected, rtol=1e-12, atol=1e-14)


def test_gradients() -> None:
    layer = nn.Conv1d(2, 2, 2, padding=1, groups=2, padding_mode="circular", dtype=bs.float64)
    x = bs.asarray(RNG.normal(size=(1, 2, 3)))
    check_gradients(
        lambda x, weight, bias: layer.replace(weight=weight, bias=bias)(x), x, layer.weight,
        layer.bias,
    )  # fmt: skip


@pytest.mark.parametrize("stride", [2, 3])
def test_gradients_of_transposed_groups(stride: int) -> None:
    found = list[Any]()
    for device in ("cpu", "reference"):
        with bs.device(device):
            layer = nn.ConvTranspose1d(24, 24, stride, stride, groups=2, key=bs.random.key(0))
            slopes = bs.grad(lambda layer: (layer(bs.ones((1, 24, 10))) ** 2).sum())(layer)
            found.append(array(slopes.weight))
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-5)


def test_parameters_have_the_shapes_of_pytorch() -> None:
    layer = nn.Conv2d(4, 6, (3, 2), groups=2)
    assert layer.bias is not None
    assert (layer.weight.shape, layer.bias.shape) == ((6, 2, 3, 2), (6,))
    assert float(abs(layer.weight).max()) <= 1 / np.sqrt(2 * 3 * 2)
    turned = nn.ConvTranspose3d(4, 6, (1, 2, 3), groups=2, bias=False)
    assert (turned.weight.shape, turned.bias) == ((4, 3, 1, 2, 3), None)


def test_a_key_decides_what_parameters_begin_as() -> None:
    first, again, other = [nn.Conv1d(2, 2, 3, key=bs.random.key(key)) for key in (1, 1, 2)]
    assert bs.array_equal(first.weight, again.weight)
    assert not bs.array_equal(first.weight, other.weight)
    assert bs.array_equal(nn.Conv1d(2, 2, 3, initialiser=nn.Ones()).weight, bs.ones((2, 2, 3)))


def test_narrow_images_are_summed_wide() -> None:
    x = bs.full((1, 512, 1), 1.0, dtype=bs.bfloat16)
    layer = nn.Conv1d(512, 1, 1, bias=False, initialiser=nn.Constant(0.01), dtype=bs.bfloat16)
    assert layer(x).dtype == bs.bfloat16
    np.testing.assert_allclose(float(layer(x)), 512 * float(bs.asarray(0.01, dtype=bs.bfloat16)))


X = bs.zeros((2, 4, 5, 6))
MISTAKES = {
    "a line": Mistake(
        lambda: nn.Conv2d(4, 2, 3)(X[0]), bs.ShapeError, "Conv2d: takes [N, C, space…] of 4 axes"),
    "channels": Mistake(
        lambda: nn.Conv2d(3, 2, 3)(X), bs.ShapeError, "x has 4 channels, and the weight takes 3"),
    "a large window": Mistake(
        lambda: nn.Conv2d(4, 2, 7)(X), bs.ShapeError, "spans 7 places along axis 2"),
    "groups of channels": Mistake(
        lambda: nn.Conv2d(4, 6, 3, groups=3), bs.ShapeError, "4 channels do not split into 3"),
    "groups of outputs": Mistake(
        lambda: nn.ConvTranspose2d(4, 3, 3, groups=2), bs.ShapeError, "3 channels do not split"),
    "no groups": Mistake(lambda: nn.Conv1d(4, 2, 3, groups=0), bs.ShapeError, "into 0 groups"),
    "a window of other axes": Mistake(
        lambda: nn.Conv2d(4, 2, (3, 3, 3)), bs.ArgumentError, "`kernel_size` is [3, 3, 3]"),
    "a stride of 0": Mistake(
        lambda: nn.Conv1d(4, 2, 3, stride=0), bs.ArgumentError, "`stride` is at least 1"),
    "a name of padding": Mistake(
        lambda: nn.Conv1d(4, 2, 3, padding="full"), bs.ArgumentError, "`padding` is 'full'"),
    "the same size in strides": Mistake(
        lambda: nn.Conv1d(4, 2, 3, 2, "same"), bs.ArgumentError, "no padding for the same size"),
    "a mode": Mistake(
        lambda: nn.Conv1d(4, 2, 3, padding_mode="edge"), bs.ArgumentError, "padding_mode is one"),
    "more behind than a stride": Mistake(
        lambda: nn.ConvTranspose2d(4, 2, 3, 2, 0, 2)(X), bs.ArgumentError, "`output_padding` is 2"),
    "nothing left": Mistake(
        lambda: nn.ConvTranspose1d(5, 2, 1, padding=3)(X[0]), bs.ShapeError, "padding leaves"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
