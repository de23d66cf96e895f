"""Memory: allocated, freed, seen in parts; poison, and what is used after it was freed."""

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import step
from brimstone.ir.builder import Builder
from brimstone.ir.declare import REGISTRY, Effect
from brimstone.ir.dtypes import ALL, DType, Kind, f32
from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.types import Array
from kit.texts import failing, read, refused, run

F32 = np.float32


def test_every_op_has_an_effect() -> None:
    """Else one might be dropped, or two allocations merged."""
    ops = {name: cls for name, cls in REGISTRY.items() if name.startswith("step.")}
    assert len(ops) == 17
    assert all(cls.effects and not cls.pure and not cls.numbered for cls in ops.values())
    assert Effect.HOST in step.Host.effects


# Allocate ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", sorted(ALL, key=repr), ids=repr)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 7)], ids=str)
def test_fresh_memory_is_poisoned(dtype: DType, shape: tuple[int, ...]) -> None:
    type_ = f"array<{list(shape)}, {dtype}>"
    found = run(f"func @f() -> {type_} {{\n%a = step.allocate : {type_}\nreturn %a\n}}")
    assert (found.shape, found.dtype) == (shape, dtype.storage)
    if dtype.kind is Kind.BOOL:
        assert found.all()
    elif dtype.kind in (Kind.FLOAT, Kind.COMPLEX):
        assert np.isnan(found).all()
    else:
        assert set(found.tobytes()) <= {0x7A}


@pytest.mark.parametrize("size", [0, 1, 7])
def test_memory_of_a_symbolic_shape(size: int) -> None:
    program = """
func @f<n: 0..64>(%x: array<[n], f32>) -> array<[2*n, 3], f32> {
  %a = step.allocate : array<[2*n, 3], f32>
  return %a
}
"""
    assert run(program, np.zeros(size, F32)).shape == (2 * size, 3)


def test_equal_allocations_are_two() -> None:
    func = Func("f")
    builder = Builder(func.body)
    made = [builder.emit(step.Allocate, Array((2,), f32)) for _ in range(2)]
    builder.emit_all(step.Free, made[0])
    builder.emit_all(Return, made)
    left, right = interpret(func)
    assert not np.shares_memory(left, right)


# Free --------------------------------------------------------------------------------------------

FREED = """
func @f(%x: array<[2], f32>) {
  %a = step.allocate : array<[2], f32>
  %part = step.view %a {offset = 1, shape = [1]} : array<[1], f32>
  step.free %a
  USE
  return
}
"""


@pytest.mark.parametrize(
    "use",
    [
        "step.free %a",
        "step.fill %a {value = 0.0}",
        "step.copy %x, %a",
        "step.copy %a, %x",
        "step.fill %part {value = 0.0}",
        "%again = step.view %part {offset = 0, shape = []} : array<[], f32>",
        "%size = step.dim %a {axis = 0} : scalar<i64>",
        'step.host [%a], %x {function = "kit.outside:write_first"}',
        "step.launch [%a], %x {kernel = @k, grid = []}",
        'step.collective [%x], %a {kind = all_reduce, axis_name = "data", reduction = sum}',
    ],
)
def test_memory_is_not_used_after_it_was_freed(use: str) -> None:
    kernel = "func @k(%x: tensor<[2], f32>) -> tensor<[2], f32> {\n  return %x\n}"
    message = failing(FREED.replace("USE", use) + kernel, np.zeros(2, F32))
    assert message.startswith("model.py:6: step.")
    assert "uses memory that was freed at model.py:5" in message


def test_memory_freed_in_a_loop_is_freed_once_a_step() -> None:
    program = """
func @f(%x: array<[2], f32>) {
  step.loop {trip = 3} (%i: scalar<i64>) {
    %a = step.allocate : array<[2], f32>
    step.copy %x, %a
    step.free %a
    yield
  }
  return
}
"""
    interpret(read(program), np.zeros(2, F32))
    outside = """
func @f() {
  %a = step.allocate : array<[2], f32>
  step.loop {trip = 2} (%i: scalar<i64>) {
    step.free %a
    yield
  }
  return
}
"""
    assert "model.py:5: step.free: uses memory that was freed at model.py:5" in failing(outside)


def test_what_was_freed_and_returned_is_poison() -> None:
    program = """
func @f() -> array<[2], f32> {
  %a = step.allocate : array<[2], f32>
  step.fill %a {value = 1.0}
  step.free %a
  return %a
}
"""
    assert np.isnan(run(program)).all()


@pytest.mark.parametrize("freed", ["%x", "%part"])
def test_only_what_was_allocated_is_freed(freed: str) -> None:
    program = FREED.replace("USE", f"step.free {freed}")
    assert "only what step.allocate gave can be freed" in refused(program)


# Views -------------------------------------------------------------------------------------------


def view(settings: str, gives: str, takes: str = "[3, 4], i32", sizes: str = "") -> str:
    return f"""
func @f{sizes}(%x: array<{takes}>) -> array<{gives}> {{
  %y = step.view %x {{{settings}}} : array<{gives}>
  return %y
}}
"""


