"""Norms as modules, against their formulas; running means over several steps."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.differences import check_gradients
from kit.mistakes import Mistake, check

RNG = np.random.default_rng(7)
IMAGE = RNG.normal(size=(3, 4, 2, 3)) * 2 + 1
SCALE, SHIFT = RNG.uniform(0.5, 2, 4), RNG.normal(size=4)
EPS = 1e-5


def normalised(x: Any, axes: Any, eps: float = EPS) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def affine(x: Any) -> Any:
    return x * SCALE[:, None, None] + SHIFT[:, None, None]


def given(layer: Any) -> Any:
    """The layer with a scale and a shift."""
    return layer.replace(weight=bs.asarray(SCALE), bias=bs.asarray(SHIFT))


def agree(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-13)


# A layer, and over which axes of an image, or of groups of its channels, it normalises.
NORMS: dict[str, tuple[Any, tuple[int, ...], Any]] = {
    "batch": (nn.BatchNorm2d(4, dtype=bs.float64), IMAGE.shape, (0, 2, 3)),
    "instance": (nn.InstanceNorm2d(4, affine=True, dtype=bs.float64), IMAGE.shape, (2, 3)),
    "one group": (nn.GroupNorm(1, 4, dtype=bs.float64), (3, 1, 4, 2, 3), (2, 3, 4)),
    "two groups": (nn.GroupNorm(2, 4, dtype=bs.float64), (3, 2, 2, 2, 3), (2, 3, 4)),
    "groups of one channel": (nn.GroupNorm(4, 4, dtype=bs.float64), (3, 4, 1, 2, 3), (2, 3, 4)),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms_of_channels(name: str) -> None:
    layer, shape, axes = NORMS[name]
    expected = affine(normalised(IMAGE.reshape(shape), axes).reshape(IMAGE.shape))
    with nn.training():
        agree(given(layer)(bs.asarray(IMAGE)), expected)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_norms_of_the_last_axes(count: int) -> None:
    shape, axes = IMAGE.shape[-count:], tuple(range(-count, 0))
    scale, x = RNG.normal(size=shape), bs.asarray(IMAGE)
    layer = nn.LayerNorm(shape, dtype=bs.float64).replace(weight=bs.asarray(scale))
    agree(layer(x), normalised(IMAGE, axes) * scale)
    root = nn.RmsNorm(shape, eps=0.5, dtype=bs.float64).replace(weight=bs.asarray(scale))
    size = np.sqrt((IMAGE**2).mean(axes, keepdims=True) + 0.5)
    agree(root(x), IMAGE / size * scale)


def test_what_is_added_to_mean_squares() -> None:
    for dtype in (bs.float32, bs.bfloat16):
        x = bs.full((1, 2), 2.0**-4, dtype=dtype)
        expected = 2.0**-4 / np.sqrt(2.0**-8 + float(bs.finfo(dtype).eps))
        np.testing.assert_allclose(float(nn.RMSNorm(2)(x)[0, 0]), expected, rtol=1e-2)


@pytest.mark.parametrize(("size", "shape"), [(3, (2, 5, 2, 2)), (2, (2, 5)), (9, (1, 5, 2))])
def test_local_responses(size: int, shape: tuple[int, ...]) -> None:
    x = RNG.normal(size=shape)
    behind = (size - 1) // 2
    widths = ((0, 0), (size // 2, behind), *[(0, 0)] * (len(shape) - 2))
    squares = np.pad(x**2, widths)
    around = sum(squares[:, at : at + 5] for at in range(size)) / size
    layer = nn.LocalResponseNorm(size, alpha=0.3, beta=0.6, k=2.0)
    agree(layer(bs.asarray(x)), x / (2 + 0.3 * around) ** 0.6)


def test_running_means_follow_in_a_compiled_loop() -> None:
    layer = given(nn.BatchNorm2d(4, momentum=0.3, dtype=bs.float64))
    average = nn.BatchNorm2d(4, momentum=None, dtype=bs.float64)

    @bs.jit
    def step(layers: Any, x: Any) -> Any:
        with nn.training() as context:
            made = layers[0](x), layers[1](x)
        return context.updated(layers), made[0]

    layers = (layer, average)
    mean, variance = np.zeros(4), np.ones(4)
    batches = [RNG.normal(size=IMAGE.shape) + at for at in range(3)]
    for batch in batches:
        layers, made = step(layers, bs.asarray(batch))
        agree(made, affine(normalised(batch, (0, 2, 3))))
        mean = 0.7 * mean + 0.3 * batch.mean((0, 2, 3))
        variance = 0.7 * variance + 0.3 * batch.var((0, 2, 3), ddof=1)
    agree(layers[0].running_mean, mean)
    agree(layers[0].running_var, variance)
    agree(layers[1].running_mean, np.mean([each.mean((0, 2, 3)) for each in batches], axis=0))
    agree(layers[1].running_var, np.mean([each.var((0, 2, 3), ddof=1) for each in batches], axis=0))
    assert [int(each.num_batches_tracked) for each in layers] == [3, 3]
    scaled = (IMAGE - mean[:, None, None]) / np.sqrt(variance + EPS)[:, None, None]
    agree(layers[0](bs.asarray(IMAGE)), affine(scaled))
    assert int(layer.num_batches_tracked) == 0


def test_running_means_of_instances() -> None:
    layer = nn.InstanceNorm2d(4, track_running_stats=True, dtype=bs.float64)
    with nn.training() as context:
        agree(layer(bs.asarray(IMAGE)), normalised(IMAGE, (2, 3)))
    after = context.updated(layer)
    agree(after.running_mean, 0.1 * IMAGE.mean((0, 2, 3)))
    agree(after.running_var, 0.9 + 0.1 * IMAGE.var((2, 3), ddof=1).mean(0))
    expected = (IMAGE - after.running_mean.numpy()[:, None, None]) / np.sqrt(
        after.running_var.numpy() + EPS
    )[:, None, None]
    agree(after(bs.asarray(IMAGE)), expected)


def test_running_means_are_no_parameters() -> None:
    layer, x = nn.BatchNorm2d(4, dtype=bs.float64), bs.asarray(IMAGE)

    def loss(layer: Any) -> bs.Tensor:
        return (layer(x) ** 2).sum()

    with nn.training():
        (_, after), slope = bs.value_and_grad(loss, updates=True)(layer)
    agree(after.running_mean, 0.1 * IMAGE.mean((0, 2, 3)))
    agree(slope.bias, np.zeros(4))
    assert abs(slope.weight).min() > 1


def test_means_of_the_host() -> None:
    found = nn.functions.batch_norm(bs.asarray(IMAGE), SHIFT, SCALE, eps=0.0)
    agree(found, (IMAGE - SHIFT[:, None, None]) / np.sqrt(SCALE)[:, None, None])


def test_vectors_and_nothing_tracked() -> None:
    x = RNG.normal(size=(5, 4))
    layer = nn.BatchNorm1d(4, affine=False, track_running_stats=False)
    assert (layer.weight, layer.running_mean) == (None, None)
    agree(layer(bs.asarray(x)), normalised(x, 0))
    with nn.training() as context:
        agree(layer(bs.asarray(x)), normalised(x, 0))
    assert context.updated(layer) is layer


def test_gradients() -> None:
    x = bs.asarray(RNG.normal(size=(2, 4, 3)))
    scale, shift = bs.asarray(SCALE), bs.asarray(SHIFT)
    for layer in (nn.BatchNorm1d(4), nn.InstanceNorm1d(4), nn.GroupNorm(2, 4, eps=0.1)):
        with nn.training():
            check_gradients(
                lambda x, weight, bias, layer=layer: layer.replace(weight=weight, bias=bias)(x),
                x, scale, shift,
            )  # fmt: skip
    check_gradients(nn.LayerNorm(3, dtype=bs.float64), x)
    check_gradients(nn.RmsNorm(3, dtype=bs.float64), x)
    check_gradients(nn.LocalResponseNorm(3, 0.5), x)


LAYERS = [
    nn.BatchNorm1d(4), nn.InstanceNorm1d(4), nn.GroupNorm(2, 4), nn.LayerNorm(64),
    nn.RmsNorm(64, eps=0.1), nn.LocalResponseNorm(3),
]  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_narrow_floats_are_normalised_wide(layer: Any) -> None:
    x = bs.asarray(RNG.normal(size=(2, 4, 64)) + 8, dtype=bs.bfloat16)
    with nn.training() as context:
        found, wide = layer(x), layer(x.astype(bs.float32))
    assert found.dtype == bs.bfloat16
    assert bs.array_equal(found, wide.astype(bs.bfloat16))
    if isinstance(layer, nn.BatchNorm1d):
        assert context.updated(layer).running_mean.dtype == bs.float32
    assert nn.BatchNorm1d(4, dtype=bs.bfloat16).running_var.dtype == bs.float32


def test_a_function_serves_batches_of_all_sizes() -> None:
    """No norm looks at the size of a batch."""
    traced = []

    @bs.jit
    def run(layers: Any, x: Any) -> Any:
        traced.append(x)
        with nn.training() as context:
            for layer in layers:
                x = layer(x)
        return context.updated(layers), x

    layers: Any = [
        nn.BatchNorm1d(4), nn.InstanceNorm1d(4), nn.GroupNorm(2, 4), nn.LayerNorm(3),
        nn.RmsNorm(3), nn.LocalResponseNorm(3), nn.Dropout(), nn.Dropout1d(),
    ]  # fmt: skip
    for count in (2, 5, 7):
        layers, made = run(layers, bs.ones((count, 4, 3)))
        assert made.shape == (count, 4, 3)
    assert len(traced) == 1


X = bs.zeros((2, 4, 5))
MISTAKES = {
    "channels": Mistake(
        lambda: nn.BatchNorm1d(3)(X), bs.ShapeError, "takes 3 channels, and axis 1 has 4"),
    "an image": Mistake(lambda: nn.BatchNorm2d(4)(X), bs.ShapeError, "of 4 axes, not 3"),
    "vectors or lines": Mistake(
        lambda: nn.BatchNorm1d(4)(X[0, 0]), bs.ShapeError, "of 2 or 3 axes, not 1"),
    "a momentum": Mistake(
        lambda: nn.BatchNorm1d(4, momentum=2.0), bs.ArgumentError, "`momentum` is a share"),
    "groups": Mistake(lambda: nn.GroupNorm(3, 4), bs.ShapeError, "4 channels do not split into 3"),
    "channels of groups": Mistake(
        lambda: nn.GroupNorm(2, 6)(X), bs.ShapeError, "takes 6 channels, and axis 1 has 4"),
    "last axes": Mistake(
        lambda: nn.LayerNorm(4)(X), bs.ShapeError, "whose last axes are [4]"),
    "no axes": Mistake(
        lambda: nn.functions.layer_norm(X, ()), bs.ShapeError, "takes the sizes of one axis"),
    "too few axes": Mistake(
        lambda: nn.RmsNorm((2, 4, 5, 1))(X), bs.ShapeError, "whose last axes are [2, 4, 5, 1]"),
    "one element": Mistake(
        lambda: nn.InstanceNorm1d(4)(X[..., :1]), bs.ShapeError, "over one element"),
    "no size": Mistake(
        lambda: nn.LocalResponseNorm(0)(X), bs.ArgumentError, "`size` is at least 1"),
    "no mean": Mistake(
        lambda: nn.functions.batch_norm(X, None, None), bs.ArgumentError,
        "takes a mean and a variance, not None"),
    "no tensor": Mistake(
        lambda: nn.BatchNorm1d(4)("x"), bs.DTypeError, "expected a tensor or a number, got str"),
    "complex numbers": Mistake(
        lambda: nn.LayerNorm(5)(X + 1j), bs.DTypeError, "layer_norm: does not take complex64"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])


def test_a_batch_of_one_vector_has_no_variance() -> None:
    def call() -> Any:
        with nn.training():
            return nn.BatchNorm1d(4)(bs.zeros((1, 4)))

    check(Mistake(call, bs.ShapeError, "normalises over one element"))


def test_gradients_of_the_weights_of_one_norm_behind_another() -> None:
    """The kernel that passes rows has no result but sums across them: one of these stays apart."""
    x = RNG.normal(size=(3, 8)).astype(np.float32)
    weights = [RNG.normal(size=shape).astype(np.float32) for shape in [(8,), (8,), (8, 4)]]

    def unit(x: Any, weight: Any) -> Any:
        return x / bs.sqrt((x * x).sum(axis=1, keepdims=True)) * weight

    def loss(first: Any, second: Any, last: Any) -> Any:
        return ((unit(unit(bs.asarray(x), first), second) @ last) ** 2).sum()

    gradients = bs.grad(loss, argnums=(0, 1, 2))
    found: list[list[np.ndarray]] = []
    for device in ("cpu", "reference"):
        with bs.device(device):
            made = bs.jit(gradients)(*map(bs.asarray, weights))
            found.append([each.numpy() for each in made])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
