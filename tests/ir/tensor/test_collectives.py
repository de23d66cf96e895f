"""Collectives on meshes of several sizes, against what numpy makes of all devices' tensors."""

import threading
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32
from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter.mesh import interpret_mesh
from brimstone.ir.parser import parse
from brimstone.ir.types import Tensor
from kit.texts import failing, read, refused

Array = np.ndarray[Any, np.dtype[Any]]
COUNTS = [1, 2, 3, 7]


def text(op: str, settings: str, takes: str, gives: str, sizes: str = "") -> str:
    return f"""
func @f{sizes}(%x: tensor<{takes}>) -> tensor<{gives}> {{
  %y = tensor.{op} %x {{axis_name = "data", {settings}}} : tensor<{gives}>
  return %y
}}
"""


def spread(program: str, parts: Sequence[Array]) -> list[Array]:
    """The result of each device along the axis `data`."""
    found = interpret_mesh(read(program), [[part] for part in parts], {"data": len(parts)})
    return [results[0] for results in found]


def random(count: int, shape: tuple[int, ...]) -> list[Array]:
    generator = np.random.default_rng(count)
    return [generator.normal(size=shape).astype(np.float32) for _ in range(count)]


# Meanings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", COUNTS)
def test_every_device_gets_the_same_bits_of_a_sum(count: int) -> None:
    parts = random(count, (5, 3))
    found = spread(text("all_reduce", "reduction = sum", "[5, 3], f32", "[5, 3], f32"), parts)
    expected = parts[0]
    for part in parts[1:]:
        expected = expected + part
    assert all(each.tobytes() == expected.tobytes() for each in found)


@pytest.mark.parametrize(
    ("reduction", "function"),
    [("product", np.prod), ("maximum", np.max), ("minimum", np.min), ("sum", np.sum)],
)
def test_reductions_of_integers(reduction: str, function: Any) -> None:
    parts = [np.array([3, -2, 100], np.int8), np.array([-5, 7, 100], np.int8)]
    program = text("all_reduce", f"reduction = {reduction}", "[3], i8", "[3], i8")
    expected = function(np.stack(parts), axis=0, dtype=np.int8) if reduction in (
        "product", "sum",
    ) else function(np.stack(parts), axis=0)  # fmt: skip
    assert all(
        (each == expected).all() and each.dtype == np.int8 for each in spread(program, parts)
    )


def test_narrow_floats_are_added_wide_and_rounded_once() -> None:
    parts = [np.array(value, ml_dtypes.bfloat16) for value in (256, 1, 1)]
    found = spread(text("all_reduce", "reduction = sum", "[], bf16", "[], bf16"), parts)
    assert [float(each) for each in found] == [258.0] * 3
    assert all(each.dtype == ml_dtypes.bfloat16 and each.shape == () for each in found)


def test_the_larger_and_the_smaller_know_signs_and_nan() -> None:
    parts = [np.array([0.0, np.nan, 1], np.float32), np.array([-0.0, 2, np.inf], np.float32)]
    for reduction, zero, most in (("maximum", 0.0, np.inf), ("minimum", -0.0, 1.0)):
        program = text("all_reduce", f"reduction = {reduction}", "[3], f32", "[3], f32")
        for each in spread(program, parts):
            assert np.signbit(each[0]) == np.signbit(zero)
            assert np.isnan(each[1])
            assert each[2] == most


def test_booleans_are_compared() -> None:
    program = text("all_reduce", "reduction = maximum", "[2], bool", "[2], bool")
    found = spread(program, [np.array([False, False]), np.array([True, False])])
    assert [each.tolist() for each in found] == [[True, False]] * 2


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", [0, 1, 5])
def test_all_gather_joins_along_an_axis(count: int, size: int) -> None:
    program = text(
        "all_gather", f"axis = 1, count = {count}",
        "[2, n], f32", f"[2, {count}*n], f32" if count > 1 else "[2, n], f32", "<n: 0..64>",
    )  # fmt: skip
    parts = random(count, (2, size))
    assert all((each == np.concatenate(parts, 1)).all() for each in spread(program, parts))


