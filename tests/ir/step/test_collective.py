"""Collectives on memory: the same meaning as those on tensors, in place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter.mesh import interpret_mesh
from kit.texts import failing, read, refused

Array = np.ndarray[Any, np.dtype[Any]]
F32 = np.float32


def text(settings: str, takes: str, gives: str) -> str:
    return f"""
func @f(%x: array<{takes}>, %y: array<{gives}>) {{
  step.collective [%x], %y {{axis_name = "data", {settings}}}
  return
}}
"""


def tensors(op: str, settings: str, takes: str, gives: str) -> str:
    return f"""
func @f(%x: tensor<{takes}>) -> tensor<{gives}> {{
  %y = tensor.{op} %x {{axis_name = "data", {settings}}} : tensor<{gives}>
  return %y
}}
"""


def spread(program: str, parts: Sequence[Array], shape: tuple[int, ...]) -> list[Array]:
    """What each device has written."""
    written = [np.zeros(shape, F32) for _ in parts]
    arguments = list(zip(parts, written, strict=True))
    interpret_mesh(read(program), arguments, {"data": len(parts)})
    return written


KINDS = [
    ("all_reduce", "reduction = sum", "reduction = sum", (6,), (6,)),
    ("all_reduce", "reduction = minimum", "reduction = minimum", (0,), (0,)),
    ("all_gather", "axis = 0, count = 3", "axis = 0, count = 3", (2,), (6,)),
    (
        "reduce_scatter", "reduction = product, axis = 0, count = 3",
        "reduction = product, axis = 0, count = 3", (6,), (2,),
    ),
    (
        "all_to_all", "axis = 0, concat_axis = 1, count = 3",
        "split_axis = 0, concat_axis = 1, count = 3", (6, 1), (2, 3),
    ),
    ("collective_permute", "pairs = [[0, 2], [2, 0]]", "pairs = [[0, 2], [2, 0]]", (7,), (7,)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "settings", "of_tensors", "takes", "gives"), KINDS)
def test_memory_gets_what_tensors_get(
    kind: str, settings: str, of_tensors: str, takes: tuple[int, ...], gives: tuple[int, ...]
) -> None:
    generator = np.random.default_rng(7)
    parts = [generator.normal(size=takes).astype(F32) for _ in range(3)]
    sizes = f"{list(takes)}, f32", f"{list(gives)}, f32"
    found = spread(text(f"kind = {kind}, {settings}", *sizes), parts, gives)
    module = read(tensors(kind, of_tensors, *sizes))
    expected = interpret_mesh(module, [[part] for part in parts], {"data": 3})
    for one, (other,) in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


def test_many_arrays_in_place() -> None:
    program = """
func @f(%x: array<[2], f32>, %y: array<[], bf16>) {
  %z = step.allocate : array<[2], f32>
  step.collective [%x, %y], %x, %y {axis_name = "data", kind = all_reduce, reduction = sum}
  step.copy %x, %z
  step.collective [%z], %x {axis_name = "data", kind = all_reduce, reduction = sum}
  return
}
"""
    from ml_dtypes import bfloat16

    arguments = [[np.full(2, 1 + n, F32), np.asarray(n, bfloat16)] for n in range(3)]
    interpret_mesh(read(program), arguments, {"data": 3})
    assert all(x.tolist() == [18, 18] and float(y) == 3 for x, y in arguments)


WRONG = {
    "all_reduce needs reduction, and is given none": ("kind = all_reduce", "[2], f32", "[2], f32"),
    "all_gather needs axis, count, and is given axis": (
        "kind = all_gather, axis = 0", "[2], f32", "[2], f32",
    ),
    "collective_permute needs pairs, and is given pairs, reduction": (
        "kind = collective_permute, pairs = [], reduction = sum", "[2], f32", "[2], f32",
    ),
    "array<[2], f32> gives array<[6], f32>, which is not written into array<[4], f32>": (
        "kind = all_gather, axis = 0, count = 3", "[2], f32", "[4], f32",
    ),
    "array<[2], f32> gives array<[2], f32>, which is not written into array<[2], f16>": (
        "kind = all_reduce, reduction = sum", "[2], f32", "[2], f16",
    ),
    "there is no product of this dtype: bool": (
        "kind = all_reduce, reduction = product", "[2], bool", "[2], bool",
    ),
    "is not known to have 3 equal parts": (
        "kind = reduce_scatter, reduction = sum, axis = 0, count = 3", "[4], f32", "[1], f32",
    ),
    "a device is the target of two pairs": (
        "kind = collective_permute, pairs = [[0, 1], [2, 1]]", "[2], f32", "[2], f32",
    ),
}  # fmt: skip


@pytest.mark.parametrize("problem", WRONG)
def test_a_collective_that_breaks_a_rule(problem: str) -> None:
    assert problem in refused(text(*WRONG[problem]))


SUM = text("kind = all_reduce, reduction = sum", "[2], f32", "[2], f32")


def test_each_read_has_its_write() -> None:
    assert "an array is written for each that is read: 1, 2" in refused(
        SUM.replace("[%x], %y", "[%x], %x, %y")
    )


def test_outside_a_mesh_an_axis_means_nothing() -> None:
    message = failing(SUM, np.zeros(2, F32), np.zeros(2, F32))
    assert "model.py:3: step.collective: the axis 'data' is named outside a mesh" in message


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (
            text("kind = all_gather, axis = 0, count = 2", "[1], f32", "[2], f32"),
            "this is for 2 devices along 'data', and the mesh has 3",
        ),
        (
            text("kind = collective_permute, pairs = [[3, 0]]", "[1], f32", "[1], f32"),
            "no device 3: 'data' has 3",
        ),
    ],
)
def test_a_mesh_of_another_size(program: str, problem: str) -> None:
    module = read(program)
    shapes = [value.type.shape for value in module.main.arguments]
    arguments = [[np.zeros(shape, F32) for shape in shapes] for _ in range(3)]
    with pytest.raises(ExecutionError, match=problem):
        interpret_mesh(module, arguments, {"data": 3})


def test_writes_may_not_overlap_a_part_of_what_is_read() -> None:
    memory = np.zeros(3, F32)
    with pytest.raises(ExecutionError, match="write 0 overlaps a part of read 0"):
        interpret_mesh(read(SUM), [[memory[:2], memory[1:]]] * 2, {"data": 2})
