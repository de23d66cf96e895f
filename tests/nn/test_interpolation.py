"""Images of other sizes, against sums over all elements that are written out."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from brimstone.nn.functions import interpolate
from kit.differences import check_gradients
from kit.mistakes import Mistake, check

RNG = np.random.default_rng(8)
LINE, IMAGE = RNG.normal(size=(2, 3, 5)), RNG.normal(size=(1, 2, 5, 4))


def cubic(t: float) -> float:
    t = abs(t)
    if t <= 1:
        return 1.25 * t**3 - 2.25 * t**2 + 1
    return -0.75 * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0.0


def lanczos(t: float) -> float:
    return float(np.sinc(t) * np.sinc(t / 3)) if abs(t) < 3 else 0.0


def place(at: int, size: int, count: int, corners: bool) -> float:
    """Where a place of the result is, counted in elements."""
    if corners:
        return at * (size - 1) / max(count - 1, 1)
    return (at + 0.5) * size / count - 0.5


def matrix(kind: str, size: int, count: int, corners: bool) -> Any:
    """How much of each element each place of the result takes."""
    made = np.zeros((count, size))
    for at in range(count):
        center = place(at, size, count, corners)
        around = range(int(np.floor(center)) - 2, int(np.floor(center)) + 4)
        for element in around:
            inside = min(max(element, 0), size - 1)
            if kind == "linear":
                made[at, inside] += max(0.0, 1 - abs(center - element))
            elif kind == "cubic":
                made[at, inside] += cubic(center - element)
            elif element == inside:
                made[at, inside] += lanczos(center - element)
    return made / made.sum(1, keepdims=True)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("kind", ["linear", "cubic", "lanczos"])
@pytest.mark.parametrize("count", [1, 3, 5, 11])
def test_lines(kind: str, count: int, corners: bool) -> None:
    found = nn.Upsample(count, mode=kind, align_corners=corners)(bs.asarray(LINE))
    expected = LINE @ matrix(kind, 5, count, corners).T
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("mode", "kind"), [("bilinear", "linear"), ("bicubic", "cubic"),
                                            ("lanczos", "lanczos")])  # fmt: skip
def test_images(mode: str, kind: str) -> None:
    found = interpolate(bs.asarray(IMAGE), (3, 7), mode=mode)
    down, right = matrix(kind, 5, 3, False), matrix(kind, 4, 7, False)
    np.testing.assert_allclose(found.numpy(), down @ IMAGE @ right.T, rtol=1e-12, atol=1e-14)


def test_scales_say_how_far_places_are_apart() -> None:
    """Of five elements 1.5 times as many are seven, which are still 2 / 3 apart."""
    x = bs.asarray(np.arange(5.0).reshape(1, 1, 5))
    found = interpolate(x, scale_factor=1.5, mode="linear").numpy()[0, 0]
    np.testing.assert_allclose(found, np.maximum((np.arange(7) + 0.5) / 1.5 - 0.5, 0))
    assert nn.Interpolate(scale_factor=[2, 0.5])(bs.asarray(IMAGE)).shape == (1, 2, 10, 2)


def test_the_nearest() -> None:
    x = bs.asarray(np.arange(5).reshape(1, 1, 5))
    down, middle = interpolate(x, 7), interpolate(x, 7, mode="nearest-exact")
    assert (down.dtype, down.tolist()) == (bs.int64, [[[0, 0, 1, 2, 2, 3, 4]]])
    assert middle.tolist() == [[[0, 1, 1, 2, 3, 3, 4]]]
    assert interpolate(x, 3).tolist() == [[[0, 1, 3]]]


@pytest.mark.parametrize("times", [1, 2, 3, 9])
def test_whole_factors_repeat_what_is_nearest(times: int) -> None:
    array = np.random.default_rng(0).normal(size=(2, 1, 3, 4, 2)).astype(np.float32)
    expected = array
    for axis in (2, 3, 4):
        expected = np.repeat(expected, times, axis)
    for mode in ("nearest", "nearest-exact"):
        for size, factor in ((None, times), (expected.shape[2:], None)):
            function = bs.jit(lambda x, s=size, f=factor, m=mode: interpolate(x, s, f, m))
            np.testing.assert_array_equal(function(bs.asarray(array)).numpy(), expected)
            assert ".gather" not in str(function.lower(bs.asarray(array)))


def test_means_of_areas() -> None:
    found = interpolate(bs.asarray(LINE), 2, mode="area").numpy()
    expected = np.stack([LINE[..., :3].mean(-1), LINE[..., 2:].mean(-1)], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos", "nearest", "area"])
def test_what_is_the_same_everywhere_stays_so(mode: str) -> None:
    found = interpolate(bs.full((1, 1, 3, 4, 2), 2.5), (5, 2, 4), mode=mode)
    np.testing.assert_allclose(found.numpy(), np.full((1, 1, 5, 2, 4), 2.5), rtol=1e-6)


def test_gradients() -> None:
    for mode in ("nearest", "cubic"):
        check_gradients(nn.Upsample((3, 7), mode=mode), bs.asarray(IMAGE))


def test_narrow_floats_are_rounded_once() -> None:
    x = bs.asarray(IMAGE, dtype=bs.bfloat16)
    found = interpolate(x, (3, 7), mode="bicubic")
    wide = interpolate(x.astype(bs.float32), (3, 7), mode="bicubic")
    assert bs.array_equal(found, wide.astype(bs.bfloat16))


X = bs.zeros((1, 2, 5, 4))
MISTAKES = {
    "no size": Mistake(lambda: nn.Upsample(mode="linear"), bs.ArgumentError, "takes `size` or"),
    "two sizes": Mistake(
        lambda: nn.Upsample(3, 2.0), bs.ArgumentError, "takes `size` or `scale_factor`"),
    "a mode": Mistake(lambda: interpolate(X, 3, mode="best"), bs.ArgumentError, "no mode 'best'"),
    "a mode of other axes": Mistake(
        lambda: interpolate(X, 3, mode="trilinear"), bs.ShapeError, "for trilinear of 5 axes"),
    "a line": Mistake(lambda: interpolate(X[0, 0], 3), bs.ShapeError, "takes [N, C, space…]"),
    "corners of the nearest": Mistake(
        lambda: interpolate(X, 3, align_corners=True), bs.ArgumentError, "`align_corners` means"),
    "sizes of other axes": Mistake(
        lambda: interpolate(X, (1, 2, 3)), bs.ArgumentError, "`size` is [1, 2, 3]"),
    "a scale of 0": Mistake(
        lambda: interpolate(X, scale_factor=0), bs.ArgumentError, "a number above 0, or 2 of them"),
    "nothing left": Mistake(
        lambda: interpolate(X, scale_factor=0.1), bs.ArgumentError, "nothing is left"),
    "no elements": Mistake(
        lambda: interpolate(X[..., :0], 2), bs.ShapeError, "an image has no elements"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