@pytest.mark.parametrize("count", COUNTS)
def test_reduce_scatter_is_a_part_of_the_sum(count: int) -> None:
    settings = f"reduction = sum, axis = 0, count = {count}"
    program = text("reduce_scatter", settings, f"[{2 * count}, 3], f32", "[2, 3], f32")
    parts = random(count, (2 * count, 3))
    whole = spread(
        text("all_reduce", "reduction = sum", f"[{2 * count}, 3], f32", f"[{2 * count}, 3], f32"),
        parts,
    )[0]
    for place, each in enumerate(spread(program, parts)):
        assert each.tobytes() == whole[2 * place : 2 * place + 2].tobytes()


@pytest.mark.parametrize("count", COUNTS)
def test_all_to_all_exchanges_parts(count: int) -> None:
    settings = f"split_axis = 0, concat_axis = 1, count = {count}"
    program = text("all_to_all", settings, f"[{2 * count}, 3], f32", f"[2, {3 * count}], f32")
    parts = random(count, (2 * count, 3))
    for place, each in enumerate(spread(program, parts)):
        mine = [part[2 * place : 2 * place + 2] for part in parts]
        assert (each == np.concatenate(mine, 1)).all()


def test_all_to_all_along_one_axis_transposes_blocks() -> None:
    settings = "split_axis = 0, concat_axis = 0, count = 3"
    program = text("all_to_all", settings, "[3], f32", "[3], f32")
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert (np.stack(spread(program, list(square))) == square.T).all()


def test_a_permutation_leaves_zeros_where_nothing_comes() -> None:
    program = text("collective_permute", "pairs = [[0, 1], [1, 2]]", "[2], f32", "[2], f32")
    found = spread(program, [np.full(2, value, np.float32) for value in (5, 6, 7)])
    assert [each.tolist() for each in found] == [[0, 0], [5, 5], [6, 6]]


def test_each_axis_has_its_own_groups() -> None:
    program = """
func @f(%x: tensor<[], i64>) -> (tensor<[], i64>, tensor<[], i64>, tensor<[], i64>) {
  %rows = tensor.axis_index {axis_name = "rows"} : tensor<[], i64>
  %columns = tensor.axis_index {axis_name = "columns"} : tensor<[], i64>
  %sum = tensor.call %x {callee = @sum} : tensor<[], i64>
  return %rows, %columns, %sum
}
func @sum(%x: tensor<[], i64>) -> tensor<[], i64> {
  %y = tensor.all_reduce %x {axis_name = "columns", reduction = sum} : tensor<[], i64>
  return %y
}
"""
    found = interpret_mesh(
        read(program), [[np.int64(10**n)] for n in range(6)], {"rows": 2, "columns": 3}
    )
    assert found == (
        (0, 0, 111), (0, 1, 111), (0, 2, 111), (1, 0, 111000), (1, 1, 111000), (1, 2, 111000),
    )  # fmt: skip


LOOP = """
func @f<n: 0..9>(%x: tensor<[], i64>, %t: tensor<[n], f32>) -> tensor<[], i64> {
  %y = tensor.loop [%x], %t {trip = n} (
      %i: tensor<[], i64>, %c: tensor<[], i64>, %r: tensor<[], f32>) {
    %s = tensor.all_reduce %c {axis_name = "data", reduction = sum} : tensor<[], i64>
    yield %s
  } : tensor<[], i64>
  return %y
}
"""


def test_a_collective_in_a_loop_meets_in_every_step() -> None:
    arguments = [[np.int64(value), np.zeros(3, np.float32)] for value in (1, 2)]
    assert interpret_mesh(read(LOOP), arguments, {"data": 2}) == ((12,), (12,))


