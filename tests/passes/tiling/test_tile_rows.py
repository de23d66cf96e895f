"""Rows as kernels of tiles: what reduces, and what is made of the reductions.

Sums are compared exactly where they are exact in any order, for whole numbers; else to some units.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import f32, i8, i32, i64
from brimstone.ir.func import Func
from brimstone.ir.tensor.rules import Term
from brimstone.passes.differentiate import vjp
from brimstone.passes.oracle import difference
from kit.tiling import SCHEDULE, SYMBOLS, along, arrays_for, kernel, runs, sizes_of, spread, tiled

N, M, K = (SYMBOLS[name] for name in "nmk")
Build = Callable[..., Any]


def softmax(*axes: int) -> Build:
    def build(x: Term) -> Term:
        peak = along(x.apply("reduce_maximum", axes=axes), x, *axes)
        above = (x - peak).apply("exp")
        return above / along(above.apply("reduce_sum", axes=axes), x, *axes)

    return build


def log_softmax(x: Term) -> Term:
    low = x - along(x.apply("reduce_maximum", axes=(1,)), x, 1)
    return low - along(low.apply("exp").apply("reduce_sum", axes=(1,)).apply("log"), x, 1)


def log_sum_exp(x: Term) -> Term:
    peak = x.apply("reduce_maximum", axes=(1,))
    return (x - along(peak, x, 1)).apply("exp").apply("reduce_sum", axes=(1,)).apply("log") + peak


def count(x: Term, axis: int) -> Term:
    size = Term(x.builder, x.builder.emit(tensor.Dim, x.value, axis=axis))
    return size.cast(x.value.dtype)


def mean(x: Term) -> Term:
    total = x.apply("reduce_sum", axes=(1,))
    return total / spread(count(x, 1), total)


def costly_rows(x: Term, each: Term) -> Term:
    """What is kept between two loops is the same for all columns."""
    costly = spread(each.apply("tanh"), x, 0)
    return costly * costly * along((costly * x).apply("reduce_sum", axes=(0,)), x, 0)


def one_for_all(x: Term, one: Term) -> Term:
    """What is read of each column is the same for all columns."""
    line = Term(x.builder, x.builder.emit(tensor.Broadcast, one.value, shape=(M,), axes=()))
    costly = line.apply("tanh")
    sums = (x * spread(costly, x, 1)).apply("reduce_sum", axes=(0,))
    return spread(costly * costly, x, 1) * along(sums, x, 0)


def layer_norm(x: Term, *affine: Term) -> Term:
    low = x - along(mean(x), x, 1)
    deviation = (mean(low * low) + 1e-5).apply("reciprocal_square_root")
    normal = low * along(deviation, x, 1)
    if affine:
        scale, shift = affine
        normal = normal * spread(scale, x, 1) + spread(shift, x, 1)
    return normal


def rms_norm(x: Term, scale: Term) -> Term:
    wide = x.cast(f32)
    factor = (mean(wide * wide) + 1e-6).apply("reciprocal_square_root")
    return (wide * along(factor, wide, 1)).cast(x.value.dtype) * spread(scale, x, 1)


def layer_norm_backward(x: Term, dy: Term, scale: Term) -> Term:
    low = x - along(mean(x), x, 1)
    deviation = along((mean(low * low) + 1e-5).apply("reciprocal_square_root"), x, 1)
    normal, d = low * deviation, dy * spread(scale, x, 1)
    return deviation * (d - along(mean(d), x, 1) - normal * along(mean(d * normal), x, 1))


def softmax_backward(y: Term, dy: Term) -> Term:
    return y * (dy - along((y * dy).apply("reduce_sum", axes=(1,)), y, 1))


def cross_entropy(x: Term, labels: Term) -> Term:
    columns = Term(x.builder, x.builder.emit(tensor.Iota, shape=(N, M), axis=1, dtype=i32))
    chosen = columns.apply("equal", spread(labels, x, 0))
    return -log_softmax(x).where(chosen, 0).apply("reduce_sum", axes=(1,))


def variance(x: Term) -> tuple[Term, Term]:
    average = mean(x)
    low = x - along(average, x, 1)
    return average, mean(low * low)


def squares_and_sum(x: Term) -> tuple[Term, Term]:
    squares = (x * x).apply("exp")
    return squares, squares.apply("reduce_sum", axes=(1,))


def squares_and_columns(x: Term) -> tuple[Term, ...]:
    """Elements are stored as rows pass that are summed in chunks."""
    squares = (x * x).apply("exp")
    total = squares.apply("reduce_sum", axes=(0,))
    return squares, total * 2, x * 3, total.apply("log")


def columns_norm_backward(x: Term, dy: Term, scale: Term) -> tuple[Term, Term]:
    """What is known of each column is a root and a product; what of each row, a weight."""
    squares = (x * x).apply("reduce_sum", axes=(0,)) + 1
    wide = along(squares.apply("square_root"), x, 0)
    normal, d = x / wide, dy * spread(scale, x, 0)
    share = (d * normal).apply("reduce_sum", axes=(0,)) / squares
    return (d - normal * along(share, x, 0)) / wide, share


def kept_result(x: Term) -> tuple[Term, Term]:
    above = x.apply("exp")
    return above, above / along(above.apply("reduce_sum", axes=(1,)), x, 1)


def reduce(name: str, *axes: int) -> Build:
    return lambda x: x.apply(f"reduce_{name}", axes=axes)


def dot(x: Term, y: Term) -> Term:
    return (x * y).apply("reduce_sum", axes=(0, 1))


def several(x: Term) -> tuple[Term, ...]:
    return tuple(
        x.apply(f"reduce_{name}", axes=(1,)) for name in ("sum", "product", "maximum", "minimum")
    )


def search(name: str, axis: int, dtype: Any) -> Build:
    return lambda x: x.apply(f"arg_{name}", axis=axis, dtype=dtype)


def best_and_place(x: Term) -> tuple[Term, Term]:
    return x.apply("reduce_maximum", axes=(1,)), x.apply("arg_maximum", axis=1, dtype=i32)


def turned_sum(x: Term) -> Term:
    return x.apply("permute", axes=(1, 0)).apply("reduce_sum", axes=(0,))


def keep_axis(x: Term) -> Term:
    return x.apply("reduce_sum", axes=(1,)).apply("reshape", shape=(N, 1)) + 1


def keep_axis_inside(x: Term) -> Term:
    kept = x.apply("reduce_maximum", axes=(1,)).apply("reshape", shape=(N, 1))
    return x - spread(kept, x, 0, 1)


def flipped_sum(x: Term) -> Term:
    flipped = x.apply("flip", axes=(1,))
    return (flipped * 2 + 1).apply("reduce_sum", axes=(1,))


def masked_maximum(x: Term, keep: Term) -> Term:
    return x.where(keep, -np.inf).apply("reduce_maximum", axes=(1,))


EXACT: dict[str, tuple[Build, tuple[str, ...]]] = {
    **{
        f"sum over {axes}": (reduce("sum", *axes), ("n m k f32",))
        for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), ())
    },
    **{
        f"{name} of {dtype}": (reduce(name, 1), (f"n m {dtype}",))
        for name in ("sum", "product", "maximum", "minimum")
        for dtype in ("f32", "f64", "i32", "u8")
    },
    **{
        f"{name} of the first axis, {dtype}": (reduce(name, 0), (f"n m {dtype}",))
        for name in ("maximum", "and", "or")
        for dtype in ("bool", "i8")
    },
    "maximum of bf16": (reduce("maximum", 1), ("n m bf16",)),
    "sum of bf16": (reduce("sum", 1), ("n m bf16",)),
    "sum of f16, first axis": (reduce("sum", 0), ("n m f16",)),
    "sum of four axes, apart": (reduce("sum", 1, 3), ("n m k l f32",)),
    "sum of five axes, parallel apart": (reduce("sum", 1), ("n m k 3 l f32",)),
    "dot": (dot, ("n m f32", "n m f32")),
    "several": (several, ("n m f32",)),
    "turned sum": (turned_sum, ("n m f32",)),
    "keep axis": (keep_axis, ("n m f32",)),
    "keep axis inside": (keep_axis_inside, ("n m f32",)),
    "flipped sum": (flipped_sum, ("n m f32",)),
    "masked maximum": (masked_maximum, ("n m f32", "n m bool")),
    "size 1": (reduce("sum", 1, 2), ("n 1 m f32",)),
    "nothing to reduce": (reduce("sum", 1), ("n 1 m f32",)),
}
CLOSE: dict[str, tuple[Build, tuple[str, ...]]] = {
    "softmax": (softmax(1), ("n m f32",)),
    "softmax, first axis": (softmax(0), ("n m f32",)),
    "costly rows, first axis": (costly_rows, ("n m f32", "n f32")),
    "one for all, first axis": (one_for_all, ("n m f32", "f32")),
    "softmax, middle axis": (softmax(1), ("n m k f32",)),
    "softmax, two axes": (softmax(1, 2), ("n m k f32",)),
    "softmax, two axes apart": (softmax(0, 2), ("n m k f32",)),
    "softmax of f64": (softmax(1), ("n m f64",)),
    "log softmax": (log_softmax, ("n m f32",)),
    "log sum exp": (log_sum_exp, ("n m f32",)),
    "layer norm": (layer_norm, ("n m f32",)),
    "layer norm, affine": (layer_norm, ("n m f32", "m f32", "m f32")),
    "layer norm, backward": (layer_norm_backward, ("n m f32", "n m f32", "m f32")),
    "rms norm": (rms_norm, ("n m f32", "m f32")),
    "softmax, backward": (softmax_backward, ("n m f32", "n m f32")),
    "cross entropy": (cross_entropy, ("n m f32", "n i32")),
    "norm of columns, backward": (columns_norm_backward, ("n m f32", "n m f32", "n f32")),
    "variance": (variance, ("n m f32",)),
    "squares and sum": (squares_and_sum, ("n m f32",)),
    "squares and columns": (squares_and_columns, ("n m f32",)),
    "kept result": (kept_result, ("n m f32",)),
}
SEARCHES: dict[str, tuple[Build, tuple[str, ...]]] = {
    "arg maximum": (search("maximum", 1, i64), ("n m f32",)),
    "arg minimum": (search("minimum", 1, i32), ("n m f32",)),
    "arg maximum, first axis": (search("maximum", 0, i32), ("n m f32",)),
    "arg minimum of i8 as i8": (search("minimum", 0, i8), ("n m i8",)),
    "arg maximum of bool": (search("maximum", 1, i64), ("n m bool",)),
    "arg maximum of bf16": (search("maximum", 1, i64), ("n m bf16",)),
    "best and place": (best_and_place, ("n m f32",)),
}


NARROW = {"n": 8, "unroll": 2, "chunk": 32}
"""A schedule in which no rows stream past a block of columns."""

ABREAST = {**SCHEDULE, "abreast": 3}
"""One in which three rows, or thirds of a chunk, pass at once."""


def check(
    func: Func, whole: bool, tolerance: float, schedule: Mapping[str, int] | None = None
) -> None:
    made = tiled(func, schedule)
    assert not made.refused
    for sizes in sizes_of(func):
        given = arrays_for(func, sizes, whole)
        before, after = runs(func, given, made.module)
        if tolerance == 0:  # of a sum, -0.0 may become 0.0
            before, after = (
                [each + np.zeros((), each.dtype) for each in x] for x in (before, after)
            )
        assert difference(before, after, tolerance) is None, sizes


@pytest.mark.parametrize("name", EXACT)
def test_what_is_exact_stays_so(name: str) -> None:
    build, arguments = EXACT[name]
    check(kernel(build, *arguments), whole=True, tolerance=0)


@pytest.mark.parametrize("name", EXACT)
def test_what_is_exact_stays_so_abreast(name: str) -> None:
    build, arguments = EXACT[name]
    check(kernel(build, *arguments), whole=True, tolerance=0, schedule=ABREAST)


@pytest.mark.parametrize("name", CLOSE)
def test_rows_agree_abreast(name: str) -> None:
    build, arguments = CLOSE[name]
    check(kernel(build, *arguments), whole=False, tolerance=2e-6, schedule=ABREAST)


@pytest.mark.parametrize("name", CLOSE)
def test_rows_agree(name: str) -> None:
    build, arguments = CLOSE[name]
    check(kernel(build, *arguments), whole=False, tolerance=2e-6)


@pytest.mark.parametrize("name", ["softmax, first axis", "softmax, two axes apart"])
def test_columns_agree_without_streaming(name: str) -> None:
    build, arguments = CLOSE[name]
    check(kernel(build, *arguments), whole=False, tolerance=2e-6, schedule=NARROW)


@pytest.mark.parametrize("name", ["softmax", "layer norm, affine", "rms norm"])
@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_rows_of_narrow_floats_agree(name: str, dtype: str) -> None:
    build, arguments = CLOSE[name]
    narrow = [each.replace("f32", dtype) for each in arguments]
    check(kernel(build, *narrow), whole=False, tolerance=2e-2)


@pytest.mark.parametrize(
    "name",
    [
        "softmax",
        "softmax, first axis",
        "softmax, two axes",
        "log softmax",
        "log sum exp",
        "layer norm, affine",
        "rms norm",
        "cross entropy",
        "variance",
    ],
)
def test_outputs_and_gradients_of_rows_agree(name: str) -> None:
    build, arguments = CLOSE[name]
    func = kernel(build, *arguments)
    wrt = [place == 0 for place in range(len(arguments))]
    both = vjp(func, wrt, range(len(func.results)))
    both.name = "k"
    check(both, whole=False, tolerance=1e-5)


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_find_the_first(name: str) -> None:
    build, arguments = SEARCHES[name]
    func = kernel(build, *arguments)
    made = tiled(func)
    assert not made.refused
    for seed, sizes in enumerate(sizes_of(func)):
        if 0 in sizes.values():
            continue
        given = arrays_for(func, sizes, whole=True, seed=seed)
        if given[0].dtype.kind not in "iub":
            odd = np.random.default_rng(seed).random(given[0].shape)
            given[0][odd < 0.1] = np.nan if seed % 2 else -np.inf
            given[0][odd > 0.9] = -0.0 if seed % 3 else np.inf
            if seed % 4 == 0:
                given[0][:] = -np.inf
        before, after = runs(func, given, made.module)
        assert difference(before, after) is None, sizes
