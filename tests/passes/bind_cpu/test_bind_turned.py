"""Blocks that are turned as they are packed: read with masks or without, turned and stored once."""

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.values import walk
from kit.bound import AVX512, MACHINES, Machine, bound, check, kernel

ROWS = [16, 12]
"""How many rows a panel has of the 16 that are turned at once; what is too much is dropped."""
PACKED = """
func @packed<m: 0..99, n: 0..99>(
    %x: view<2, f32, {{size: [n, m], unit_stride: 1}}>,
    %y: view<3, f32, {{size: [ceildiv(m, {rows}), {rows}, 16], unit_stride: 2, dense: 3}}>)
    with {{grid: [1]}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %rows = tile.constant {{value = {rows}}} : scalar<i64>
  %wide = tile.constant {{value = 16}} : scalar<i64>
  %m = tile.extent %x {{axis = 1}} : scalar<i64>
  tile.for %zero, %m, %rows (%i: scalar<i64>) {{
    %panel = tile.binary %i, %rows {{kind = divide}} : scalar<i64>
    %room = tile.view %y, [%panel, %zero, %zero], %rows, %wide
      {{axes = [1, 2]}} : view<2, f32, {{unit_stride: 1}}>
    %a = tile.load %x, %zero, %i {{shape = [16, 16], padding = 0.0}} : tile<[16, 16], f32>
    %b = tile.permute %a {{axes = [1, 0]}} : tile<[16, 16], f32>
    tile.store %room, %b, %zero, %zero
    yield
  }}
  return
}}
"""


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("n", "m"), [(16, 64), (16, 50), (9, 48), (1, 1), (16, 0)])
def test_packed(machine: Machine, rows: int, n: int, m: int) -> None:
    x = np.arange(n * m, dtype=np.float32).reshape(n, m)
    y = np.full((-(-m // rows), rows, 16), -1, np.float32)
    check(kernel(PACKED.format(rows=rows)), [x, y], machine)


@pytest.mark.parametrize("rows", ROWS)
def test_only_what_is_read_is_written_twice(rows: int) -> None:
    """Whether all of a panel lies inside or not: the loads differ, and nothing is stored beyond."""
    body = bound(kernel(PACKED.format(rows=rows)), AVX512).body
    (choice,) = [op for op in walk(body) if isinstance(op, loop.If)]
    assert len([op for op in choice.on_true if isinstance(op, loop.LoadVector)]) == 16
    (by_rows,) = [op for op in choice.on_false if isinstance(op, loop.For)]
    assert len([op for op in walk([by_rows]) if isinstance(op, loop.LoadMasked)]) == 1
    assert not any(isinstance(op, loop.Shuffle) for op in walk([choice]))
    stores = [op for op in body.arguments[-1].uses if isinstance(op, loop.StoreVector)]
    assert not stores


TURNED = """
func @turned(
    %x: view<2, {dtype}, {{size: [{lanes}, {lanes}], unit_stride: 1}}>,
    %y: view<2, {dtype}, {{size: [{lanes}, {lanes}], unit_stride: 1}}>) with {{grid: [1]}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %a = tile.load %x, %zero, %zero
    {{shape = [{lanes}, {lanes}], padding = {none}}} : tile<[{lanes}, {lanes}], {dtype}>
  %b = tile.permute %a {{axes = [1, 0]}} : tile<[{lanes}, {lanes}], {dtype}>
  tile.store %y, %b, %zero, %zero
  return
}}
"""


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("dtype", ["f64", "f32", "i16", "i8"])
def test_rounds(machine: Machine, dtype: str) -> None:
    """A vector takes part in as many rounds as make lanes of rows; none has a lane from another
    place of its 16 bytes and from another piece of 16 bytes at once."""
    bits = int(dtype[1:])
    lanes = 8 * machine.vector_bytes // bits
    func = kernel(TURNED.format(lanes=lanes, dtype=dtype, none="0.0" if dtype[0] == "f" else "0"))
    x = np.arange(lanes * lanes).reshape(lanes, lanes).astype(func.arguments[0].dtype.storage)
    check(func, [x, np.zeros_like(x)], machine)
    taken = [op.lanes for op in walk(bound(func, machine).body) if isinstance(op, loop.Shuffle)]
    assert len(taken) == lanes * (lanes.bit_length() - 1)
    piece = 128 // bits
    for each in taken:
        stays = [source % piece == lane % piece for lane, source in enumerate(each)]
        within = [source % lanes // piece == lane // piece for lane, source in enumerate(each)]
        assert all(stays) or all(within)
