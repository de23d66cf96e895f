"""Places that tiles name, memory that many programs change, parts of views, scratch memory."""

from string import Template

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.tile import poisoned
from brimstone.passes.bind_cpu import Refused
from kit.bound import MACHINES, Machine, bound, check, kernel

ALL = pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
SOME = pytest.mark.parametrize("machine", MACHINES[::2], ids=lambda each: each.name)
KERNEL = Template("""
func @kernel<m: 0..99, n: 0..99>(
    %x: view<2, $dtype, {size: [m, n]$unit}>, %k: view<1, $index>, %z: view<2, $dtype>)
    with {grid: [4]} {
  %size = tile.constant {value = $tile} : scalar<i64>
  %p = tile.program_id {axis = 0} : scalar<i64>
  %at = tile.binary %p, %size {kind = multiply} : scalar<i64>
  %i = tile.load %k, %at {shape = [$tile], padding = 0} : tile<[$tile], $index>
  %j = tile.iota {shape = [$tile], axis = 0, dtype = i32} : tile<[$tile], i32>
  %g = tile.gather %x, %i, %j {padding = $one} : tile<[$tile], $dtype>
  %r = tile.reshape %g {shape = [1, $tile]} : tile<[1, $tile], $dtype>
  %zero = tile.constant {value = 0} : scalar<i64>
  %back = tile.constant {value = 2} : scalar<i64>
  %q = tile.binary %p, %back {kind = subtract} : scalar<i64>
  $body
  return
}
""")
BODIES = {
    "gather": "tile.store %z, %r, %p, %zero",
    "scatter": "tile.scatter %z, %g, %i, %j",
    "scatter over each other": "tile.scatter %z, %g, %i, %i",
    "add": "tile.scatter %z, %g, %i, %i {combiner = add}",
    "atomic": "tile.atomic %z, %r, %q, %q {combiner = maximum}",
}


def text_of(body: str, tile: int, dtype: str, index: str = "i32", unit: bool = True) -> str:
    """A kernel of four programs, each with as many places as a tile has."""
    stride, one = ", unit_stride: 1" if unit else "", "1.0" if dtype[0] == "f" else "1"
    return KERNEL.substitute(body=body, tile=tile, dtype=dtype, index=index, unit=stride, one=one)


@SOME
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("tile", [16, 7, 1])
@pytest.mark.parametrize(("dtype", "index"), [("f32", "i32"), ("i16", "i64"), ("f64", "u8")])
def test_places(machine: Machine, name: str, tile: int, dtype: str, index: str) -> None:
    func = kernel(text_of(BODIES[name], tile, dtype, index))
    draw = np.random.default_rng(tile)
    x = draw.integers(-9, 10, (5, 11)).astype(func.arguments[0].dtype.storage)
    low = 0 if index[0] == "u" else -2
    places = draw.integers(low, 7, 4 * tile - 1).astype(func.arguments[1].dtype.storage)
    check(func, [x, places, np.zeros_like(x)], machine)


def test_no_machine_multiplies_in_one_step() -> None:
    text = text_of("tile.scatter %z, %g, %i, %j {combiner = multiply}", 8, "f32")
    with pytest.raises(Refused, match="multiply in one step"):
        bound(kernel(text))


@ALL
@pytest.mark.parametrize("strides", [(13, 1), (1, 7)])
def test_strides_of_arguments(machine: Machine, strides: tuple[int, int]) -> None:
    """Odd ones, and ones that only the running kernel knows, amid poison."""
    func = kernel(text_of(BODIES["gather"], 8, "f32", unit=False))
    x = np.arange(55, dtype=np.float32).reshape(5, 11)
    places = np.arange(29, dtype=np.int32) % 6
    memory = poisoned(x, strides), poisoned(places, [3]), poisoned(np.zeros_like(x), [23, 2])
    check(func, memory, machine)


RANDOM = Template("""
func @random<n: 0..99>(%z: view<1, u32, {size: [n], unit_stride: 0}>, %low: scalar<u32>)
    with {grid: [ceildiv(n, $tile)]} {
  %size = tile.constant {value = $tile} : scalar<i64>
  %far = tile.constant {value = 4294967290} : scalar<i64>
  %high = tile.constant {value = 11} : scalar<u32>
  %p = tile.program_id {axis = 0} : scalar<i64>
  %at = tile.binary %p, %size {kind = multiply} : scalar<i64>
  %start = tile.binary %at, %far {kind = add} : scalar<i64>
  %starts = tile.full %start {shape = [$tile]} : tile<[$tile], i64>
  %j = tile.iota {shape = [$tile], axis = 0, dtype = i64} : tile<[$tile], i64>
  %i = tile.binary %starts, %j {kind = add} : tile<[$tile], i64>
  %r = tile.random_bits %low, %high, %i : tile<[$tile], u32>
  tile.store %z, %r, %at
  return
}
""")


