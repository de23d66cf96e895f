"""Loops, branches, and programs of a grid."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.loop import run_loops
from kit.loops import kernel, loops
from kit.machine_code import FFI, agree, call, compiled, slot

BUFFERS = "%x: buffer<f32, global>, %to: buffer<f32, global>"


def numbers(count: int = 32) -> list[Any]:
    source = np.random.default_rng(count)
    return [source.standard_normal(count).astype(np.float32), np.zeros(count, np.float32)]


@pytest.mark.parametrize("unroll", [1, 2, 3])
@pytest.mark.parametrize("integer", ["i32", "i64"])
def test_for_counts_and_carries(integer: str, unroll: int) -> None:
    func = kernel(
        f"{BUFFERS}, %lower: scalar<{integer}>, %upper: scalar<{integer}>, %by: scalar<{integer}>",
        f"""
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %one = loop.constant {{value = 1}} : scalar<i64>
  %first = loop.load %x, %zero : scalar<f32>
  %second = loop.load %x, %one : scalar<f32>
  %a, %b = loop.for %lower, %upper, %by, %first, %second {{unroll = {unroll}}}
      (%i: scalar<{integer}>, %left: scalar<f32>, %right: scalar<f32>) {{
    %y = loop.load %x, %i : scalar<f32>
    %z = loop.binary %y, %left {{kind = subtract}} : scalar<f32>
    loop.store %to, %i, %z
    yield %right, %z
  }} : scalar<f32>, scalar<f32>
  loop.store %to, %zero, %a
  loop.store %to, %one, %b""",
    )
    code = compiled([func])["kernel"]
    for lower, upper, step in [(0, 0, 1), (5, 2, 1), (2, 3, 7), (2, 32, 1), (3, 32, 5), (2, 31, 3)]:
        agree(func, [*numbers(), lower, upper, step], code=code)


def test_a_narrow_loop_ends_at_the_last_index_that_there_is() -> None:
    func = kernel(
        "%to: buffer<i32, global>, %lower: scalar<i32>, %upper: scalar<i32>, %by: scalar<i32>",
        """
  %zero = loop.constant {value = 0} : scalar<i32>
  %count = loop.for %lower, %upper, %by, %zero (%i: scalar<i32>, %n: scalar<i32>) {
    loop.store %to, %zero, %i
    yield %i
  } : scalar<i32>""",
    )
    agree(func, [np.zeros(1, np.int32), 2**31 - 100, 2**31 - 1, 64])


def test_while_and_if() -> None:
    func = kernel(
        "%to: buffer<i64, global>, %start: scalar<i64>",
        """
  %zero = loop.constant {value = 0} : scalar<i64>
  %one = loop.constant {value = 1} : scalar<i64>
  %two = loop.constant {value = 2} : scalar<i64>
  %three = loop.constant {value = 3} : scalar<i64>
  %last, %steps = loop.while %start, %zero (%n: scalar<i64>, %s: scalar<i64>) {
    %more = loop.compare %one, %n {kind = less} : scalar<bool>
    yield %more
  } (%n: scalar<i64>, %s: scalar<i64>) {
    %rest = loop.binary %n, %two {kind = remainder} : scalar<i64>
    %odd = loop.compare %rest, %one {kind = equal} : scalar<bool>
    %next, %by = loop.if %odd, %n (%m: scalar<i64>) {
      %t = loop.binary %m, %three {kind = multiply} : scalar<i64>
      %u = loop.binary %t, %one {kind = add} : scalar<i64>
      yield %u, %one
    } (%m: scalar<i64>) {
      %big = loop.compare %three, %m {kind = less} : scalar<bool>
      %h = loop.if %big () {
        %half = loop.binary %n, %two {kind = divide} : scalar<i64>
        yield %half
      } () {
        yield %one
      } : scalar<i64>
      yield %h, %one
    } : scalar<i64>, scalar<i64>
    %counted = loop.binary %s, %by {kind = add} : scalar<i64>
    yield %next, %counted
  } : scalar<i64>, scalar<i64>
  loop.store %to, %zero, %last
  loop.store %to, %one, %steps""",
    )
    code = compiled([func])["kernel"]
    for start in (0, 1, 2, 7, 27):
        agree(func, [np.zeros(2, np.int64), start], code=code)


GRID = loops("""
func @kernel(%to: buffer<i64, global>) {
  %a = loop.program_id {axis = 0} : scalar<i64>
  %b = loop.program_id {axis = 1} : scalar<i64>
  %c = loop.program_id {axis = 2} : scalar<i64>
  %m = loop.program_count {axis = 1} : scalar<i64>
  %n = loop.program_count {axis = 2} : scalar<i64>
  %am = loop.binary %a, %m {kind = multiply} : scalar<i64>
  %ab = loop.binary %am, %b {kind = add} : scalar<i64>
  %abn = loop.binary %ab, %n {kind = multiply} : scalar<i64>
  %at = loop.binary %abn, %c {kind = add} : scalar<i64>
  %one = loop.constant {value = 1} : scalar<i64>
  %lanes = loop.lane_count : scalar<i64>
  %lane = loop.lane_id : scalar<i64>
  %old = loop.load %to, %at : scalar<i64>
  %counted = loop.binary %old, %lanes {kind = add} : scalar<i64>
  %new = loop.binary %counted, %lane {kind = add} : scalar<i64>
  loop.store %to, %at, %new
  return
}""")


@pytest.mark.parametrize("programs", [(1, 1, 1), (4, 3, 2), (2, 0, 5), (0, 3, 3)])
def test_every_program_of_a_grid_runs_once(programs: tuple[int, int, int]) -> None:
    agree(GRID, [np.zeros(24, np.int64)], programs)


@pytest.mark.parametrize(
    "between", [(1, 3, 0, 3, 0, 2), (0, 4, 1, 2, 0, 2), (2, 3, 1, 3, 1, 2), (3, 3, 0, 3, 0, 2)]
)
def test_programs_between_two_places_of_each_axis_run(between: tuple[int, ...]) -> None:
    found, expected = np.zeros((4, 3, 2), np.int64), np.zeros((4, 3, 2), np.int64)
    slots = FFI.new("uint64_t[]", [slot(GRID.arguments[0].type, found)])
    code = compiled([GRID])["kernel"]
    code(slots, FFI.new("int64_t[]", [4, 3, 2]), FFI.new("int64_t[]", between))
    expected[between[0] : between[1], between[2] : between[3], between[4] : between[5]] = 1
    assert (found == expected).all()


def test_a_grid_that_the_func_names_has_no_other_axes() -> None:
    func = loops("""
