"""Kernels called by name: what they get, what they may return, and what goes wrong in them."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32
from brimstone.ir.errors import ParseError, VerifyError
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number
from kit.texts import failing, refused, run


def text(kernel: str, settings: str = "{}") -> str:
    return f"""
func @f<n: 0..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {{
  %y = tensor.custom %x {{kernel = "{kernel}", settings = {settings}}} : tensor<[n], f32>
  return %y
}}
"""


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_kernel_gets_arrays_and_settings(size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    found = run(text("kit.outside:scaled", "{by: 3}"), x)
    assert found.dtype == np.float32
    assert (found == 3 * x).all()


def test_settings_are_plain_python() -> None:
    program = """
func @f<n: 0..64>(%x: tensor<[n], f32>) -> tensor<[], bool> {
  %y = tensor.custom {kernel = "kit.outside:settings_as_they_come",
      settings = {rows: n, names: ["a", "b"], nested: {on: true, size: 2*n}}} : tensor<[], bool>
  return %y
}
"""
    assert run(program, np.zeros(5, np.float32))


def test_several_results_and_one_of_rank_0() -> None:
    program = """
func @f(%x: tensor<[3], i32>, %y: tensor<[3], i32>) -> (tensor<[3], i32>, tensor<[3], i32>) {
  %q, %r = tensor.custom %x, %y {kernel = "kit.outside:quotient"}
      : tensor<[3], i32>, tensor<[3], i32>
  return %q, %r
}
"""
    quotient, remainder = run(program, np.array([7, 8, 9], np.int32), np.full(3, 4, np.int32))
    assert (quotient.tolist(), remainder.tolist()) == ([1, 2, 2], [3, 0, 1])
    program = """
func @f(%x: tensor<[3], f32>) -> tensor<[], f32> {
  %y = tensor.custom %x {kernel = "kit.outside:total"} : tensor<[], f32>
  return %y
}
"""
    found = run(program, np.ones(3, np.float32))
    assert isinstance(found, np.ndarray)
    assert found == 3


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [
        ("kit.nowhere:f", "cannot import \"kit.nowhere:f\": No module named 'kit.nowhere'"),
        ("kit.outside:nothing", 'cannot import "kit.outside:nothing"'),
        ("kit.outside:not_a_function", '"kit.outside:not_a_function" is not a function'),
        ("kit.outside:raises", "\"kit.outside:raises\" failed: KeyError: 'nothing here'"),
        (
            "kit.outside:writes_its_argument",
            "failed: ValueError: assignment destination is read-only",
        ),
        ("kit.outside:wrong_dtype", "returned float64[2], expected float32[2]"),
        ("kit.outside:wrong_shape", "returned float32[1], expected float32[2]"),
        ("kit.outside:no_array", "returned [1.0, 2.0], no numpy array, expected float32[2]"),
        ("kit.outside:settings_as_they_come", "failed: TypeError"),
    ],
)
def test_what_goes_wrong_names_the_line(kernel: str, problem: str) -> None:
    message = failing(text(kernel), np.zeros(2, np.float32))
    assert message.startswith("model.py:3: tensor.custom: ")
    assert problem in message


def test_a_kernel_that_returns_too_few_arrays() -> None:
    program = """
func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {
  %y, %z = tensor.custom %x {kernel = "kit.outside:scaled", settings = {by: 1}}
      : tensor<[2], f32>, tensor<[2], f32>
  return %z
}
"""
    assert "returned 1 arrays, expected 2" in failing(program, np.zeros(2, np.float32))


@pytest.mark.parametrize(
    "kernel", ["", "f", "kit.outside", "kit.outside:", "kit outside:f", "a:b:c"]
)
def test_a_name_of_another_form(kernel: str) -> None:
    assert f'expected "package.module:function", got "{kernel}"' in refused(text(kernel))


def test_settings_are_a_mapping() -> None:
    with pytest.raises(ParseError, match=r"expected a mapping \{name: value, …\}, found '3'"):
        parse(text("kit.outside:scaled", "3"))


def test_a_custom_op_is_pure_and_neither_folded_nor_merged() -> None:
    func = Func("f")
    builder = Builder(func.body)
    two = builder.emit(tensor.Constant, Number(2.0, f32))
    made = [
        builder.emit(tensor.Custom, [two], "kit.outside:scaled", [two.type], settings={"by": by})
        for by in (3, 3)
    ]
    builder.emit_all(Return, made)
    assert all(isinstance(each.op, tensor.Custom) and each.op.pure for each in made)
    assert interpret(func) == (6, 6)
    with pytest.raises(VerifyError, match="expected an integer"):
        builder.emit(tensor.Custom, [two], "a:b", [two.type], settings={"by": object()})