@pytest.mark.parametrize(
    ("settings", "gives", "expected"),
    [
        ("offset = 0, shape = [12]", "[12], i32", np.arange(12)),
        ("offset = 5, shape = [2, 3]", "[2, 3], i32", np.arange(5, 11).reshape(2, 3)),
        ("offset = 12, shape = [0, 7]", "[0, 7], i32", np.zeros((0, 7))),
        ("offset = 11, shape = []", "[], i32", np.asarray(11)),
        ("offset = 2, shape = [2], dtype = u16", "[2], u16", np.array([2, 0])),
        ("offset = 2, shape = [1], dtype = i64", "[1], i64", np.array([3 << 32 | 2])),
    ],
)
def test_a_view_shows_part_of_the_same_memory(
    settings: str, gives: str, expected: np.ndarray
) -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    found = run(view(settings, gives), x)
    assert (found == expected).all()
    assert found.shape == expected.shape
    assert found.size == 0 or np.shares_memory(found, x)


def test_an_arena_holds_arrays_of_several_dtypes() -> None:
    program = """
func @f<n: 0..64>(%out: array<[n], f32>, %half: array<[n], bf16>) {
  %arena = step.allocate : array<[6*n + 2], u8>
  %a = step.view %arena {offset = 0, shape = [n], dtype = f32} : array<[n], f32>
  %b = step.view %arena {offset = 4*n, shape = [n], dtype = bf16} : array<[n], bf16>
  step.fill %a {value = 1.5}
  step.fill %b {value = 2.5}
  step.copy %a, %out
  step.copy %b, %half
  step.free %arena
  return
}
"""
    for size in (0, 1, 7):
        out, half = np.zeros(size, F32), np.zeros(size, ml_dtypes.bfloat16)
        interpret(read(program), out, half)
        assert (out == 1.5).all()
        assert (half == 2.5).all()


@pytest.mark.parametrize(
    ("settings", "gives"),
    [
        ("offset = 1, shape = [12]", "[12], i32"),
        ("offset = 0, shape = [4, 4]", "[4, 4], i32"),
        ("offset = 12, shape = []", "[], i32"),
        ("offset = 0, shape = [7], dtype = i64", "[7], i64"),
    ],
)
def test_a_view_that_cannot_fit(settings: str, gives: str) -> None:
    assert "does not fit into array<[3, 4], i32>" in refused(view(settings, gives))


def test_a_view_of_another_type_or_place() -> None:
    problem = "the result has type array<[2], f32>, expected array<[2], i32>"
    assert problem in refused(view("offset = 0, shape = [2]", "[2], f32"))
    assert "-1 is not a size" in refused(view("offset = -1, shape = [2]", "[2], i32"))


def test_a_view_that_does_not_fit_when_it_runs() -> None:
    settings, gives, takes = "offset = 4*n - 8, shape = [n]", "[n], i32", "[n, 4], i32"
    program = view(settings, gives, takes, "<n: 0..9>")
    x = np.zeros((3, 4), np.int32)
    assert run(program, x).shape == (3,)
    assert "bytes -16..-12 of an array that has 16" in failing(program, x[:1])
    program = view("offset = n, shape = [n]", "[n], i32", "[4], i32", "<n: 0..9>")
    assert "bytes 12..24 of an array that has 16" in failing(program, np.zeros(4, np.int32), n=3)
    program = view("offset = n, shape = [1], dtype = i64", "[1], i64", "[4], i32", "<n: 0..9>")
    assert "byte 4 is not aligned for i64" in failing(program, np.zeros(4, np.int32), n=1)


def test_a_view_of_memory_that_is_not_row_major() -> None:
    program = view("offset = 0, shape = [12]", "[12], i32")
    x = np.zeros((4, 3), np.int32).T
    assert "do not lie in row-major order" in failing(program, x)


# Rows and sizes ----------------------------------------------------------------------------------

ROWS = """
func @f<n: 0..64>(%x: array<[n, 2], i64>, %i: scalar<i64>) -> (array<[2], i64>, scalar<i64>) {
  %y = step.row %x, %i : array<[2], i64>
  %n = step.dim %x {axis = 0} : scalar<i64>
  return %y, %n
}
"""


@pytest.mark.parametrize("size", [1, 7])
def test_a_row_is_the_memory_at_one_index(size: int) -> None:
    x = np.arange(2 * size).reshape(size, 2)
    row, count = run(ROWS, x, size - 1)
    assert (row == x[-1]).all()
    assert np.shares_memory(row, x)
    assert (count, count.dtype) == (size, np.int64)


@pytest.mark.parametrize(("size", "index"), [(0, 0), (3, 3), (3, -1)])
def test_a_row_that_is_not_there(size: int, index: int) -> None:
    message = failing(ROWS, np.zeros((size, 2), np.int64), index)
    assert f"model.py:3: step.row: row {index} of an array that has {size}" in message


def test_rows_and_sizes_that_break_a_rule() -> None:
    assert "index has type scalar<i32>" in refused(
        ROWS.replace("%i: scalar<i64>", "%i: scalar<i32>")
    )
    assert "the array has no such axis: 2" in refused(ROWS.replace("axis = 0", "axis = 2"))
    flat = ROWS.replace("%x: array<[n, 2], i64>", "%x: array<[], i64>")
    assert "an array of rank 0 has no rows" in refused(flat)
    assert "array has type tensor<[2], i64>, expected an array" in refused(
        "func @f(%x: tensor<[2], i64>) {\n%n = step.dim %x {axis = 0} : scalar<i64>\nreturn\n}"
    )


def test_an_error_says_where_the_memory_was_freed_only_if_that_is_known() -> None:
    func = Func("f")
    builder = Builder(func.body)
    made = builder.emit(step.Allocate, Array((2,), f32))
    builder.emit_all(step.Free, made)
    builder.emit_all(step.Free, made)
    builder.emit_all(Return, [])
    with pytest.raises(ExecutionError, match=r"uses memory that was freed$"):
        interpret(func)
