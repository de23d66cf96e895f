"""Checkpoints, rules of the user's own, and linear functions known by their transpose."""

import numpy as np
import pytest

from brimstone.ir.tensor import StopGradient
from kit.calls import call, same_bits
from kit.texts import refused, run

CHECKPOINT = """
func @f(%x: tensor<[2], f32>, %w: tensor<[2], f32>) -> (tensor<[2], f32>, tensor<[], f32>) {
  %a, %b = tensor.checkpoint %x (%t: tensor<[2], f32>) {
    %m = tensor.multiply %t, %w : tensor<[2], f32>
    %s = tensor.reduce_sum %m {axes = [0]} : tensor<[], f32>
    yield %m, %s
  } : tensor<[2], f32>, tensor<[], f32>
  return %a, %b
}
"""

CUSTOM = """
func @f(%x: tensor<[2], f32>, %n: tensor<[], i32>) -> (tensor<[2], f32>, tensor<[], i32>) {
  %a, %b = tensor.custom_vjp %x, %n (%t: tensor<[2], f32>, %k: tensor<[], i32>) {
    %e = tensor.exp %t : tensor<[2], f32>
    yield %e, %k
  } (%t: tensor<[2], f32>, %k: tensor<[], i32>) {
    %e = tensor.exp %t : tensor<[2], f32>
    yield %e, %k, %e
  } (%r: tensor<[2], f32>, %c: tensor<[2], f32>) {
    %m = tensor.multiply %r, %c : tensor<[2], f32>
    yield %m
  } : tensor<[2], f32>, tensor<[], i32>
  return %a, %b
}
"""

# y = (Σ r · t) · [1, 2, 3], from its transpose: c -> r · (c · [1, 2, 3]).
LINEAR = """
func @f(%r: tensor<[2], D>, %t: tensor<[2], D>) -> tensor<[3], D> {
  %y = tensor.linear_call [%r], %t (%s: tensor<[2], D>, %c: tensor<[3], D>) {
    %i = tensor.iota {shape = [3], axis = 0, dtype = D} : tensor<[3], D>
    %one = tensor.constant {value = ONE} : tensor<[], D>
    %ones = tensor.broadcast %one {shape = [3]} : tensor<[3], D>
    %n = tensor.add %i, %ones : tensor<[3], D>
    %p = tensor.multiply %c, %n : tensor<[3], D>
    %sum = tensor.reduce_sum %p {axes = [0]} : tensor<[], D>
    %wide = tensor.broadcast %sum {shape = [2]} : tensor<[2], D>
    %m = tensor.multiply %s, %wide : tensor<[2], D>
    yield %m
  } : tensor<[3], D>
  return %y
}
"""


def test_stop_gradient_is_what_it_is_given() -> None:
    for array in (np.array([1.5, -0.0, np.nan]), np.array([1j]), np.array([True]), np.array([3])):
        same_bits(call(StopGradient, array), array)


def test_a_checkpoint_is_its_body() -> None:
    x, w = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    product, total = run(CHECKPOINT, x, w)
    assert product.tolist() == [3, 8]
    assert total == 11


def test_a_rule_changes_no_value() -> None:
    x = np.array([0, 1], np.float32)
    made, count = run(CUSTOM, x, np.int32(7))
    same_bits(made, np.exp(x))
    assert count == 7


@pytest.mark.parametrize("dtype, one", [("f64", "1.0"), ("f32", "1.0"), ("c128", "(1.0, 0.0)")])
def test_a_linear_function_from_its_transpose(dtype: str, one: str) -> None:
    storage = {"f64": np.float64, "f32": np.float32, "c128": np.complex128}[dtype]
    residual = np.array([2, 3], storage) * (1 + 2j if dtype == "c128" else 1)
    tangent = np.array([5, 7], storage) * (2 - 1j if dtype == "c128" else 1)
    made = run(LINEAR.replace("D", dtype).replace("ONE", one), residual, tangent)
    assert np.allclose(made, np.sum(residual * tangent) * np.array([1, 2, 3]))


REFUSED = {
    "the region body takes (tensor<[3], f32>), expected (tensor<[2], f32>)": (
        CHECKPOINT.replace("(%t: tensor<[2]", "(%t: tensor<[3]").replace("%t, %w", "%w, %w")
    ),
    "the region forward yields (tensor<[2], f32>, tensor<[2], f32>), expected": (
        CUSTOM.replace("yield %e, %k, %e", "yield %e, %e")
    ),
    "the region backward takes (tensor<[2], f32>, tensor<[2], f32>), expected (tensor<[2], f32>)": (
        CUSTOM.replace("yield %e, %k, %e", "yield %e, %k")
    ),
    "the region backward yields (tensor<[2], f32>, tensor<[2], f32>), expected": (
        CUSTOM.replace("yield %m\n", "yield %m, %c\n")
    ),
    "the region backward yields (tensor<[3], f64>), expected (tensor<[2], f64>)": (
        LINEAR.replace("yield %m", "yield %p").replace("D", "f64").replace("ONE", "1.0")
    ),
    "an output has a dtype without cotangents: tensor<[3], i32>": (
        LINEAR.replace("D", "i32").replace("ONE", "1")
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refusals(message: str) -> None:
    assert message in refused(REFUSED[message])
