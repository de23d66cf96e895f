"""Bound kernels as machine code of this processor: the same bits as the tile funcs leave."""

from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.targets.llvm.machines import host
from kit.bound import check, kernel
from kit.machine_code import run_machine_code

BLOCKS = Template("""
func @kernel<m: 0..999, n: 0..999>(
    %x: view<2, $dtype, {size: [m, n], unit_stride: 1}>,
    %y: view<2, $dtype, {size: [m, n], unit_stride: 1}>,
    %z: view<2, $dtype>) with {grid: [ceildiv(m, 8), ceildiv(n, 16)]} {
  %eight = tile.constant {value = 8} : scalar<i64>
  %sixteen = tile.constant {value = 16} : scalar<i64>
  %p = tile.program_id {axis = 0} : scalar<i64>
  %q = tile.program_id {axis = 1} : scalar<i64>
  %i = tile.binary %p, %eight {kind = multiply} : scalar<i64>
  %j = tile.binary %q, %sixteen {kind = multiply} : scalar<i64>
  %a = tile.load %x, %i, %j {shape = [8, 16], padding = $zero} : tile<[8, 16], $dtype>
  %b = tile.load %y, %i, %j {shape = [8, 16], padding = $zero} : tile<[8, 16], $dtype>
  $body
  return
}
""")
SAME = "\n  tile.store %z, %r, %i, %j"
T, U = "tile<[8, 16], $dtype>", "tile<[16, 8], $dtype>"
BODIES = {
    "sum": f"%r = tile.binary %a, %b {{kind = add}} : {T}{SAME}",
    "turn": f"%t = tile.permute %a {{axes = [1, 0]}} : {U}\n  tile.store %z, %t, %j, %i",
    "scan": f"%r = tile.scan %a {{axis = 1, kind = sum, reverse = true}} : {T}{SAME}",
    "sort": f"%r = tile.sort %a {{axis = 1, keys = 1, descending = true}} : {T}{SAME}",
    "dot": f"""%t = tile.permute %b {{axes = [1, 0]}} : {U}
  %s = tile.constant {{value = $zero}} : scalar<$dtype>
  %e = tile.full %s {{shape = [8, 8]}} : tile<[8, 8], $dtype>
  %d = tile.dot %a, %t, %e : tile<[8, 8], $dtype>
  tile.store %z, %d, %i, %j""",
    "search": """%s = tile.arg_reduce %a {axis = 1, kind = maximum, dtype = i32} : tile<[8], i32>
  %m = tile.reduce %a {axis = 1, kind = maximum} : tile<[8], $dtype>
  %d = tile.cast %s {dtype = $dtype} : tile<[8], $dtype>
  %c = tile.concat %m, %d {axis = 0} : tile<[16], $dtype>
  %r = tile.reshape %c {shape = [1, 16]} : tile<[1, 16], $dtype>
  tile.store %z, %r, %p, %j""",
    "places": """%c = tile.iota {shape = [16], axis = 0, dtype = i64} : tile<[16], i64>
  %g = tile.gather %x, %c, %c {padding = $zero} : tile<[16], $dtype>
  tile.scatter %z, %g, %c, %c""",
}


def run(func: Func, slots: Sequence[Any], *, programs: Sequence[int], sizes: Any) -> None:
    """The machine is told sizes by its arguments."""
    run_machine_code(func, slots, programs=programs)


@pytest.mark.parametrize("dtype", ["f32", "i32", "f64"])
@pytest.mark.parametrize("name", BODIES)
def test_machine_code(name: str, dtype: str) -> None:
    zero = "0.0" if dtype[0] == "f" else "0"
    body = Template(BODIES[name]).substitute(dtype=dtype, zero=zero)
    func = kernel(BLOCKS.substitute(dtype=dtype, zero=zero, body=body))
    for m, n in ((16, 32), (13, 21)):
        draw = np.random.default_rng(m)
        x, y = (draw.integers(-9, 10, (m, n)).astype(func.arguments[0].dtype.storage) for _ in "xy")
        check(func, [x, y, np.zeros((40, 40), x.dtype)], host(), run=run)
