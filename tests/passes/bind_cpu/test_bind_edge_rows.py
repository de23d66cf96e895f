"""Blocks of many rows that stick out of their views: read row after row by a loop."""

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.values import walk
from kit.bound import AVX512, MACHINES, Machine, bound, check, kernel

BLOCK = """
func @block<m: 0..99, n: 0..99>(
    %x: view<{rank}, f32, {{size: [{sizes}], unit_stride: {last}}}>,
    %y: view<{rank}, f32, {{size: [{shape}], unit_stride: {last}}}>,
    %i: scalar<i64>, %j: scalar<i64>) with {{grid: [1]}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %a = tile.load %x, {offsets} {{shape = [{shape}], padding = 7.0}} : tile<[{shape}], f32>
  tile.store %y, %a, {zeros}
  return
}}
"""
FORMS = {
    "rows": {"sizes": "m, n", "shape": "16, 16", "offsets": "%i, %j"},
    "wide": {"sizes": "m, n", "shape": "17, 32", "offsets": "%i, %j"},
    "between": {"sizes": "1, m, 1, n", "shape": "1, 16, 1, 16", "offsets": "%zero, %i, %zero, %j"},
}


def block(name: str) -> str:
    form = FORMS[name]
    rank = form["shape"].count(",") + 1
    zeros = ", ".join(["%zero"] * rank)
    return BLOCK.format(**form, rank=rank, last=rank - 1, zeros=zeros)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("name", ["rows", "between"])
@pytest.mark.parametrize(("m", "n"), [(30, 40), (17, 16), (16, 31), (3, 5), (1, 1), (0, 9), (9, 0)])
def test_blocks(machine: Machine, name: str, m: int, n: int) -> None:
    """Also of rows that come before the first one."""
    check_block(name, m, n, machine)


@pytest.mark.parametrize(("m", "n"), [(30, 40), (17, 33), (3, 17), (1, 1)])
def test_rows_of_two_vectors(m: int, n: int) -> None:
    check_block("wide", m, n, AVX512)


def check_block(name: str, m: int, n: int, machine: Machine) -> None:
    shape = tuple([int(size) for size in FORMS[name]["shape"].split(", ")])
    x = np.arange(m * n, dtype=np.float32)
    x = x.reshape([{"m": m, "n": n}.get(size, 1) for size in FORMS[name]["sizes"].split(", ")])
    for i, j in ((0, 0), (5, 3), (-4, 2), (-16, 0), (40, -3)):
        check(kernel(block(name)), [x, np.zeros(shape, np.float32), i, j], machine)


def test_one_row_is_written_out() -> None:
    """The loop has one masked load for each vector of a row; what it read has no masks."""
    body = bound(kernel(block("wide")), AVX512).body
    masked = [op for op in walk(body) if isinstance(op, loop.LoadMasked)]
    assert len(masked) == 2
    loads = [op.buffer for op in walk(body) if isinstance(op, loop.LoadVector)]
    assert len([buffer for buffer in loads if isinstance(buffer.owner, loop.Allocate)]) == 17 * 2
