"""Sums on the way back that need not wait for each other, and those that stay one."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.ir.values import AnyValue
from brimstone.passes.differentiate import linearise, transpose
from kit.derivatives import check_derivatives

X = np.random.default_rng(3).standard_normal((3, 4))
MEAN = """
  %count = tensor.constant {value = 4.0} : tensor<[], f64>
  %counts = tensor.broadcast %count {shape = [3, 4]} : tensor<[3, 4], f64>
  %share = tensor.divide %x, %counts : tensor<[3, 4], f64>
  %sums = tensor.reduce_sum %share {axes = [1]} : tensor<[3], f64>"""
LEAN = (
    MEAN
    + """
  %means = tensor.broadcast %sums {shape = [3, 4], axes = [0]} : tensor<[3, 4], f64>"""
)
THIN = (
    MEAN
    + """
  %thin = tensor.reshape %sums {shape = [3, 1]} : tensor<[3, 1], f64>
  %means = tensor.broadcast %thin {shape = [3, 4], axes = [0, 1]} : tensor<[3, 4], f64>"""
)
NORM = """
  %centred = tensor.subtract %x, %means : tensor<[3, 4], f64>
  %squares = tensor.multiply %centred, %centred : tensor<[3, 4], f64>
  %total = tensor.reduce_sum %squares {axes = [1]} : tensor<[3], f64>
  %root = tensor.reciprocal_square_root %total : tensor<[3], f64>
  %roots = tensor.broadcast %root {shape = [3, 4], axes = [0]} : tensor<[3, 4], f64>
  %y = tensor.multiply %centred, %roots : tensor<[3, 4], f64>"""
SQUARES = """
  %squares = tensor.multiply %x, %x : tensor<[3, 4], f64>
  %row = tensor.reduce_sum %squares {axes = [1]} : tensor<[3], f64>
  %rows = tensor.broadcast %row {shape = [3, 4], axes = [0]} : tensor<[3, 4], f64>
  %column = tensor.reduce_sum %squares {axes = [0]} : tensor<[4], f64>
  %columns = tensor.broadcast %column {shape = [3, 4], axes = [1]} : tensor<[3, 4], f64>"""
COLUMNS = """
  %sums = tensor.reduce_sum %x {axes = [0]} : tensor<[4], f64>
  %means = tensor.broadcast %sums {shape = [3, 4], axes = [1]} : tensor<[3, 4], f64>"""


def func_of(lines: str) -> Func:
    head = "func @f(%x: tensor<[3, 4], f64>) -> tensor<[3, 4], f64> {"
    return parse(f"{head}{lines}\n  return %y\n}}").main


def way_back(func: Func) -> Func:
    made = linearise(func, [True])
    return transpose(made.linear, len(made.residual_sources))


def waits(value: AnyValue) -> int:
    """How many sums follow each other."""
    op: Any = value.op
    if op is None:
        return 0
    return max(map(waits, op.operands), default=0) + isinstance(op, tensor.ReduceSum)


@pytest.mark.parametrize("mean", [LEAN, THIN], ids=["a row", "a thin column"])
def test_a_norm_sums_its_rows_once_on_the_way_back(mean: str) -> None:
    func = func_of(mean + NORM)
    assert [waits(each) for each in way_back(func).results] == [1]
    check_derivatives(func, [X], [True])


def divided_before_sums(func: Func) -> int:
    """How many quotients of whole matrices are asked for by sums."""
    matrix = (3, 4)
    pending: list[Any] = [op.x.op for op in func.walk() if isinstance(op, tensor.ReduceSum)]
    found: dict[Any, None] = {}
    while pending:
        op = pending.pop()
        if op is not None and op not in found and op.results[0].shape == matrix:
            found[op] = None
            pending += [operand.op for operand in op.operands]
    return sum(isinstance(op, tensor.Divide) for op in found)


@pytest.mark.parametrize(
    ("ops", "count"),
    [
        (("divide %x, %rows",), 1),
        (("divide %x, %columns",), 1),
        (("divide %x, %rows", "multiply %y0, %y0"), 1),
        (("divide %x, %rows", "negate %y0"), 1),
        (("divide %x, %rows", "divide %y0, %x"), 2),
        (("multiply %x, %rows", "divide %y0, %columns"), 1),
        (("divide %x, %rows", *(f"multiply %y{at}, %y{at}" for at in range(6))), 1),
    ],
    ids=["rows", "columns", "squared", "negated", "each", "both", "many times"],
)
def test_rows_are_divided_once_they_are_summed(ops: tuple[str, ...], count: int) -> None:
    """Where the divisor is a number of the row. Of the two quotients in a product one is left."""
    lines = [f"\n  %y{at} = tensor.{op} : tensor<[3, 4], f64>" for at, op in enumerate(ops)]
    func = func_of(SQUARES + "".join(lines).replace(f"%y{len(ops) - 1} =", "%y ="))
    assert divided_before_sums(way_back(func)) == count
    check_derivatives(func, [X], [True])


def test_sums_along_other_axes_wait() -> None:
    """What is summed along columns is no number of a column that can be pulled out."""
    func = func_of(COLUMNS + NORM)
    assert [waits(each) for each in way_back(func).results] == [2]
    check_derivatives(func, [X], [True])


def test_a_sum_that_waits_for_none_stays_one() -> None:
    func = func_of(LEAN + "\n  %y = tensor.multiply %x, %means : tensor<[3, 4], f64>")
    made = way_back(func)
    assert sum(isinstance(op, tensor.ReduceSum) for op in made.walk()) == 1
    check_derivatives(func, [X], [True])


@pytest.mark.parametrize("count", [40, 3000])
def test_a_cotangent_of_many_terms(count: int) -> None:
    """Each use adds one, and every other one waits; there is an end to asking."""
    lines = LEAN + NORM.replace("%y", "%y0")
    for number in range(1, count):
        lines += f"\n  %z{number} = tensor.multiply %y{number - 1}, %means : tensor<[3, 4], f64>"
        lines += f"\n  %y{number} = tensor.add %z{number}, %centred : tensor<[3, 4], f64>"
    func = func_of(lines.replace(f"%y{count - 1} =", "%y ="))
    made = way_back(func)
    assert made.results
    if count < 100:
        check_derivatives(func, [X / 8], [True])


def test_sums_of_narrow_floats_stay_one() -> None:
    """Σ x may be larger than any f16 where Σ (x * factor) is small."""
    narrow = (LEAN + NORM).replace("f64", "f16")
    func = parse(
        f"func @f(%x: tensor<[3, 4], f16>) -> tensor<[3, 4], f16> {{{narrow}\n  return %y\n}}"
    ).main
    assert [waits(each) for each in way_back(func).results] == [2]


@pytest.mark.parametrize("scale", [1e20, 1.0, 1e-25])
def test_quotients_of_large_and_small_numbers(scale: float) -> None:
    """Numbers may be squared where they were divided, and not before."""

    def loss(x: Any) -> Any:
        return bs.sum((x / bs.sum(x)) ** 2)

    x = np.arange(1, 5, dtype=np.float32) * np.float32(scale)
    found = np.asarray(bs.grad(loss)(bs.tensor(x))).astype(np.float64) * scale
    np.testing.assert_allclose(found, [-0.04, -0.02, 0, 0.02], atol=1e-6)
