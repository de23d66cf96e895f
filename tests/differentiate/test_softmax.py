"""A softmax that is written out: what it keeps, and what only looks like one."""

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.passes.differentiate import Origin, linearise
from kit.derivatives import check_derivatives

X = np.random.default_rng(3).standard_normal((3, 4))
MOST = """
  %most = tensor.reduce_maximum %x {{axes = [{over}]}} : tensor<[{kept}], f64>
  %apart = tensor.reshape %most {{shape = {thin}}} : tensor<{thin}, f64>
  %wide = tensor.broadcast %apart {{shape = [3, 4], axes = [0, 1]}} : tensor<[3, 4], f64>
  %z = tensor.subtract %x, %wide : tensor<[3, 4], f64>"""
ROWS = MOST.format(over=1, kept=3, thin="[3, 1]")
COLUMNS = MOST.format(over=0, kept=4, thin="[1, 4]")
SUM = """
  %sums = tensor.reduce_sum %e {axes = [1]} : tensor<[3], f64>"""
OVER = """
  %all = tensor.broadcast %sums {shape = [3, 4], axes = [0]} : tensor<[3, 4], f64>
  %y = tensor.divide %e, %all : tensor<[3, 4], f64>"""
EXP = """
  %e = tensor.exp %z : tensor<[3, 4], f64>"""
TWICE = """
  %d = tensor.add %e, %e : tensor<[3, 4], f64>
  %sums = tensor.reduce_sum %d {axes = [1]} : tensor<[3], f64>"""


def func_of(lines: str, result: str = "%y") -> Func:
    head = "func @f(%x: tensor<[3, 4], f64>) -> tensor<[3, 4], f64> {"
    return parse(f"{head}{lines}\n  return {result}\n}}").main


def origins(func: Func) -> list[Origin]:
    return [source.origin for source in linearise(func, [True]).residual_sources]


def test_a_softmax_keeps_nothing_but_its_result() -> None:
    func = func_of(ROWS + EXP + SUM + OVER)
    assert origins(func) == [Origin.OUTPUT]
    check_derivatives(func, [X], [True])


@pytest.mark.parametrize(
    "lines",
    [
        COLUMNS + EXP + SUM + OVER,
        ROWS + EXP + TWICE + OVER,
        ROWS.replace("%z = tensor.subtract %x, %wide", "%z = tensor.subtract %wide, %x")
        + EXP
        + SUM
        + OVER,
    ],
    ids=["less something else for each column", "other sums", "taken from something"],
)
def test_what_is_nearly_a_softmax_is_differentiated_right(lines: str) -> None:
    check_derivatives(func_of(lines), [X], [True])


def test_an_exponent_that_stands_still_moves_nothing() -> None:
    lines = ROWS.replace("%z = tensor.subtract %x", "%z = tensor.subtract %most2")
    still = """
  %one = tensor.constant {value = 1.0} : tensor<[], f64>
  %most2 = tensor.broadcast %one {shape = [3, 4], axes = []} : tensor<[3, 4], f64>"""
    func = func_of(still + lines + EXP + SUM + OVER)
    assert origins(func) == []
    check_derivatives(func, [X], [True])


def test_a_quotient_divides_its_tangents_once() -> None:
    lines = """
  %s = tensor.sin %x : tensor<[3, 4], f64>
  %c = tensor.exp %x : tensor<[3, 4], f64>
  %y = tensor.divide %s, %c : tensor<[3, 4], f64>"""
    func = func_of(lines)
    linear = linearise(func, [True]).linear
    assert sum(op.name == "tensor.divide" for op in linear.body) == 1
    check_derivatives(func, [X], [True])
