"""Sums of powers below the largest, chunk by chunk: what a softmax needs of long columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import print_module
from brimstone.ir.dtypes import f32
from brimstone.ir.func import Func, Module
from brimstone.ir.tensor.rules import Term
from brimstone.passes.dead import sweep
from brimstone.passes.oracle import difference
from brimstone.passes.tiling.powers import below_their_own, powers_in
from kit.tiling import SCHEDULE, along, arrays_for, kernel, runs, spread, tiled

Build = Callable[..., Any]
LONG = {**SCHEDULE, "long": 1}
"""As if every size were a long one."""
NEAR = 64
ROWS = (0, 1, NEAR, 2 * NEAR - 1, 2 * NEAR, 2 * NEAR + 1, 5 * NEAR + 7)
"""Fewer than two chunks are not cut."""


def softmax(x: Term) -> Term:
    above = (x - along(x.apply("reduce_maximum", axes=(0,)), x, 0)).apply("exp")
    return above / along(above.apply("reduce_sum", axes=(0,)), x, 0)


def finite(x: Term) -> Term:
    """0 where it is not."""
    return x.where(x.apply("is_finite"), x.number(0.0))


def log_sum_exp(x: Term) -> tuple[Term, ...]:
    """As the library writes it; the largest is returned, too."""
    largest = x.apply("reduce_maximum", axes=(0,))
    shift = finite(largest)
    total = (x - along(shift, x, 0)).apply("exp").apply("reduce_sum", axes=(0,))
    return total.apply("log") + shift, largest


def of_one_row(x: Term) -> Term:
    """All are reduced, in lanes and rounds."""
    shift = finite(x.apply("reduce_maximum", axes=(0,)))
    total = (x - spread(shift, x)).apply("exp").apply("reduce_sum", axes=(0,))
    return total.apply("log") + shift


def two_sums(x: Term, scale: Term) -> tuple[Term, ...]:
    """What is subtracted is not quite the largest; and a sum of another kind."""
    largest = x.apply("reduce_maximum", axes=(0,))
    above = (x - along(largest * 0.5 + scale, x, 0)).apply("exp")
    total = above.apply("reduce_sum", axes=(0,)) * scale
    return total, x.apply("reduce_sum", axes=(0,)) + total


def permuted(x: Term) -> Term:
    """The shift has its axes in another order on its way."""
    largest = x.apply("reduce_maximum", axes=(0,)).apply("permute", axes=(1, 0))
    back = (largest * 2).apply("permute", axes=(1, 0))
    return (x - along(back, x, 0)).apply("exp").apply("reduce_sum", axes=(0,))


def of_quotients(x: Term, y: Term) -> Term:
    """To divide twice costs more than to keep what that gives, of which chunks have no part."""
    return log_sum_exp(x / y)[0]


def of_another(x: Term, y: Term) -> Term:
    """The largest is that of something else."""
    above = (x - along(y.apply("reduce_maximum", axes=(0,)), x, 0)).apply("exp")
    return above.apply("reduce_sum", axes=(0,))


def powers_and_others(x: Term) -> tuple[Term, ...]:
    """What is above is needed for something that is no sum of powers."""
    above = x - along(x.apply("reduce_maximum", axes=(0,)), x, 0)
    return above.apply("exp").apply("reduce_sum", axes=(0,)), above.apply("reduce_sum", axes=(0,))


CUT: dict[str, tuple[Build, tuple[str, ...]]] = {
    "softmax": (softmax, ("n m f32",)),
    "softmax of f64": (softmax, ("n m f64",)),
    "softmax of f16": (softmax, ("n m f16",)),
    "log of the sum": (log_sum_exp, ("n m f32",)),
    "log of the sum of f16": (log_sum_exp, ("n m f16",)),
    "one row": (of_one_row, ("n f32",)),
    "two sums": (two_sums, ("n m f32", "m f32")),
    "permuted": (permuted, ("n m k f32",)),
}


def chunked(module: Module) -> set[str]:
    """The kernels that leave something of each chunk."""
    return {name for name in module.funcs if name.endswith("_parts")}


@pytest.mark.parametrize("name", CUT)
def test_chunks_agree_with_the_kernel(name: str) -> None:
    build, arguments = CUT[name]
    func = kernel(build, *arguments)
    made = tiled(func, LONG)
    assert not made.refused
    assert len(chunked(made.module)) == 1
    for rows in ROWS:
        sizes = {
            symbol.name: size for symbol, size in zip(func.symbols, (rows, 9, 2), strict=False)
        }
        given = arrays_for(func, sizes, whole=False)
        before, after = runs(func, given, made.module)
        tolerance = 2e-3 if "f16" in arguments[0] else 1e-5
        assert difference(before, after, tolerance) is None, rows


def test_a_chunk_asks_for_the_next_one_where_rows_pass_twice() -> None:
    wide = {**LONG, "wide": 16}
    for build, below in ((softmax, 64), (lambda x: x.apply("reduce_sum", axes=(0,)), None)):
        made = tiled(kernel(build, "n m f32"), wide).module
        (name,) = chunked(made)
        assert made[name].attributes["tile"].get("below") == below
    (name,) = chunked(made := tiled(kernel(of_one_row, "n f32"), LONG).module)
    assert "below" not in made[name].attributes["tile"]


SPECIAL = {
    "far below": [-np.inf] * 3,
    "far above": [np.inf, 0, 0],
    "both": [np.inf, -np.inf, 0],
    "unknown": [np.nan, 0, 0],
    "large": [3e38, -3e38, 0],
    "small": [-3e38] * 3,
    "zeros": [-0.0, 0.0, -0.0],
}


@pytest.mark.parametrize("build", [softmax, log_sum_exp])
@pytest.mark.parametrize("everywhere", [False, True])
def test_what_is_not_finite_comes_out_as_in_one_run(build: Build, everywhere: bool) -> None:
    """In all of a column, or in all of one of its chunks, or in one place of that."""
    func = kernel(build, "n m f32")
    made = tiled(func, LONG)
    columns = [np.resize(np.array(numbers, np.float32), NEAR) for numbers in SPECIAL.values()]
    rng = np.random.default_rng(1)
    for chunk in range(3):
        x = rng.standard_normal((3 * NEAR, 2 * len(columns))).astype(np.float32)
        for place, column in enumerate(columns):
            rows = slice(None) if everywhere else slice(chunk * NEAR, (chunk + 1) * NEAR)
            x[rows, place] = np.resize(column, len(x[rows]))
            x[chunk * NEAR + 5, len(columns) + place] = column[0]
        with np.errstate(all="ignore"):
            before, after = runs(func, [x], made.module)
        assert difference(before, after, 1e-5) is None


@pytest.mark.parametrize(
    ("build", "arguments"),
    [
        (of_quotients, ["n m f32", "n m f32"]),
        (of_another, ["n m f32", "n m f32"]),
        (powers_and_others, ["n m f32"]),
    ],
)
def test_other_levels_have_kernels_of_their_own(build: Build, arguments: list[str]) -> None:
    made = tiled(kernel(build, *arguments), LONG)
    assert {name.split("_")[1] for name in chunked(made.module)} == {"level1", "level2"}


def test_few_elements_are_done_at_once() -> None:
    made = tiled(kernel(log_sum_exp, "512 64 f32"), {**SCHEDULE, "long": 512 * 64 + 1})
    assert not chunked(made.module)


PARTS = """\
func @k<n: 0..4096>(%x: tensor<[n], f32>) -> tensor<[], f32> {
  %largest = tensor.reduce_maximum %x {axes = [0]} : tensor<[], f32>
  %0 = tensor.is_finite %largest : tensor<[], bool>
  %1 = tensor.constant {value = 0.0} : tensor<[], f32>
  %2 = tensor.select %0, %largest, %1 : tensor<[], f32>
  %3 = tensor.broadcast %2 {shape = [n], axes = []} : tensor<[n], f32>
  %4 = tensor.subtract %x, %3 : tensor<[n], f32>
  %5 = tensor.exp %4 : tensor<[n], f32>
  %6 = tensor.reduce_sum %5 {axes = [0]} : tensor<[], f32>
  return %6
}
"""


def test_a_chunk_sums_powers_below_its_own_largest() -> None:
    def total(x: Term) -> Term:
        largest = x.apply("reduce_maximum", axes=(0,))
        x.value.name, largest.value.name = "x", "largest"
        return (x - spread(largest * 2, x)).apply("exp").apply("reduce_sum", axes=(0,))

    func = kernel(total, "n f32")
    (powers,) = powers_in(func).values()
    assert powers.largest.result.name == "largest"
    assert powers.shift.value.dtype is f32
    assert text_of(below_their_own(func)) == PARTS
    assert text_of(func) != PARTS


def text_of(func: Func) -> str:
    """The func without what nobody needs any more."""
    sweep(func.body)
    return print_module(Module([func]))
