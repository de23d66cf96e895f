"""Functions of Python called by name: what they get, what they may return, what goes wrong."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.payloads import Number
from kit.texts import failing, refused, run


def text(function: str) -> str:
    return f"""
func @f<n: 0..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {{
  %y = tensor.host_call %x {{function = "{function}"}} : tensor<[n], f32>
  return %y
}}
"""


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_function_gets_arrays_and_returns_one(size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    found = run(text("kit.outside:doubled"), x)
    assert found.dtype == np.float32
    assert (found == 2 * x).all()


def test_several_results_and_one_of_rank_0() -> None:
    program = """
func @f(%x: tensor<[3], i32>) -> (tensor<[3], i32>, tensor<[], i32>) {
  %y, %z = tensor.host_call %x {function = "kit.outside:parts"} : tensor<[3], i32>, tensor<[], i32>
  return %y, %z
}
"""
    x = np.array([7, 8, 9], np.int32)
    reverse, total = run(program, x)
    assert (reverse.tolist(), total.tolist()) == ([9, 8, 7], 24)
    assert not np.shares_memory(reverse, x)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("kit.nowhere:f", "cannot import \"kit.nowhere:f\": No module named 'kit.nowhere'"),
        ("kit.outside:fails", "\"kit.outside:fails\" failed: KeyError: 'nothing here'"),
        ("kit.outside:changes_its_argument", "ValueError: assignment destination is read-only"),
        ("kit.outside:wider", "returned float64[2], expected float32[2]"),
        ("kit.outside:shorter", "returned float32[1], expected float32[2]"),
        ("kit.outside:listed", "returned [1.0, 2.0], no numpy array, expected float32[2]"),
        ("kit.outside:twice", "returned 2 arrays, expected 1"),
    ],
)
def test_what_goes_wrong_names_the_line(function: str, problem: str) -> None:
    message = failing(text(function), np.zeros(2, np.float32))
    assert message.startswith("model.py:3: tensor.host_call: ")
    assert problem in message


def test_a_name_of_another_form() -> None:
    assert 'expected "package.module:function", got "f"' in refused(text("f"))


def test_a_call_has_results() -> None:
    program = """
func @f(%x: tensor<[3], i32>) {
  tensor.host_call %x {function = "kit.outside:parts"}
  return
}
"""
    assert "a call has results" in refused(program)


def test_a_call_is_pure_and_neither_folded_nor_merged() -> None:
    func = Func("f")
    builder = Builder(func.body)
    two = builder.emit(tensor.Constant, Number(2.0, f32))
    made = [
        builder.emit(tensor.HostCall, [two], "kit.outside:doubled", [two.type]) for _ in range(2)
    ]
    builder.emit_all(Return, made)
    assert all(isinstance(each.op, tensor.HostCall) and each.op.pure for each in made)
    assert interpret(func) == (4, 4)
