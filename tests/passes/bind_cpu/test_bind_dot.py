"""Products of matrices: blocks with edges, operands that stream and operands that are kept."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.func import Func
from kit.bound import AVX512, MACHINES, SSE, Machine, bound, check, kernel

MATMUL = """
func @matmul<m: 0..4096, n: 0..4096, k: 0..4096>(
    %x: view<2, {dtype}, {{size: [m, k], unit_stride: 1}}>,
    %y: view<2, {dtype}, {{size: [k, n], unit_stride: 1}}>,
    %z: view<2, {sums}, {{size: [m, n], unit_stride: 1}}>)
    with {{grid: [ceildiv(m, 4), ceildiv(n, 32)]}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %rows = tile.constant {{value = 4}} : scalar<i64>
  %columns = tile.constant {{value = 32}} : scalar<i64>
  %step = tile.constant {{value = 8}} : scalar<i64>
  %nothing = tile.constant {{value = {number}}} : scalar<{sums}>
  %p = tile.program_id {{axis = 0}} : scalar<i64>
  %q = tile.program_id {{axis = 1}} : scalar<i64>
  %i = tile.binary %p, %rows {{kind = multiply}} : scalar<i64>
  %j = tile.binary %q, %columns {{kind = multiply}} : scalar<i64>
  %inner = tile.extent %x {{axis = 1}} : scalar<i64>
  %start = tile.full %nothing {{shape = [4, 32]}} : tile<[4, 32], {sums}>
  %sum = tile.for %zero, %inner, %step, %start (%l: scalar<i64>, %before: tile<[4, 32], {sums}>) {{
    %a = tile.load %x, %i, %l {{shape = [4, 8], padding = {zero}}} : tile<[4, 8], {dtype}>
    %b = tile.load %y, %l, %j {{shape = [8, 32], padding = {zero}}} : tile<[8, 32], {dtype}>
{chain}
    %c = tile.dot %d, %b, %before : tile<[4, 32], {sums}>
    yield %c
  }} : tile<[4, 32], {sums}>
  tile.store %z, %sum, %i, %j
  return
}}
"""
STREAMED = "    %d = tile.unary %a {{kind = negate}} : tile<[4, 8], {dtype}>"
KEPT = """    %e = tile.unary %a {{kind = negate}} : tile<[4, 8], {dtype}>
    %f = tile.binary %a, %e {{kind = maximum}} : tile<[4, 8], {dtype}>
    %d = tile.binary %f, %e {{kind = add}} : tile<[4, 8], {dtype}>"""
BATCHED = """
func @batched<n: 0..99>(
    %x: view<3, f32, {size: [3, 2, n], unit_stride: 2}>,
    %y: view<3, f32, {size: [3, 8, n], unit_stride: 2}>, %z: view<3, f32>) with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %two = tile.constant {value = -2} : scalar<i64>
  %nothing = tile.constant {value = 1.0} : scalar<f32>
  %start = tile.full %nothing {shape = [3, 2, 8]} : tile<[3, 2, 8], f32>
  %a = tile.load %x, %zero, %zero, %two {shape = [3, 2, 8], padding = 2.0} : tile<[3, 2, 8], f32>
  %b = tile.load %y, %zero, %zero, %one {shape = [3, 8, 8], padding = 1.0} : tile<[3, 8, 8], f32>
  %t = tile.permute %b {axes = [0, 2, 1]} : tile<[3, 8, 8], f32>
  %s = tile.full %nothing {shape = [3, 2, 8]} : tile<[3, 2, 8], f32>
  %c = tile.binary %a, %s {kind = add} : tile<[3, 2, 8], f32>
  %d = tile.dot %c, %t, %start : tile<[3, 2, 8], f32>
  tile.store %z, %d, %zero, %zero, %zero
  return
}
"""


def matmul(dtype: str = "f32", sums: str = "f32", chain: str = STREAMED) -> Func:
    """A product of matrices, in blocks of 4 × 32."""
    zero, number = ("0" if each.startswith("i") else "0.0" for each in (dtype, sums))
    chain = chain.format(dtype=dtype)
    return kernel(MATMUL.format(dtype=dtype, sums=sums, chain=chain, zero=zero, number=number))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("chain", [STREAMED, KEPT], ids=["streamed", "kept"])
@pytest.mark.parametrize(("dtype", "sums"), [("f32", "f32"), ("bf16", "f32"), ("i8", "i32")])
def test_products(machine: Machine, chain: str, dtype: str, sums: str) -> None:
    func = matmul(dtype, sums, chain)
    storage = [func.arguments[place].dtype.storage for place in (0, 1, 2)]
    draw = np.random.default_rng(0)
    for m, n, k in ((4, 32, 8), (5, 33, 9), (3, 7, 0), (7, 64, 5)):
        x, y = (draw.integers(-4, 5, size).astype(storage[0]) for size in ((m, k), (k, n)))
        check(func, [x, y, np.zeros((m, n), storage[2])], machine)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("size", [0, 5, 6, 9])
def test_several_matrices_at_once(machine: Machine, size: int) -> None:
    """With an operand that begins before its view, and one that is turned and so is kept."""
    draw = np.random.default_rng(size)
    x, y = (draw.integers(-4, 5, (3, rows, size)).astype(np.float32) for rows in (2, 8))
    check(kernel(BATCHED), [x, y, np.zeros((3, 2, 8), np.float32)], machine)


def test_operands_stream() -> None:
    """A round of the innermost loop reads a column and a row, and multiplies them."""
    kinds = [op.__class__ for op in interior(bound(matmul(), AVX512)).body]
    assert kinds.count(loop.Load) == 4
    assert kinds.count(loop.LoadVector) == 2
    assert kinds.count(loop.FusedMultiplyAdd) == 8


def test_no_fused_sums_where_there_are_none() -> None:
    made = bound(matmul(), SSE)
    assert not any(isinstance(op, loop.FusedMultiplyAdd) for op in made.walk())


def interior(func: Func) -> loop.For:
    """The innermost loop of the programs and rounds that have no masks."""
    loops = [op for op in func.walk() if isinstance(op, loop.For)]
    return next(op for op in loops if not any(_is_loop(each) for each in op.body))


def _is_loop(op: Any) -> bool:
    return isinstance(op, loop.For)
