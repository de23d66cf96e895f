"""Derivatives of funcs whose sizes are symbols, run at several of them, 0 and 1 among these."""

import numpy as np
import pytest

from brimstone.ir.parser import parse
from brimstone.ir.verifier import verify
from kit.derivatives import check_derivatives

RNG = np.random.default_rng(5)

PROGRAMS = {
    "broadcast and sum": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, 1], f64>) -> tensor<[m], f64> {
  %b = tensor.broadcast %x {shape = [m, n, 3], axes = [1, 2]} : tensor<[m, n, 3], f64>
  %s = tensor.sin %b : tensor<[m, n, 3], f64>
  %r = tensor.reduce_sum %s {axes = [1, 2]} : tensor<[m], f64>
  return %r
}""",
    "slice, pad, flip and concat": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n + 2, m], f64>) -> tensor<[3*n + 7, m], f64> {
  %a = tensor.slice %x {start = [1, 0], size = [n, m], step = [1, 1]} : tensor<[n, m], f64>
  %b = tensor.pad %a {low = [1, 0], high = [n, 0], interior = [0, 0], value = 2.0}
    : tensor<[2*n + 1, m], f64>
  %c = tensor.flip %b {axes = [0, 1]} : tensor<[2*n + 1, m], f64>
  %e = tensor.slice %x {start = [0, 0], size = [2, m], step = [1, 1]} : tensor<[2, m], f64>
  %d = tensor.concat %c, %x, %e, %e {axis = 0} : tensor<[3*n + 7, m], f64>
  %p = tensor.multiply %d, %d : tensor<[3*n + 7, m], f64>
  return %p
}""",
    "products": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m], f64>) -> (tensor<[m], f64>, tensor<[n, m], f64>) {
  %p = tensor.reduce_product %x {axes = [0]} : tensor<[m], f64>
  %c = tensor.cumulative_product %x {axis = 1, reverse = true} : tensor<[n, m], f64>
  return %p, %c
}""",
    "largest": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m], f64>) -> (tensor<[n, m], f64>, tensor<[n, m], f64>) {
  %c = tensor.cumulative_maximum %x {axis = 0} : tensor<[n, m], f64>
  %d = tensor.cumulative_minimum %x {axis = 1, reverse = true} : tensor<[n, m], f64>
  return %c, %d
}""",
    "sorted": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m], f64>) -> tensor<[n, m], f64> {
  %c = tensor.sort %x {axis = 1, keys = 1} : tensor<[n, m], f64>
  %d = tensor.multiply %c, %x : tensor<[n, m], f64>
  return %d
}""",
    "gather and scatter": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, 2], f64>, %y: tensor<[m, 2], f64>)
    -> (tensor<[n, 2], f64>, tensor<[m, 2], f64>) {
  %i = tensor.iota {shape = [m, 1], axis = 0, dtype = i64} : tensor<[m, 1], i64>
  %s = tensor.scatter %x, %i, %y {axes = [0], batch = 0, combiner = set, outside = zero}
    : tensor<[n, 2], f64>
  %g = tensor.gather %x, %i {axes = [0], batch = 0, outside = zero} : tensor<[m, 2], f64>
  %p = tensor.multiply %s, %x : tensor<[n, 2], f64>
  %q = tensor.multiply %g, %y : tensor<[m, 2], f64>
  return %p, %q
}""",
    "scattered products": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, 2], f64>, %y: tensor<[m, 2], f64>)
    -> tensor<[n, 2], f64> {
  %i = tensor.iota {shape = [m, 1], axis = 0, dtype = i64} : tensor<[m, 1], i64>
  %s = tensor.scatter %x, %i, %y {axes = [0], batch = 0, combiner = multiply, outside = zero}
    : tensor<[n, 2], f64>
  return %s
}""",
    "contract and reshape": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m], f64>, %y: tensor<[2, m, n], f64>)
    -> tensor<[n, n, 2], f64> {
  %c = tensor.contract %x, %y {left_batch = [], right_batch = [], left_contract = [1],
    right_contract = [1], dtype = f64} : tensor<[n, 2, n], f64>
  %r = tensor.reshape %c {shape = [2*n*n]} : tensor<[2*n*n], f64>
  %q = tensor.reshape %r {shape = [n, n, 2]} : tensor<[n, n, 2], f64>
  %s = tensor.sin %q : tensor<[n, n, 2], f64>
  return %s
}""",
    "convolve": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[m, 4, n], f64>, %k: tensor<[6, 2, 3], f64>)
    -> tensor<[m, 6, ceildiv(n, 2)], f64> {
  %c = tensor.convolve %x, %k {strides = [2], low = [1], high = [1], input_dilation = [1],
    kernel_dilation = [1], groups = 2, dtype = f64}
    : tensor<[m, 6, ceildiv(n, 2)], f64>
  return %c
}""",
    "convolve without a margin": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[m, 1, n], f64>, %k: tensor<[1, 1, 3], f64>)
    -> tensor<[m, 1, SIZE], f64> {
  %c = tensor.convolve %x, %k {strides = [1], low = [0], high = [0], input_dilation = [1],
    kernel_dilation = [2], groups = 1, dtype = f64} : tensor<[m, 1, SIZE], f64>
  return %c
}""".replace("SIZE", "max(n - 4, 0)"),
    "convolve what is spread": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[m, 1, n], f64>, %k: tensor<[1, 1, 2], f64>)
    -> tensor<[m, 1, SIZE], f64> {
  %c = tensor.convolve %x, %k {strides = [1], low = [2], high = [1], input_dilation = [2],
    kernel_dilation = [1], groups = 1, dtype = f64} : tensor<[m, 1, SIZE], f64>
  return %c
}""".replace("SIZE", "max(2*n - 1, 0) + 2"),
    "loop": """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m], f64>, %h: tensor<[m], f64>)
    -> (tensor<[n, m], f64>, tensor<[n, m, n], f64>) {
  %rows, %wide = tensor.loop [], %x {trip = n} (%i: tensor<[], i64>, %r: tensor<[m], f64>) {
    %s = tensor.multiply %r, %h : tensor<[m], f64>
    %t = tensor.tanh %s : tensor<[m], f64>
    %b = tensor.broadcast %t {shape = [m, n], axes = [0]} : tensor<[m, n], f64>
    yield %s, %b
  } : tensor<[n, m], f64>, tensor<[n, m, n], f64>
  return %rows, %wide
}""",
}


@pytest.mark.parametrize("n, m", [(3, 2), (0, 2), (2, 0), (1, 1), (2, 5), (7, 4)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str, n: int, m: int) -> None:
    module = parse(PROGRAMS[name], "symbolic.ir")
    verify(module)
    func, sizes = module.main, {"n": n, "m": m}
    shapes = [
        [eval(str(size), {}, sizes) for size in argument.shape] for argument in func.arguments
    ]
    arguments = [RNG.standard_normal(shape) for shape in shapes]
    check_derivatives(func, arguments, [True] * len(arguments), **sizes)