def test_collectives_are_built_and_equal_ones_are_one() -> None:
    func = Func("f", [Tensor((2,), f32)])
    builder = Builder(func.body)
    (x,) = func.arguments
    whole = builder.emit(tensor.AllGather, x, "data", 0, 2)
    assert builder.emit(tensor.AllGather, x, "data", 0, 2) is whole
    total = builder.emit(tensor.AllReduce, whole, "data", tensor.Reduction.SUM)
    assert builder.emit(tensor.AllReduce, whole, "data", tensor.Reduction.PRODUCT) is not total
    parts = builder.emit(tensor.AllToAll, total, "data", 0, 0, 2)
    builder.emit_all(Return, [parts, builder.emit(tensor.AxisIndex, "data")])
    found = interpret_mesh(func, [[np.array([1, 2], np.float32)]] * 2, {"data": 2})
    # Each device has [2, 4, 2, 4] and hands each half to one device.
    assert [part.tolist() for part, _ in found] == [[2, 4, 2, 4]] * 2
    assert [int(index) for _, index in found] == [0, 1]


# Refusals ----------------------------------------------------------------------------------------

WRONG = {
    "there is no sum of this dtype: bool": (
        "all_reduce", "reduction = sum", "[3], bool", "[3], bool",
    ),
    "there is no maximum of this dtype: c64": (
        "all_reduce", "reduction = maximum", "[3], c64", "[3], c64",
    ),
    "the result has type tensor<[3], f32>, expected tensor<[3], f16>": (
        "all_reduce", "reduction = sum", "[3], f16", "[3], f32",
    ),
    "the result has type tensor<[5], f32>, expected tensor<[6], f32>": (
        "all_gather", "axis = 0, count = 2", "[3], f32", "[5], f32",
    ),
    "the tensor has no such axis: 1, tensor<[3], f32>": (
        "all_gather", "axis = 1, count = 2", "[3], f32", "[6], f32",
    ),
    "an axis of a mesh has at least one device: 0": (
        "all_gather", "axis = 0, count = 0", "[3], f32", "[0], f32",
    ),
    "axis 0 of tensor<[3], f32> is not known to have 2 equal parts": (
        "reduce_scatter", "reduction = sum, axis = 0, count = 2", "[3], f32", "[1], f32",
    ),
    "axis 1 of tensor<[4, 3], f32> is not known to have 2 equal parts": (
        "all_to_all", "split_axis = 1, concat_axis = 0, count = 2", "[4, 3], f32", "[8, 1], f32",
    ),
    "a device is the target of two pairs: [1, 1]": (
        "collective_permute", "pairs = [[0, 1], [2, 1]]", "[3], f32", "[3], f32",
    ),
    "a device is the source of two pairs: [0, 0]": (
        "collective_permute", "pairs = [[0, 1], [0, 2]]", "[3], f32", "[3], f32",
    ),
    "a pair is [source, target], each at least 0: [[0, -1]]": (
        "collective_permute", "pairs = [[0, -1]]", "[3], f32", "[3], f32",
    ),
    "a pair is [source, target], each at least 0: [[0]]": (
        "collective_permute", "pairs = [[0]]", "[3], f32", "[3], f32",
    ),
}  # fmt: skip


@pytest.mark.parametrize("problem", WRONG)
def test_a_collective_that_breaks_a_rule(problem: str) -> None:
    assert problem in refused(text(*WRONG[problem]))


def test_a_symbolic_size_must_be_a_known_multiple() -> None:
    settings = "reduction = sum, axis = 0, count = 4"
    program = text("reduce_scatter", settings, "[n], f32", "[ceildiv(n, 4)], f32", "<n: 0..64{}>")
    assert "axis 0 of tensor<[n], f32> is not known to have 4" in refused(program.replace("{}", ""))
    parts = random(4, (8,))
    found = spread(program.replace("{}", " % 4"), parts)
    assert [each.shape for each in found] == [(2,)] * 4


# Traps -------------------------------------------------------------------------------------------

SUM = text("all_reduce", "reduction = sum", "[n], f32", "[n], f32", "<n: 0..9>")


def broken(program: str, arguments: Sequence[Sequence[Any]], axes: dict[str, int]) -> str:
    """What goes wrong on a mesh; no thread of a device is left behind."""
    before = threading.active_count()
    with pytest.raises(ExecutionError) as caught:
        interpret_mesh(parse(program, "model.py"), arguments, axes)
    assert threading.active_count() == before
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_outside_a_mesh_an_axis_means_nothing() -> None:
    message = failing(SUM, np.zeros(3, np.float32))
    assert "model.py:3: tensor.all_reduce: the axis 'data' is named outside a mesh" in message
    index = 'func @f() -> tensor<[], i64> {\n%i = tensor.axis_index {axis_name = "x"} : '
    assert "the axis 'x' is named outside a mesh" in failing(
        index + "tensor<[], i64>\nreturn %i\n}"
    )


