"""Pooling against loops over windows, its gradients, and what people get wrong."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.passes.fuse import fuse
from brimstone.passes.generalise import generalise
from brimstone.passes.tiling import tile
from brimstone.targets.llvm.machines import AVX2
from brimstone.targets.llvm.schedules import chooser
from kit.mistakes import Mistake, check
from kit.windows import pooled

RNG = np.random.default_rng(13)

# The shape of x, the window, the settings, and what these mean: strides, padding before and behind.
Case = tuple[tuple[int, ...], tuple[int, ...], dict[str, Any], tuple[Any, ...]]
CASES: dict[str, Case] = {
    "line": ((2, 3, 7), (2,), {}, ((2,), (0,), (0,))),
    "beside each other": ((1, 2, 6, 9), (2, 3), {}, ((2, 3), (0, 0), (0, 0))),
    "overlapping": ((1, 2, 7, 6), (3, 3), {"stride": 2, "padding": 1}, ((2, 2), (1, 1), (1, 1))),
    "same": ((1, 2, 4, 5), (3, 2), {"stride": 1, "padding": "same"}, ((1, 1), (1, 0), (1, 1))),
    "gaps": ((2, 1, 11, 8), (2, 3), {"stride": (5, 4)}, ((5, 4), (0, 0), (0, 0))),
    "long": ((1, 2, 11, 12), (5, 6), {}, ((5, 6), (0, 0), (0, 0))),
    "all": ((2, 3, 4, 7), (4, 7), {"stride": 1}, ((1, 1), (0, 0), (0, 0))),
    "pairs": (
        (1, 1, 6, 7), (3, 3), {"stride": 2, "padding": ((0, 1), (2, 0))}, ((2, 2), (0, 2), (1, 0)),
    ),
    "volume": (
        (1, 2, 3, 4, 5), (2, 2, 2), {"stride": (1, 2, 3), "padding": (1, 0, 1)},
        ((1, 2, 3), (1, 0, 1), (1, 0, 1)),
    ),
}  # fmt: skip


def whole(shape: tuple[int, ...]) -> Any:
    """Numbers of which some are equal."""
    return RNG.integers(-3, 4, shape).astype(np.float64)


@pytest.mark.parametrize("name", CASES)
def test_the_largest_of_each_window(name: str) -> None:
    shape, window, options, (stride, low, high) = CASES[name]
    x, by = whole(shape), {"stride": stride, "low": low, "dilation": [1] * len(stride)}
    expected = pooled(x, window, high, lambda seen: np.max(seen, axis=0), **by)
    np.testing.assert_array_equal(bs.max_pool(bs.asarray(x), window, **options).numpy(), expected)


@pytest.mark.parametrize("count_padding", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_the_mean_of_each_window(name: str, count_padding: bool) -> None:
    shape, window, options, (stride, low, high) = CASES[name]
    x, by = whole(shape), {"stride": stride, "low": low, "dilation": [1] * len(stride)}

    def mean(seen: list[Any]) -> Any:
        return np.sum(seen, axis=0) / (np.prod(window) if count_padding else len(seen))

    expected = pooled(x, window, high, mean, **by)
    found = bs.mean_pool(bs.asarray(x), window, count_padding=count_padding, **options)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)


def test_a_window_with_gaps() -> None:
    x = whole((2, 1, 8, 7))
    by = {"stride": (2, 1), "low": (1, 0), "dilation": (2, 3)}
    expected = pooled(x, (2, 2), (1, 0), lambda seen: np.max(seen, axis=0), **by)
    found = bs.max_pool(bs.asarray(x), 2, stride=(2, 1), padding=(1, 0), dilation=(2, 3))
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("name", CASES)
def test_the_first_of_the_largest_has_the_derivative(name: str) -> None:
    """By the places of all elements, of which the first of the largest in each window is found."""
    shape, window, options, (stride, low, high) = CASES[name]
    x, by = whole(shape), {"stride": stride, "low": low, "dilation": [1] * len(stride)}
    places = np.arange(x.size).reshape(shape)

    def first(seen: list[Any]) -> Any:
        found = np.argmax([x.ravel()[each] for each in seen], axis=0)
        return np.take_along_axis(np.stack(seen), found[None], 0)[0]

    taken = pooled(places, window, high, first, **by)
    weights = whole(taken.shape)
    expected = np.bincount(taken.ravel(), weights.ravel(), x.size).reshape(shape)
    pull = bs.vjp(lambda x: bs.max_pool(x, window, **options), bs.asarray(x))[1]
    np.testing.assert_array_equal(pull(bs.asarray(weights))[0].numpy(), expected)


@pytest.mark.parametrize("name", ["overlapping", "long", "volume"])
def test_the_mean_is_linear(name: str) -> None:
    """So a cotangent times x is what its pull-back is times x."""
    shape, window, options, _ = CASES[name]
    x = bs.asarray(whole(shape))
    y, pull = bs.vjp(lambda x: bs.mean_pool(x, window, count_padding=False, **options), x)
    weights = bs.asarray(whole(y.shape))
    back, along = pull(weights)[0], bs.asarray(whole(shape))
    pushed = bs.mean_pool(along, window, count_padding=False, **options)
    np.testing.assert_allclose(float((back * along).sum()), float((weights * pushed).sum()))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("numbers", "window", "places"),
    [
        ([NAN, NAN], 2, [0]),
        ([NAN, 1, 2, NAN], 4, [0]),
        ([1, NAN, 2, NAN], 4, [1]),
        ([INF, NAN], 2, [1]),
        ([NAN, INF], 2, [0]),
        ([1, 1, NAN, 3], 2, [0, 2]),
        ([NAN, 1, 2, NAN, 3, 4], 6, [0]),
        ([5, 1, 2, NAN, NAN, 4], 6, [3]),
        ([-INF, -INF], 2, [0]),
        ([-INF] * 6, 6, [0]),
        ([-0.0, 0.0], 2, [0]),
    ],
)
def test_the_first_no_number_has_the_derivative(
    numbers: list[float], window: int, places: list[int]
) -> None:
    x = bs.asarray(np.array([[numbers]]))
    found = bs.grad(lambda x: bs.max_pool(x, window).sum())(x)
    assert np.nonzero(found.numpy()[0, 0])[0].tolist() == places
    assert found.numpy().sum() == len(places)


@pytest.mark.parametrize(("padding", "expected"), [((1, 0), [1, 0]), ((0, 1), [1, 1])])
def test_nothing_but_minus_infinity_behind_padding_has_no_derivative(
    padding: tuple[int, int], expected: list[int]
) -> None:
    def total(x: Any) -> bs.Tensor:
        return bs.max_pool(x, 2, stride=1, padding=(padding,)).sum()

    x = bs.asarray(np.array([[[-INF, -INF]]]))
    assert bs.grad(total)(x).numpy()[0, 0].tolist() == expected


def test_the_first_no_number_of_several_axes_has_the_derivative() -> None:
    x = bs.asarray(np.array([[[[1, NAN], [NAN, NAN]]]]))
    found = bs.grad(lambda x: bs.max_pool(x, 2).sum())(x)
    assert found.numpy()[0, 0].tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize("window", [2, 5])
def test_the_largest_of_zeros_is_a_zero(window: int) -> None:
    zeros = bs.asarray(np.array([[[-0.0, 0.0, -0.0, 0.0, -0.0]]]))
    assert (bs.max_pool(zeros, window) == 0).all()


@pytest.mark.parametrize("pool", [bs.max_pool, partial(bs.mean_pool, count_padding=False)])
def test_an_image_of_unknown_size_may_have_no_window(pool: Any) -> None:
    def pooled(x: Any) -> bs.Tensor:
        return pool(x, 5, stride=1, padding=1)

    f = bs.jit(pooled, dynamic={"x": {2: bs.dim("n", 1, 64)}})
    slope = bs.jit(bs.grad(lambda x: pooled(x).sum()), dynamic={"x": {2: bs.dim("n", 1, 64)}})
    for size, places in ((1, 0), (2, 0), (3, 1), (7, 5)):
        x = bs.asarray(whole((1, 1, size)))
        assert f(x).shape == (1, 1, places)
        np.testing.assert_allclose(float(slope(x).sum()), places, rtol=1e-12)
    np.testing.assert_array_equal(f(x).numpy(), pooled(x).numpy())


def test_one_window_of_any_size() -> None:
    """An axis of no elements has a mean too, and so has one of an unknown number."""
    for shape, size in (((1, 1, 0), 1), ((1, 1, 0, 4), (1, 2)), ((1, 1, 4, 0), (2, 1))):
        found = bs.adaptive_mean_pool(bs.ones(shape), size)
        assert found.shape == (1, 1, *np.broadcast_to(size, len(shape) - 2))
        assert np.isnan(found.numpy()).all()
    for size in (1, (1, 2), (1, 3)):
        f = bs.jit(
            lambda x, size=size: bs.adaptive_mean_pool(x, size),
            dynamic={"x": {2: bs.dim("n", 1, 64)}},
        )
        for rows in (1, 5):
            x = bs.asarray(whole((2, 1, rows, 4)))
            np.testing.assert_allclose(
                f(x).numpy(), bs.adaptive_mean_pool(x, size).numpy(), rtol=1e-13, atol=1e-15
            )


def test_both_orders_of_derivatives() -> None:
    x, by = bs.asarray(whole((1, 1, 5, 5))), bs.asarray(whole((1, 1, 5, 5)))

    def cubes(x: Any) -> bs.Tensor:
        return (bs.max_pool(x, 3, stride=2) ** 3).sum() + (bs.mean_pool(x, 2) ** 3).sum()

    forward = bs.jvp(bs.grad(cubes), (x,), (by,))[1]
    backward = bs.grad(lambda x: (bs.grad(cubes)(x) * by).sum())(x)
    np.testing.assert_allclose(forward.numpy(), backward.numpy(), atol=1e-12)


@pytest.mark.parametrize(("sizes", "result"), [((7, 10), (3, 5)), ((3, 9), 4), ((6, 5), 1)])
def test_windows_of_about_one_size(sizes: tuple[int, int], result: Any) -> None:
    x = whole((2, 3, *sizes))
    counts = np.broadcast_to(result, 2)
    expected = np.zeros((2, 3, *counts))
    for i, j in np.ndindex(*counts):
        ends = [
            (at * size // count, -(-(at + 1) * size // count))
            for at, size, count in zip((i, j), sizes, counts, strict=True)
        ]
        (top, bottom), (left, right) = ends
        expected[..., i, j] = x[..., top:bottom, left:right].mean((2, 3))
    found = bs.adaptive_mean_pool(bs.asarray(x), result)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13, atol=1e-15)


def test_what_is_no_number_stays_in_the_windows_that_hold_it() -> None:
    x = bs.zeros((1, 1, 12)).at[0, 0, 5].set(float("nan")).at[0, 0, 9].set(float("-inf"))
    for window in (2, 6):
        for pool in (bs.max_pool, bs.mean_pool):
            found = pool(x, window).numpy()[0, 0]
            assert np.isnan(found).tolist() == [5 // window == at for at in range(12 // window)]
    padded = bs.max_pool(x - float("inf"), 3, stride=1, padding=1).numpy()
    assert np.isnan(padded).sum() == 3
    assert np.isneginf(padded).sum() == 9


@pytest.mark.parametrize("dtype", [bs.int8, bs.uint16, bs.float8_e4m3, bs.bfloat16])
def test_padding_is_never_the_largest(dtype: Any) -> None:
    x = bs.full((1, 1, 2), -3 if dtype is not bs.uint16 else 0, dtype=dtype)
    found = bs.max_pool(x, 2, stride=1, padding=1)
    assert found.dtype == dtype
    assert (found == x[..., :1]).all()


@pytest.mark.parametrize("dtype", [bs.float16, bs.bfloat16])
def test_means_are_rounded_once(dtype: Any) -> None:
    x = bs.full((1, 1, 64, 64), 300.0, dtype=dtype)
    for found in (bs.mean_pool(x, 64), bs.mean_pool(x, 4), bs.adaptive_mean_pool(x, 3)):
        assert found.dtype == dtype
        assert (found == 300).all()


def test_lanes_and_no_images() -> None:
    x = bs.asarray(whole((3, 2, 4, 5, 5)))
    for pool in (bs.max_pool, bs.mean_pool, bs.adaptive_mean_pool):
        found = bs.vmap(lambda x, pool=pool: pool(x, 2))(x)
        np.testing.assert_array_equal(found.numpy()[1], pool(x[1], 2).numpy())
        assert pool(x[0, :0], 2).shape == (0, *found.shape[2:])


@pytest.mark.parametrize(("pool", "stride"), [(bs.max_pool, 2), (bs.mean_pool, 1)])
def test_all_kernels_have_a_form_of_tiles(pool: Any, stride: int) -> None:
    """Backward too: strides leave nothing between the elements of a line."""

    def bent(x: Any) -> bs.Tensor:
        return bs.sin(pool(x, 3, stride=stride, padding=1)).sum()

    lowered = bs.jit(bs.grad(bent)).lower(bs.ones((2, 3, 8, 9)))
    module = Module([generalise(lowered.ir.main).func])
    assert not tile(fuse(module.main).module, chooser(AVX2)).refused


def test_a_new_number_of_images_compiles_nothing() -> None:
    f = bs.jit(lambda x: bs.max_pool(x, 3, stride=2, padding=1))
    f(bs.ones((2, 3, 9, 9)))
    assert f.explain(bs.ones((5, 4, 9, 9))).new_steps == 0


X = bs.ones((2, 3, 5, 5))
MISTAKES = [
    Mistake(lambda: bs.max_pool(X[0, 0], 2), ValueError, "[N, C, space…]"),
    Mistake(lambda: bs.max_pool(X, 0), ValueError, "`window` is at least 1"),
    Mistake(lambda: bs.max_pool(X, 2.0), TypeError, "`window` is an integer, not float"),
    Mistake(lambda: bs.max_pool(X, (2, 2, 2)), ValueError, "x has 2 axes of space"),
    Mistake(lambda: bs.max_pool(X[0], (2, 2)), ValueError, "x has 1 axis of space"),
    Mistake(lambda: bs.max_pool(X, 2**70), ValueError, "`window` is less than 2147483648"),
    Mistake(lambda: bs.max_pool(X, 2, stride=2**31), ValueError, "`stride` is less than"),
    Mistake(lambda: bs.max_pool(X, 2, dilation=2**70), ValueError, "`dilation` is less than"),
    Mistake(lambda: bs.mean_pool(X, 2, padding=2**70), ValueError, "`padding` is less than"),
    Mistake(lambda: bs.adaptive_mean_pool(X, 2**70), ValueError, "`size` is less than"),
    Mistake(lambda: bs.mean_pool(X, 9), ValueError, "`padding`, or a window that spans less"),
    Mistake(
        lambda: bs.max_pool(X[..., :0], 1), ValueError,
        "the window spans 1 place along axis 3, where x has 0",
    ),
    Mistake(lambda: bs.max_pool(X, 2, stride=0), ValueError, "`stride` is at least 1"),
    Mistake(lambda: bs.mean_pool(X, 6), ValueError, "the window spans 6 places along axis 2"),
    Mistake(lambda: bs.mean_pool(X, 2, padding=2), ValueError, "would see nothing else"),
    Mistake(lambda: bs.mean_pool(X, 2, padding="same"), ValueError, "the same size"),
    Mistake(lambda: bs.max_pool(X * 1j, 2), TypeError, "does not take complex64"),
    Mistake(lambda: bs.adaptive_mean_pool(X, 0), ValueError, "`size` is at least 1"),
    Mistake(lambda: bs.adaptive_mean_pool(X[..., :0], 2), ValueError, "has 0 elements"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)
