"""Arguments that are one number: read once for all programs, unless a program changes them."""

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.targets.llvm.machines import AVX512 as CPU
from brimstone.targets.llvm.printer import print_llvm
from kit.bound import AVX512, MACHINES, Machine, bound, check, kernel

SCALED = """
func @scaled<n: 0..999>(%factor: view<0, f32, {size: []}>,
                        %x: view<1, f32, {size: [n], unit_stride: 0}>,
                        %y: view<1, f32, {size: [n], unit_stride: 0}>)
    with {grid: [ceildiv(n, 16)]} {
  %p = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 16} : scalar<i64>
  %at = tile.binary %p, %size {kind = multiply} : scalar<i64>
  %loaded = tile.load %factor {shape = [], padding = 0.0} : tile<[], f32>
  %root = tile.unary %loaded {kind = square_root} : tile<[], f32>
  %number = tile.extract %root : scalar<f32>
  %factors = tile.full %number {shape = [16]} : tile<[16], f32>
  %a = tile.load %x, %at {shape = [16], padding = 0.0} : tile<[16], f32>
  %b = tile.binary %factors, %a {kind = multiply} : tile<[16], f32>
  tile.store %y, %b, %at
  return
}
"""
COUNTED = """
func @counted(%count: view<0, f32, {size: []}>, %seen: view<1, f32, {size: [4]}>)
    with {grid: [4]} {
  %p = tile.program_id {axis = 0} : scalar<i64>
  %before = tile.load %count {shape = [], padding = 0.0} : tile<[], f32>
  %one = tile.constant {value = 1.0} : scalar<f32>
  %ones = tile.full %one {shape = []} : tile<[], f32>
  %more = tile.binary %before, %ones {kind = add} : tile<[], f32>
  CHANGE
  %row = tile.reshape %before {shape = [1]} : tile<[1], f32>
  tile.store %seen, %row, %p
  return
}
"""
CHANGES = ["tile.store %count, %more", "tile.atomic %count, %ones {combiner = add}"]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("size", [0, 1, 16, 37])
def test_a_number_for_all_programs(machine: Machine, size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    check(kernel(SCALED), [np.array(9, np.float32), x, np.zeros_like(x)], machine)


def test_what_is_made_of_numbers_alone_stands_outside_of_branches() -> None:
    """The number, its root and the vector of it: before the choice between interior and edge."""
    body = bound(kernel(SCALED)).body
    (load,) = [op for op in body if isinstance(op, loop.Load)]
    assert load.steady
    assert len([op for op in body if isinstance(op, loop.Splat | loop.Unary)]) == 2


def test_numbers_are_written_before_the_programs() -> None:
    text = print_llvm([bind_cpu(kernel(SCALED), AVX512)], CPU)
    before, programs = text.split("programs.0.header:", 1)
    for made in ("load float", "@llvm.sqrt.f32(float", "shufflevector <16 x float>"):
        assert before.count(made) == 1
        assert made not in programs


@pytest.mark.parametrize("change", CHANGES)
def test_a_number_that_programs_change_is_read_by_each(change: str) -> None:
    func = kernel(COUNTED.replace("CHANGE", change))
    assert not any(isinstance(op, loop.Load) and op.steady for op in bound(func).walk())
    check(func, [np.zeros((), np.float32), np.zeros(4, np.float32)])