def test_an_axis_that_the_mesh_lacks() -> None:
    message = broken(SUM, [[np.zeros(3, np.float32)]] * 2, {"rows": 2})
    assert "model.py:3: tensor.all_reduce: no axis 'data' in a mesh of rows = 2" in message
    assert "on device 0 of a mesh of rows = 2" in message


def test_a_mesh_of_another_size_than_the_program_says() -> None:
    program = text("all_gather", "axis = 0, count = 2", "[1], f32", "[2], f32")
    message = broken(program, [[np.zeros(1, np.float32)]] * 3, {"data": 3})
    assert "this is for 2 devices along 'data', and the mesh has 3" in message
    permute = text("collective_permute", "pairs = [[0, 5]]", "[1], f32", "[1], f32")
    message = broken(permute, [[np.zeros(1, np.float32)]] * 3, {"data": 3})
    assert "no device 5: 'data' has 3" in message


def test_devices_that_bring_different_shapes() -> None:
    message = broken(SUM, [[np.zeros(3, np.float32)], [np.zeros(2, np.float32)]], {"data": 2})
    assert "devices bring different shapes: [3], [2]" in message


def test_arguments_for_another_number_of_devices() -> None:
    message = broken(SUM, [[np.zeros(3, np.float32)]], {"data": 2})
    assert "a mesh of data = 2 has 2 devices, and arguments are given for 1" in message


def test_devices_that_never_meet() -> None:
    arguments = [[np.int64(1), np.zeros(steps, np.float32)] for steps in (2, 3)]
    message = broken(LOOP, arguments, {"data": 2})
    assert "model.py:5: the devices never meet: device 0 has ended; " in message
    assert "device 1 waits in tensor.all_reduce along 'data' at model.py:5" in message


def test_devices_that_come_to_different_ops() -> None:
    program = """
func @f(%p: tensor<[], bool>, %x: tensor<[], f32>) -> tensor<[], f32> {
  %y = tensor.cond %p, %x (%a: tensor<[], f32>) {
    %b = tensor.all_reduce %a {axis_name = "data", reduction = sum} : tensor<[], f32>
    yield %b
  } (%a: tensor<[], f32>) {
    %b = tensor.all_reduce %a {axis_name = "data", reduction = product} : tensor<[], f32>
    yield %b
  } : tensor<[], f32>
  return %y
}
"""
    message = broken(program, [[np.asarray(p), np.float32(2)] for p in (True, False)], {"data": 2})
    assert "the devices never meet" in message
    assert (
        "at model.py:4; device 1 waits in tensor.all_reduce along 'data' at model.py:7" in message
    )
    same = interpret_mesh(read(program), [[np.asarray(True), np.float32(2)]] * 2, {"data": 2})
    assert same == ((4,), (4,))


def test_the_error_of_one_device_ends_all() -> None:
    program = """
func @f<n: 0..9>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  %y = tensor.custom %x {kernel = "kit.outside:wrong_shape", settings = {}} : tensor<[n], f32>
  %z = tensor.all_reduce %y {axis_name = "data", reduction = sum} : tensor<[n], f32>
  return %z
}
"""
    arguments = [[np.zeros(size, np.float32)] for size in (1, 2, 3)]
    message = broken(program, arguments, {"data": 3})
    assert 'model.py:3: tensor.custom: "kit.outside:wrong_shape" returned float32[1]' in message
    assert "on device 1 of a mesh of data = 3" in message


def test_a_mesh_without_axes_is_one_device() -> None:
    program = "func @f(%x: tensor<[], f32>) -> tensor<[], f32> {\nreturn %x\n}"
    assert interpret_mesh(read(program), [[np.float32(3)]], {}) == ((3,),)
    assert interpret_mesh(read(program), [], {"data": 0}) == ()
