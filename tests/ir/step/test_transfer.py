"""Copies and fills."""

import numpy as np
import pytest

from brimstone.ir import step
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import BY_NAME, f32, i64
from brimstone.ir.errors import ParseError, VerifyError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.payloads import Number
from brimstone.ir.types import Array
from kit.texts import failing, read, refused

COPY = """
func @f<n: 0..64>(%x: array<[n, 2], f32>, %y: array<[n, 2], f32>) {
  step.copy %x, %y
  return
}
"""


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_copy_writes_in_place(size: int) -> None:
    x, y = np.arange(2 * size, dtype=np.float32).reshape(size, 2), np.zeros((size, 2), np.float32)
    assert interpret(read(COPY), x, y) == ()
    assert (x == y).all()


def test_copies_that_break_a_rule() -> None:
    problem = "destination has type array<[2, n], f32>, expected array<[n, 2], f32> (from source)"
    assert problem in refused(COPY.replace("%y: array<[n, 2]", "%y: array<[2, n]"))
    x = np.zeros((4, 2), np.float32)
    message = failing(COPY, x[1:], x[:3])
    assert message == "model.py:3: step.copy: source and destination overlap"
    interpret(read(COPY), x[2:], x[:2])
    read_only = np.zeros((3, 2), np.float32)
    read_only.flags.writeable = False
    assert "step.copy: assignment destination is read-only" in failing(COPY, x[:3], read_only)


def fill(type_: str, value: str) -> str:
    return f"func @f(%x: array<{type_}>) {{\n  step.fill %x {{value = {value}}}\n  return\n}}"


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("f32", "-inf", -np.inf),
        ("i64", "9223372036854775807", 2**63 - 1),
        ("bool", "true", True),
        ("c64", "(1.0, -2.0)", 1 - 2j),
        ("u8", "255", 255),
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (7, 3)], ids=str)
def test_a_fill_is_exact(dtype: str, value: str, expected: object, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, BY_NAME[dtype].storage)
    interpret(read(fill(f"{list(shape)}, {dtype}", value)), x)
    assert (x == expected).all()


def test_a_fill_with_a_number_of_another_dtype() -> None:
    with pytest.raises(ParseError, match=r"step\.fill: 256 does not fit u8"):
        read(fill("[2], u8", "256"))
    with pytest.raises(ParseError, match=r"step\.fill: 1\.5 is not a value of i64"):
        read(fill("[2], i64", "1.5"))
    builder = Builder(Func("f", [Array((2,), f32)]).body)
    (array,) = builder.block.arguments
    with pytest.raises(VerifyError, match="the value is not of f32"):
        builder.emit_all(step.Fill, array, Number(1, i64))
    assert "neither one number nor array<[3], f32>" in refused(fill("[3], f32", "[1.0, 2.0]"))


def test_a_fill_with_many_numbers() -> None:
    x = np.zeros((2, 2), np.float32)
    interpret(read(fill("[2, 2], f32", "[[1.0, -0.0], [3.0, inf]]")), x)
    assert x.tolist() == [[1, 0], [3, np.inf]]
    assert np.signbit(x[0, 1])


STORE = """
func @f<n: 0..64>(%x: array<[n], f32>, %y: array<[], i64>) {
  %n = step.dim %x {axis = 0} : scalar<i64>
  step.store %n, %y
  return
}
"""


@pytest.mark.parametrize("size", [0, 7])
def test_a_number_of_the_host_is_stored(size: int) -> None:
    y = np.zeros((), np.int64)
    interpret(read(STORE), np.zeros(size, np.float32), y)
    assert y == size


@pytest.mark.parametrize("type_", ["array<[1], i64>", "array<[], i32>"])
def test_a_store_into_another_type(type_: str) -> None:
    assert "the array is no array<[], i64>" in refused(STORE.replace("array<[], i64>", type_))