@ALL
@pytest.mark.parametrize("tile", [16, 3])
def test_random_bits(machine: Machine, tile: int) -> None:
    """Across the place at which the counter's low word ends."""
    check(kernel(RANDOM.substitute(tile=tile)), [np.zeros(21, np.uint32), 4294967295], machine)


PARTS = Template("""
func @parts<m: 0..99, n: 0..99>(
    %x: view<2, f32, {size: [m, n], unit_stride: 1}>, %z: view<2, f32, {size: [n, m]}>)
    with {grid: [ceildiv(m, 8)]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %eight = tile.constant {value = 8} : scalar<i64>
  %m = tile.extent %x {axis = 0} : scalar<i64>
  %n = tile.extent %x {axis = 1} : scalar<i64>
  %last = tile.binary %n, %one {kind = subtract} : scalar<i64>
  %p = tile.program_id {axis = 0} : scalar<i64>
  %i = tile.binary %p, %eight {kind = multiply} : scalar<i64>
  %turned = tile.view %x, [%zero, $first], %n, %m {axes = [1, 0], steps = [$step, 1]} : \
view<2, f32$facts>
  %kept = tile.scratch {shape = [n + 1, 8], dtype = f32} : \
view<2, f32, {size: [n + 1, 8], unit_stride: 1}>
  tile.for %zero, %n, %eight (%j: scalar<i64>) {
    %a = tile.load %turned, %j, %i {shape = [8, 8], padding = 1.0} : tile<[8, 8], f32>
    tile.store %kept, %a, %j, %zero
    yield
  }
  tile.for %zero, %n, %one (%j: scalar<i64>) {
    %a = tile.load %kept, %j, %zero {shape = [1, 8], padding = 1.0} : tile<[1, 8], f32>
    %b = tile.compare %j, %one {kind = less_equal} : scalar<bool>
    %c = tile.if %b, %a (%d: tile<[1, 8], f32>) {
      %e = tile.unary %d {kind = negate} : tile<[1, 8], f32>
      yield %e
    } (%d: tile<[1, 8], f32>) {
      yield %d
    } : tile<[1, 8], f32>
    tile.store %z, %c, %j, %i
    yield
  }
  return
}
""")


@ALL
@pytest.mark.parametrize(("first", "step"), [("%zero", 1), ("%last", -1)])
def test_parts_and_scratch(machine: Machine, first: str, step: int) -> None:
    """Turned, and from the last column on backwards; kept, read again, and changed in a branch."""
    facts = ", {unit_stride: 0}" if step == 1 else ""
    func = kernel(PARTS.substitute(first=first, step=step, facts=facts))
    for m, n in ((8, 8), (0, 3), (9, 17), (5, 1)):
        x = np.arange(m * n, dtype=np.float32).reshape(m, n)
        check(func, [x, np.zeros((n, m), np.float32)], machine)


FLIP = """
func @flip<m: 0..99, n: 0..99>(
    %x: view<2, f32, {size: [m, n], unit_stride: 1}>,
    %z: view<2, f32, {size: [m, n], unit_stride: 1}>) with {grid: [m, ceildiv(n, 16)]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %sixteen = tile.constant {value = 16} : scalar<i64>
  %m = tile.extent %x {axis = 0} : scalar<i64>
  %n = tile.extent %x {axis = 1} : scalar<i64>
  %last = tile.binary %n, %one {kind = subtract} : scalar<i64>
  %i = tile.program_id {axis = 0} : scalar<i64>
  %q = tile.program_id {axis = 1} : scalar<i64>
  %j = tile.binary %q, %sixteen {kind = multiply} : scalar<i64>
  %from = tile.view %x, [%zero, %last], %m, %n {axes = [0, 1], steps = [1, -1]} : view<2, f32>
  %to = tile.view %z, [%zero, %last], %m, %n {axes = [0, 1], steps = [1, -1]} : view<2, f32>
  %a = tile.load %from, %i, %j {shape = [1, 16], padding = 0.0} : tile<[1, 16], f32>
  tile.store $to, %a, %i, %j
  return
}
"""


@ALL
@pytest.mark.parametrize("to", ["%z", "%to"])
def test_backwards(machine: Machine, to: str) -> None:
    """Neighbours that are read and written the last one first are vectors all the same."""
    func = kernel(FLIP.replace("$to", to))
    made = bound(func, machine)
    assert not any(isinstance(op, loop.Gather | loop.Scatter) for op in made.walk())
    for size in (1, 15, 16, 39):
        x = np.arange(3 * size, dtype=np.float32).reshape(3, size)
        check(func, [x, np.zeros_like(x)], machine)


def test_the_length_of_scratch_memory_is_a_size() -> None:
    func = kernel(PARTS.substitute(first="%zero", step=1, facts=", {unit_stride: 0}"))
    assert str(bound(func).attributes["scratch"]) == "(8*n + 8,)"
