"""`bs.convolve` and its transpose against loops, their gradients, and what people get wrong."""

from collections.abc import Mapping
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
from kit.windows import convolved, transposed

RNG = np.random.default_rng(7)

# The shapes of x and of the weight, the settings, and what these mean: strides, padding before and
# behind, and dilation.
Case = tuple[tuple[int, ...], tuple[int, ...], dict[str, Any], tuple[Any, ...]]
CASES: dict[str, Case] = {
    "line": ((2, 3, 7), (4, 3, 3), {}, ((1,), (0,), (0,), (1,))),
    "same": ((2, 3, 7), (4, 3, 4), {"padding": "same"}, ((1,), (1,), (2,), (1,))),
    "same, apart": (
        (1, 3, 7), (2, 3, 3), {"padding": "same", "dilation": 2}, ((1,), (2,), (2,), (2,)),
    ),
    "valid": ((1, 2, 4, 5), (2, 2, 3, 2), {"padding": "valid"}, ((1, 1), (0, 0), (0, 0), (1, 1))),
    "strides": (
        (2, 2, 6, 5), (3, 2, 3, 2), {"stride": (2, 3), "padding": (1, 2)},
        ((2, 3), (1, 2), (1, 2), (1, 1)),
    ),
    "pairs": (
        (1, 2, 6, 5), (2, 2, 2, 2), {"padding": ((0, 1), (2, 0)), "dilation": (1, 3)},
        ((1, 1), (0, 2), (1, 0), (1, 3)),
    ),
    "groups": (
        (2, 4, 5, 4), (6, 2, 2, 2), {"groups": 2, "stride": 2, "padding": 1},
        ((2, 2), (1, 1), (1, 1), (1, 1)),
    ),
    "depthwise": (
        (2, 3, 4, 4), (6, 1, 3, 3), {"groups": 3, "padding": 1}, ((1, 1), (1, 1), (1, 1), (1, 1)),
    ),
    "volume": (
        (1, 2, 3, 4, 3), (2, 2, 2, 3, 1), {"stride": (1, 2, 1), "padding": np.array([1, 0, 1])},
        ((1, 2, 1), (1, 0, 1), (1, 0, 1), (1, 1, 1)),
    ),
    "no images": ((0, 3, 7), (4, 3, 3), {}, ((1,), (0,), (0,), (1,))),
}  # fmt: skip


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [RNG.integers(-4, 5, shape).astype(np.float64) for shape in shapes]


@pytest.mark.parametrize("name", CASES)
def test_it_is_its_definition(name: str) -> None:
    image, kernel, options, (stride, low, high, dilation) = CASES[name]
    x, weight, bias = arrays(image, kernel, kernel[:1])
    groups, by = options.get("groups", 1), {"stride": stride, "low": low, "dilation": dilation}
    expected = convolved(x, weight, bias, groups, high, **by)
    found = bs.convolve(*map(bs.asarray, (x, weight, bias)), **options)
    np.testing.assert_array_equal(found.numpy(), expected)
    plain = bs.convolve(bs.asarray(x), bs.asarray(weight), **options)
    np.testing.assert_array_equal(plain.numpy(), expected - bias.reshape(-1, *[1] * len(stride)))


