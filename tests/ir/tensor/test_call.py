"""Calls: sizes of the callee in terms of the caller's, refusals, and recursion."""

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from kit.texts import read, refused, run

F32 = np.float32


def vector(size: int) -> np.ndarray:
    return np.arange(1, size + 1, dtype=F32)


TWICE = """
func @twice<n: 1..64>(%x: tensor<[n], f32>) -> tensor<[2*n], f32> {
  %y = tensor.concat %x, %x {axis = 0} : tensor<[2*n], f32>
  return %y
}
"""


def caller(body: str, header: str = "<m: 1..8>(%x: tensor<[m], f32>)") -> str:
    return f"func @main{header} -> tensor<[4*m], f32> {{\n{body}\n  return %z\n}}\n{TWICE}"


CALLS = caller("""
  %y = tensor.call %x {callee = @twice} : tensor<[2*m], f32>
  %z = tensor.call %y {callee = @twice} : tensor<[4*m], f32>""")


@pytest.mark.parametrize("size", [1, 7])
def test_a_call_says_the_sizes_of_the_callee(size: int) -> None:
    assert (run(CALLS, vector(size)) == np.tile(vector(size), 4)).all()


def test_sizes_of_one_name_are_those_of_each_func() -> None:
    text = """
func @main<m: 1..8, n: 1..8>(%x: tensor<[m, n], f32>) -> tensor<[n, m], f32> {
  %y = tensor.permute %x {axes = [1, 0]} : tensor<[n, m], f32>
  %z = tensor.call %y {callee = @f} : tensor<[m, n], f32>
  %w = tensor.permute %z {axes = [1, 0]} : tensor<[n, m], f32>
  return %w
}
func @f<m: 1..8, n: 1..8>(%x: tensor<[m, n], f32>) -> tensor<[n, m], f32> {
  %y = tensor.permute %x {axes = [1, 0]} : tensor<[n, m], f32>
  return %y
}
"""
    x = np.arange(10, dtype=F32).reshape(2, 5)
    assert (run(text, x) == x.T).all()


def test_a_call_of_nothing_and_of_several_results() -> None:
    text = """
func @main() -> (tensor<[], i64>, tensor<[], i64>) {
  %a, %b = tensor.call {callee = @f} : tensor<[], i64>, tensor<[], i64>
  return %b, %a
}
func @f() -> (tensor<[], i64>, tensor<[], i64>) {
  %a = tensor.constant {value = 1} : tensor<[], i64>
  %b = tensor.constant {value = 2} : tensor<[], i64>
  return %a, %b
}
"""
    assert run(text) == (2, 1)


WRONG_CALLS = {
    "there is no func @other": "%z = tensor.call %x {callee = @other} : tensor<[4*m], f32>",
    "@twice has 1 arguments, the call 2": (
        "%z = tensor.call %x, %x {callee = @twice} : tensor<[4*m], f32>"
    ),
    "@twice has 1 results, the call 2": (
        "%z, %w = tensor.call %x {callee = @twice} : tensor<[4*m], f32>, tensor<[4*m], f32>"
    ),
    "result 0 of @twice has type tensor<[2*m], f32> in this call, not tensor<[4*m], f32>": (
        "%z = tensor.call %x {callee = @twice} : tensor<[4*m], f32>"
    ),
    "argument 0 of @twice has type tensor<[m], f32> in this call, not tensor<[m], f64>": (
        "%y = tensor.cast %x {dtype = f64} : tensor<[m], f64>\n"
        "%z = tensor.call %y {callee = @twice} : tensor<[4*m], f32>"
    ),
    "argument 0 of @twice has type tensor<[m], f32> in this call, not tensor<[m, 1], f32>": (
        "%y = tensor.reshape %x {shape = [m, 1]} : tensor<[m, 1], f32>\n"
        "%z = tensor.call %y {callee = @twice} : tensor<[4*m], f32>"
    ),
}


@pytest.mark.parametrize("problem", WRONG_CALLS)
def test_a_call_that_does_not_fit(problem: str) -> None:
    assert problem in refused(caller(WRONG_CALLS[problem]))


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        ("m: 0..8", "n of @twice lies in 1..64, and m in 0..8"),
        ("m: 1..65", "n of @twice lies in 1..64, and m in 1..65"),
    ],
)
def test_sizes_outside_the_bounds_of_the_callee(size: str, problem: str) -> None:
    body = "%z = tensor.call %x {callee = @twice} : tensor<[4*m], f32>"
    assert problem in refused(caller(body, f"<{size}>(%x: tensor<[m], f32>)"))


@pytest.mark.parametrize("size", ["8 - m", "4*m*m*m"])
def test_an_axis_has_a_size_whatever_its_expression_admits(size: str) -> None:
    text = f"""
func @main<m: 0..2147483647>(%x: tensor<[{size}], f32>) -> tensor<[{size}], f32> {{
  %y = tensor.call %x {{callee = @f}} : tensor<[{size}], f32>
  return %y
}}
func @f<n: 0..9223372036854775807>(%x: tensor<[n], f32>) -> tensor<[n], f32> {{
  return %x
}}
"""
    read(text)
    least = text.replace("n: 0..", "n: 1..")
    assert "n of @f lies in 1.." in refused(least)


def test_the_callee_wants_a_multiple() -> None:
    text = """
func @main<m: 0..64>(%x: tensor<[{size}], f32>) -> tensor<[{size}], f32> {{
  %y = tensor.call %x {{callee = @f}} : tensor<[{size}], f32>
  return %y
}}
func @f<n: 0..512 % 4>(%x: tensor<[n], f32>) -> tensor<[n], f32> {{
  return %x
}}
"""
    problem = refused(text.format(size="2*m"))
    assert "n of @f is a multiple of 4, and 2*m need not be" in problem
    assert "tensor.call %x" in problem
    read(text.format(size="8*m"))


def test_sizes_must_agree_and_be_known() -> None:
    text = """
func @main<m: 0..4, k: 0..4>(%x: tensor<[m], f32>, %y: tensor<[k], f32>) -> tensor<[m], f32> {
  %z = tensor.call %x, %y {callee = @f} : tensor<[m], f32>
  return %z
}
func @f<n: 0..4>(%x: tensor<[n], f32>, %y: tensor<[n], f32>) -> tensor<[n], f32> {
  return %x
}
"""
    assert "argument 1 of @f has type tensor<[m], f32> in this call" in refused(text)
    unknown = """
func @main(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %z = tensor.call %x {callee = @f} : tensor<[4], f32>
  return %z
}
func @f<n: 0..4>(%x: tensor<[2*n], f32>) -> tensor<[2*n], f32> {
  return %x
}
"""
    assert "no axis that the call hands over says what n of @f is" in refused(unknown)


def test_a_func_may_not_come_back_to_itself() -> None:
    text = """
func @main(%x: tensor<[], f32>) -> tensor<[], f32> {
  %y = tensor.call %x {callee = @other} : tensor<[], f32>
  return %y
}
func @other(%x: tensor<[], f32>) -> tensor<[], f32> {
  %y = tensor.call %x {callee = @main} : tensor<[], f32>
  return %y
}
"""
    assert "@main would call itself" in refused(text)
    with pytest.raises(ExecutionError, match=r"model\.py:3: tensor\.call: @other calls itself"):
        interpret(parse(text, "model.py"), F32(1))
    itself = "func @f() {\n  tensor.call {callee = @f}\n  return\n}"
    assert "@f would call itself" in refused(itself)
