"""Kernels that reduce along their rows and across them: the weights' gradient of a norm, say."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from kit.tiling import SYMBOLS, along, arrays_for, kernel, runs, sizes_of, spread, tiled

N, M = SYMBOLS["n"], SYMBOLS["m"]
SCHEDULE = {"n": 8, "m": 4, "unroll": 2, "chunk": 32, "wide": 16, "across": 2, "columns": 12}
"""Rows of 17 elements are too long to be passed once."""


def norm_backward(x: Term, dy: Term, scale: Term) -> tuple[Term, ...]:
    root = (x * x).apply("reduce_sum", axes=(1,)) + 1
    normal, d = x / along(root, x, 1), dy * spread(scale, x, 1)
    share = (d * normal).apply("reduce_sum", axes=(1,))
    back = (d - normal * along(share, x, 1)) / along(root, x, 1)
    return (dy * normal).apply("reduce_sum", axes=(0,)), back, dy.apply("reduce_sum", axes=(0,))


def both_ways(x: Term) -> tuple[Term, ...]:
    return x.apply("reduce_sum", axes=(1,)), x.apply("reduce_maximum", axes=(0,))


def narrow(x: Term) -> tuple[Term, ...]:
    peak = along(x.apply("reduce_maximum", axes=(1,)), x, 1)
    return x - peak, (x - peak).apply("reduce_sum", axes=(0,))


def two_axes(x: Term, scale: Term) -> tuple[Term, ...]:
    sums = along(x.apply("reduce_sum", axes=(2,)), x, 2)
    product = x * spread(scale, x, 2) * sums
    return product, (x * sums).apply("reduce_sum", axes=(0, 1))


def apart_for_its_axes(x: Term, scale: Term) -> tuple[Term, ...]:
    sums = along(x.apply("reduce_sum", axes=(2,)), x, 2)
    return x * spread(scale, x, 1) * sums, (x * sums).apply("reduce_sum", axes=(0, 1))


CASES: dict[str, tuple[Callable[..., Any], tuple[str, ...], bool]] = {
    "norm, backward": (norm_backward, ("n m f32", "n m f32", "m f32"), True),
    "both ways": (both_ways, ("n m f32",), True),
    "of bf16": (narrow, ("n m bf16",), True),
    "of whole numbers": (narrow, ("n m i32",), True),
    "two axes are the rows": (two_axes, ("n k m f32", "m f32"), True),
    "two axes that stay two": (apart_for_its_axes, ("n k m f32", "k f32"), False),
}


@pytest.mark.parametrize("name", CASES)
def test_sums_across_rows_agree(name: str) -> None:
    build, arguments, crossed = CASES[name]
    func = kernel(build, *arguments)
    made = tiled(func, SCHEDULE)
    assert not made.refused
    assert ("k_rows" in made.module.funcs) is crossed
    for sizes in sizes_of(func):
        given = arrays_for(func, sizes, whole=name != "norm, backward")
        before, after = runs(func, given, made.module)
        before, after = ([each + np.zeros((), each.dtype) for each in x] for x in (before, after))
        tolerance = 0 if name != "norm, backward" else 2e-6
        assert difference(before, after, tolerance) is None, sizes


def test_without_a_word_of_the_target_all_is_apart() -> None:
    func = kernel(both_ways, "n m f32")
    made = tiled(func, {"n": 8})
    assert not made.refused
    assert {"k", "k_across"} <= {*made.module.funcs}
    assert "k_rows" not in made.module.funcs
