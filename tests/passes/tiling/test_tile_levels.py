"""Kernels of which few results come of many elements: one level of reductions after the other."""

from collections.abc import Callable
from typing import Any

import pytest

from brimstone.ir.dtypes import i32
from brimstone.ir.func import Module
from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from kit.tiling import SCHEDULE, along, arrays_for, kernel, runs, sizes_of, spread, tiled

Build = Callable[..., Any]
LEVELS = {**SCHEDULE, "long": 1}
"""As if every size were a long one."""


def softmax(x: Term) -> Term:
    peak = along(x.apply("reduce_maximum", axes=(0,)), x, 0)
    above = (x - peak).apply("exp")
    return above / along(above.apply("reduce_sum", axes=(0,)), x, 0)


def normal(x: Term, scale: Term) -> tuple[Term, ...]:
    """Rows of a norm, and the sums that it has on its way."""
    total = x.apply("reduce_sum", axes=(0,))
    low = x - along(total * 0.1, x, 0)
    squares = (low * low).apply("reduce_sum", axes=(0,))
    root = (squares + 1).apply("reciprocal_square_root")
    return low * along(root, x, 0) * spread(scale, x, 0), total, root


def all_it_has(x: Term) -> tuple[Term, ...]:
    """What is stored with the first level, with the second, and after both."""
    twice = x * 2
    low = x - along(twice.apply("reduce_maximum", axes=(0,)), x, 0)
    return twice, low, low + along(low.apply("reduce_sum", axes=(0,)), x, 0)


def log_sum_exp(x: Term) -> Term:
    """Of one row: a single number."""
    peak = x.apply("reduce_maximum", axes=(0,))
    return (x - spread(peak, x)).apply("exp").apply("reduce_sum", axes=(0,)).apply("log") + peak


def two_of_a_level(x: Term, y: Term) -> tuple[Term, ...]:
    """What needs the sums of both; and of a level before, too."""
    first = x.apply("reduce_maximum", axes=(0,))
    second = (y - along(first, y, 0)).apply("reduce_sum", axes=(0,))
    third = (x * along(first, x, 0)).apply("reduce_sum", axes=(0,))
    fourth = (y * along(third, y, 0)).apply("reduce_sum", axes=(0,))
    return y * along(fourth + second, y, 0), first


def two_axes(x: Term) -> Term:
    return x - along(x.apply("reduce_sum", axes=(0, 1)), x, 0, 1)


def best_above(x: Term) -> tuple[Term, ...]:
    """A search is never cut."""
    peak = x.apply("reduce_maximum", axes=(0,))
    return (x - along(peak, x, 0)).apply("arg_maximum", axis=0, dtype=i32), peak


def levels_of(module: Module) -> set[str]:
    """Which levels have kernels of their own, by what these are called."""
    names = [name.split("_") for name in module.funcs if "_" in name]
    return {words[1] for words in names}


CASES: dict[str, tuple[Build, tuple[str, ...], set[str]]] = {
    "softmax": (softmax, ("n m f32",), {"level2", "rest"}),
    "softmax of f64": (softmax, ("n m f64",), {"level2", "rest"}),
    "softmax of f16": (softmax, ("n m f16",), {"level2", "rest"}),
    "softmax of one row": (softmax, ("n f32",), {"level2", "rest"}),
    "norm and its sums": (
        normal, ("n m f32", "n f32"), {"level1", "level2", "rest"}
    ),
    "all it has": (all_it_has, ("n m f32",), {"level1", "level2", "rest"}),
    "one number": (log_sum_exp, ("n f32",), {"parts", "combined"}),
    "two of a level": (
        two_of_a_level, ("n m f32", "n m f32"), {"level1", "level2", "level3", "rest"}
    ),
    "two axes": (two_axes, ("n k m f32",), {"level1", "rest"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_levels_agree_with_the_kernel(name: str) -> None:
    build, arguments, levels = CASES[name]
    func = kernel(build, *arguments)
    made = tiled(func, LEVELS)
    assert not made.refused
    assert levels_of(made.module) == levels
    for sizes in sizes_of(func):
        given = arrays_for(func, sizes, whole=False)
        before, after = runs(func, given, made.module)
        assert difference(before, after, 1e-5) is None, sizes


@pytest.mark.parametrize(
    ("build", "arguments", "cut"),
    [
        (softmax, ["n 4096 f32"], True),
        (softmax, ["n 4097 f32"], False),
        (best_above, ["n m f32"], False),
    ],
)
def test_many_results_need_no_levels(build: Build, arguments: list[str], cut: bool) -> None:
    made = tiled(kernel(build, *arguments), LEVELS)
    assert bool(levels_of(made.module)) is cut


def test_short_columns_are_done_at_once() -> None:
    made = tiled(kernel(softmax, "n 64 f32"), {**SCHEDULE, "long": 64 * 4097})
    assert not levels_of(made.module)