# The shapes of x and of the weight, the settings, and the sizes of the result.
BACK: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any], tuple[int, ...]]] = {
    "line": ((2, 3, 4), (3, 2, 3), {}, (6,)),
    "strides": ((2, 3, 4), (3, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1}, (8,)),
    "groups": (
        (1, 4, 3, 2), (4, 3, 2, 3), {"groups": 2, "stride": (3, 1), "output_padding": (2, 0)},
        (10, 4),
    ),
    "apart": ((1, 2, 3, 3), (2, 2, 2, 2), {"stride": 2, "dilation": 3, "padding": 1}, (6, 6)),
    "more taken away": ((1, 2, 5), (2, 1, 2), {"stride": 2, "padding": ((3, 2),)}, (5,)),
    "volume": ((1, 2, 2, 1, 2), (2, 1, 1, 2, 2), {"stride": 2}, (3, 2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", BACK)
def test_the_transpose_is_its_definition(name: str) -> None:
    image, kernel, options, sizes = BACK[name]
    groups, space = options.get("groups", 1), len(sizes)
    x, weight, bias = arrays(image, kernel, (kernel[1] * groups,))
    by = {name: np.broadcast_to(options.get(name, 1), space) for name in ("stride", "dilation")}
    padding = options.get("padding", 0)
    low = [each[0] for each in padding] if isinstance(padding, tuple) else [padding] * space
    expected = transposed(x, weight, bias, groups, sizes, low=low, **by)
    found = bs.convolve_transposed(*map(bs.asarray, (x, weight, bias)), **options)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_each_is_the_gradient_of_the_other() -> None:
    x, y, weight = map(bs.asarray, arrays((2, 4, 7), (2, 6, 4), (6, 2, 3)))
    options: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2}
    (back,) = bs.vjp(lambda x: bs.convolve(x, weight, **options), x)[1](y)
    found = bs.convolve_transposed(y, weight, **options)
    np.testing.assert_array_equal(found.numpy(), back.numpy())
    (again,) = bs.vjp(lambda y: bs.convolve_transposed(y, weight, **options), y)[1](x)
    np.testing.assert_array_equal(again.numpy(), bs.convolve(x, weight, **options).numpy())


@pytest.mark.parametrize("name", ["strides", "pairs", "groups"])
def test_gradients_are_slopes(name: str) -> None:
    image, kernel, options, _ = CASES[name]
    given = [bs.asarray(each) / 4 for each in arrays(image, kernel, kernel[:1])]
    along = [bs.asarray(each) / 4 for each in arrays(image, kernel, kernel[:1])]

    def bent(*given: Any) -> bs.Tensor:
        return bs.sin(bs.convolve(*given, **options)).sum()

    def slope(*given: Any) -> bs.Tensor:
        return bs.jvp(bent, given, tuple(along))[1]

    for function in (bent, slope):
        gradients = bs.grad(function, (0, 1, 2))(*given)
        found = sum(float((g * by).sum()) for g, by in zip(gradients, along, strict=True))
        ends = [
            float(function(*[g + by * (sign * 1e-4) for g, by in zip(given, along, strict=True)]))
            for sign in (1, -1)
        ]
        np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-4, rtol=1e-5, atol=1e-5)


def test_lanes() -> None:
    images, weights = map(bs.asarray, arrays((3, 2, 4, 5), (3, 6, 2, 2)))

    def one(x: Any, weight: Any) -> bs.Tensor:
        return bs.convolve(x, weight, weight[:, 0, 0], groups=2, padding=1)

    for axes in ((0, None), (None, 0), (0, 0)):
        lanes = [axis == 0 for axis in axes]
        given = [images if lanes[0] else images[0], weights if lanes[1] else weights[0]]
        found = bs.vmap(one, in_axes=axes)(*given)
        for at in range(3):
            mine = [x[at] if has else x for x, has in zip(given, lanes, strict=True)]
            np.testing.assert_array_equal(found[at].numpy(), one(*mine).numpy())


@pytest.mark.parametrize("dtype", [bs.float32, bs.float16, bs.bfloat16])
def test_sums_are_rounded_once(dtype: Any) -> None:
    x, weight = bs.ones((1, 300, 3), dtype=dtype), bs.ones((1, 300, 2), dtype=dtype)
    found = bs.convolve(x, weight, bs.asarray([-599.0]).astype(dtype))
    assert found.dtype == dtype
    expected = 600 + float(bs.asarray([-599.0]).astype(dtype)[0])  # 256 in sums of bfloat16
    assert found.astype(bs.float32).numpy().tolist() == [[[expected] * 2]]


def test_dtypes_meet() -> None:
    x, weight = bs.ones((1, 1, 3), dtype=bs.float16), np.ones((1, 1, 2), np.float32)
    assert bs.convolve(x, weight).dtype == bs.float32
    whole = bs.convolve(bs.arange(4).reshape(1, 1, 4), bs.asarray([[[1, 2]]]))
    assert whole.numpy().tolist() == [[[2, 5, 8]]]


def test_a_new_number_of_images_compiles_nothing() -> None:
    f = bs.jit(lambda x, w: bs.convolve(x, w, padding=1, stride=2))
    weight = bs.ones((2, 3, 3, 3))
    f(bs.ones((2, 3, 5, 5)), weight)
    told = f.explain(bs.ones((4, 3, 5, 5)), weight)
    assert told.new_steps == 0


def taken(function: Any, *shapes: tuple[int, ...]) -> Mapping[str, str]:
    """Why kernels of a function have no form of tiles."""
    lowered = bs.jit(function).lower(*map(bs.ones, shapes))
    module = Module([generalise(lowered.ir.main).func])
    return tile(fuse(module.main).module, chooser(AVX2)).refused


@pytest.mark.parametrize(
    ("function", "x", "weight", "options"),
    [
        (bs.convolve, (2, 4, 9, 8), (6, 2, 3, 2), {"stride": 2, "groups": 2}),
        (bs.convolve, (2, 4, 9, 8), (8, 1, 3, 3), {"stride": 2, "groups": 4, "padding": 1}),
        (bs.convolve_transposed, (2, 4, 9), (4, 6, 3), {"stride": 2, "dilation": 2}),
        (bs.convolve, (2, 4, 99), (6, 4, 41), {"padding": 20}),
        (bs.convolve, (2, 4, 99), (6, 2, 5), {"padding": 40, "dilation": 20, "groups": 2}),
        (bs.convolve, (2, 4, 200), (6, 4, 40), {"stride": 20}),
    ],
    ids=["groups", "depthwise", "transposed", "wide borders", "wide dilation", "wide strides"],
)
def test_all_kernels_have_a_form_of_tiles(
    function: Any, x: tuple[int, ...], weight: tuple[int, ...], options: Any
) -> None:
    def bent(x: Any, weight: Any) -> bs.Tensor:
        return bs.sin(function(x, weight, **options)).sum()

    assert not taken(bs.grad(bent, (0, 1)), x, weight)


def test_padding_is_pairs_of_any_kind() -> None:
    x, weight = map(bs.asarray, arrays((1, 2, 5), (3, 2, 2)))
    expected = bs.convolve(x, weight, padding=((1, 2),)).numpy()
    for padding in (np.array([[1, 2]]), [np.array([1, 2])], (np.array([1, 2]),)):
        found = bs.convolve(x, weight, padding=padding)
        np.testing.assert_array_equal(found.numpy(), expected)


def test_the_largest_stride_has_a_derivative() -> None:
    x, weight = bs.ones((1, 1, 5)), bs.ones((1, 1, 2))
    found = bs.grad(lambda x: bs.convolve(x, weight, stride=2**31 - 1).sum())(x)
    assert found.numpy().tolist() == [[[1, 1, 0, 0, 0]]]


@pytest.mark.parametrize(
    ("function", "x", "weight", "stride"),
    [
        (bs.convolve, (2, 3, 32, 32), (4, 3, 8, 8), 8),
        (bs.convolve_transposed, (2, 3, 4, 4), (3, 4, 8, 8), 8),
        (bs.convolve_transposed, (2, 3, 4), (3, 4, 320), 160),
        (bs.convolve, (2, 3, 1015), (4, 3, 100), 40),
    ],
    ids=["patches", "transposed", "one axis", "no multiple"],
)
def test_a_large_stride_takes_a_few_kernels(
    function: Any, x: tuple[int, ...], weight: tuple[int, ...], stride: int
) -> None:
    """Not one for each place that it passes over."""

    def squares(x: Any, weight: Any) -> bs.Tensor:
        return (function(x, weight, stride=stride) ** 2).sum()

    lowered = bs.jit(bs.grad(squares, (0, 1))).lower(bs.ones(x), bs.ones(weight))
    module = Module([generalise(lowered.ir.main).func])
    made = tile(fuse(module.main).module, chooser(AVX2))
    assert not made.refused
    assert len([*made.module]) < 40


def test_a_stride_beyond_the_image_is_compiled() -> None:
    x, weight = bs.ones((1, 1, 5)), bs.ones((1, 1, 2))
    gradient = bs.grad(lambda x: (bs.convolve(x, weight, stride=2**31 - 1) ** 2).sum())
    assert bs.jit(gradient)(x).numpy().tolist() == [[[4, 4, 0, 0, 0]]]


X, W = bs.ones((2, 4, 5, 5)), bs.ones((6, 4, 3, 3))
MISTAKES = [
    Mistake(lambda: bs.convolve(X[0], W), ValueError, "x[None]"),
    Mistake(lambda: bs.convolve(X[0, 0], W), ValueError, "images [N, C, space…]"),
    Mistake(lambda: bs.convolve(X, W[0]), ValueError, "2 axes of space, and the weight has 1"),
    Mistake(lambda: bs.convolve(X[:, 0], W[0]), ValueError, "the weight takes 3"),
    Mistake(lambda: bs.convolve(X, W, groups=2), ValueError, "takes 4 in each of 2 groups"),
    Mistake(lambda: bs.convolve(X, W, groups=4), ValueError, "do not split into 4 groups"),
    Mistake(lambda: bs.convolve(X, W, groups=0), ValueError, "`groups` is at least 1"),
    Mistake(lambda: bs.convolve(X, W, groups=1.0), TypeError, "`groups` is an integer, not float"),
    Mistake(lambda: bs.convolve(X, W, stride=0), ValueError, "`stride` is at least 1"),
    Mistake(lambda: bs.convolve(X, W, stride=1.5), TypeError, "`stride` is an integer, not float"),
    Mistake(lambda: bs.convolve(X, W, stride=(1, 2, 1)), ValueError, "x has 2 axes of space"),
    Mistake(lambda: bs.convolve(X[..., 0], W[..., 0], stride=(1, 2)), ValueError, "x has 1 axis"),
    Mistake(lambda: bs.convolve(X[0], W), ValueError, "x has 1 axis of space, and the weight has"),
    Mistake(lambda: bs.convolve(None, X, W), TypeError, "a tensor or a number, got NoneType"),
    Mistake(lambda: bs.convolve(X, None), TypeError, "a tensor or a number, got NoneType"),
    Mistake(lambda: bs.convolve(None, None, X), TypeError, "got NoneType"),
    Mistake(lambda: bs.convolve_transposed(None, X, W), TypeError, "got NoneType"),
    Mistake(lambda: bs.convolve_transposed(X, None), TypeError, "got NoneType"),
    Mistake(lambda: bs.convolve(X, W, stride=2**70), ValueError, "is less than 2147483648"),
    Mistake(lambda: bs.convolve(X, W, dilation=2**31), ValueError, "`dilation` is less than"),
    Mistake(lambda: bs.convolve(X, W, padding=(1, (2, 2**70))), ValueError, "`padding` is less"),
    Mistake(
        lambda: bs.convolve_transposed(X, W[:4], stride=2**9, output_padding=2**70), ValueError,
        "`output_padding` is less than",
    ),
    Mistake(lambda: bs.convolve(X, W, dilation=(1, -1)), ValueError, "`dilation` is at least 1"),
    Mistake(lambda: bs.convolve(X, W, padding=-1), ValueError, "x[..., 1:-1]"),
    Mistake(lambda: bs.convolve(X, W, padding=(1, (1, 2, 3))), ValueError, "(before, behind)"),
    Mistake(lambda: bs.convolve(X, W, padding="full"), ValueError, '"same" and "valid"'),
    Mistake(lambda: bs.convolve(X, W, padding="same", stride=2), ValueError, "the same size"),
    Mistake(
        lambda: bs.convolve(X, W, dilation=3), ValueError,
        "the weight spans 7 places along axis 2, where x has 5",
    ),
    Mistake(lambda: bs.convolve(X, W, dilation=10**9), ValueError, "or a weight that spans less"),
    Mistake(
        lambda: bs.convolve(X[..., :0], W[..., :1, :1]), ValueError,
        "the weight spans 1 place along axis 3, where x has 0",
    ),
    Mistake(
        lambda: bs.convolve(X, bs.ones((1, 4, 9, 1)), padding=1), ValueError, "1 + 1 of padding"
    ),
    Mistake(lambda: bs.convolve(X, W, bs.ones(4)), ValueError, "one number for each of 6 outputs"),
    Mistake(lambda: bs.convolve(X > 0, W > 0), TypeError, "does not take"),
    Mistake(lambda: bs.convolve_transposed(X, W), ValueError, "the weight takes 6"),
    Mistake(
        lambda: bs.convolve_transposed(X, W[:4], stride=2, output_padding=2), ValueError,
        "`output_padding` is 2, with stride 2 and dilation 1",
    ),
    Mistake(lambda: bs.convolve_transposed(X, W[:4], padding=4), ValueError, "leaves -1 elements"),
    Mistake(
        lambda: bs.convolve_transposed(X, W[:4], padding="same"), TypeError,
        "convolve_transposed: takes numbers, but `padding` is 'same'",
    ),
    Mistake(lambda: bs.convolve_transposed(X[..., :0], W[:4]), ValueError, "has no elements"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)