func @kernel<n: 0..64>(%to: buffer<i64, global>) with {grid: [n]} {
  %at = loop.program_id {axis = 0} : scalar<i64>
  loop.store %to, %at, %at
  return
}""")
    found, expected = np.zeros(8, np.int64), np.zeros(8, np.int64)
    run_loops(func, [expected], programs=[6], sizes={"n": 6})
    call(compiled([func])["kernel"], func, [found], [6])
    assert (found == expected).all()


def test_scalars_of_every_dtype_come_in_slots() -> None:
    dtypes = ["bool", "i8", "u16", "i32", "u64", "f16", "bf16", "f32", "f64"]
    arguments = ", ".join(
        f"%x{place}: scalar<{dtype}>, %to{place}: buffer<{dtype}, global>"
        for place, dtype in enumerate(dtypes)
    )
    stores = "\n".join(f"  loop.store %to{place}, %zero, %x{place}" for place in range(len(dtypes)))
    func = kernel(arguments, f"  %zero = loop.constant {{value = 0}} : scalar<i64>\n{stores}")
    given: list[Any] = []
    for place, value in enumerate(func.arguments[::2]):
        storage = value.dtype.storage
        given += [np.asarray(place + 1).astype(storage)[()], np.zeros(1, storage)]
    agree(func, given)
