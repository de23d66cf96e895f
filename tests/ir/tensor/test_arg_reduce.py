"""Where the largest and the smallest stand, against a search in plain Python."""

import math
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import INTEGERS, ORDERED, DType, f32, i8, i32, i64, u8
from brimstone.ir.errors import ExecutionError, VerifyError
from kit.evaluate import evaluate, evaluate_shaped, folded, same
from kit.special import special


def first(line: list[float], largest: bool) -> int:
    for place, number in enumerate(line):
        if math.isnan(number):
            return place
    return line.index(max(line) if largest else min(line))


@pytest.mark.parametrize("dtype", sorted(ORDERED, key=repr), ids=repr)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_places(dtype: DType, axis: int) -> None:
    x = np.resize(special(dtype), (3, 4, 5))
    lines = np.moveaxis(x, axis, -1)
    for cls, largest in ((tensor.ArgMaximum, True), (tensor.ArgMinimum, False)):
        exact = int if x.dtype.kind in "biu" else float
        found = [
            first([exact(each) for each in line], largest)
            for line in lines.reshape(-1, x.shape[axis])
        ]
        wanted = np.array(found, np.int32).reshape(lines.shape[:-1])
        assert same(evaluate(cls, x, axis=axis, dtype=i32), wanted)


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=repr), ids=repr)
def test_places_of_every_dtype(dtype: DType) -> None:
    x = np.array([1.0, 5.0, 2.0])
    assert same(evaluate(tensor.ArgMaximum, x, axis=0, dtype=dtype), np.array(1, dtype.storage))


@pytest.mark.parametrize(
    ("line", "largest", "smallest"),
    [
        ([2, 7, 7, 2], 1, 0),
        ([-0.0, 0.0], 0, 0),
        ([1, math.nan, math.inf, math.nan], 1, 1),
        ([math.inf, -math.inf], 0, 1),
    ],
)
def test_of_equals_the_first(line: list[float], largest: int, smallest: int) -> None:
    x = np.array(line, np.float32)
    assert evaluate(tensor.ArgMaximum, x, axis=0, dtype=i64) == largest
    assert evaluate(tensor.ArgMinimum, x, axis=0, dtype=i64) == smallest


def test_shapes() -> None:
    assert evaluate(tensor.ArgMaximum, np.zeros((0, 3)), axis=1, dtype=i64).shape == (0,)
    eight = np.arange(256).reshape((2,) * 8)
    assert same(
        evaluate(tensor.ArgMinimum, eight[::-1], axis=0, dtype=i8), np.ones((2,) * 7, np.int8)
    )


def test_an_empty_axis_is_refused_when_it_is_known() -> None:
    with pytest.raises(VerifyError, match="the axis is empty"):
        evaluate(tensor.ArgMaximum, np.zeros((2, 0)), axis=1, dtype=i64)


def test_an_empty_axis_fails_when_the_program_runs() -> None:
    with pytest.raises(ExecutionError, match=r"tensor\.arg_maximum: the axis is empty"):
        evaluate_shaped(tensor.ArgMaximum, [(2, Symbol("n"))], np.zeros((2, 0)), axis=1, dtype=i64)


def test_places_that_the_dtype_cannot_hold() -> None:
    x = np.arange(256.0)
    assert evaluate(tensor.ArgMaximum, x, axis=0, dtype=u8) == 255
    with pytest.raises(VerifyError, match="the axis has 257 places, and u8 ends at 255"):
        evaluate(tensor.ArgMaximum, np.arange(257.0), axis=0, dtype=u8)
    with pytest.raises(ExecutionError, match="the axis has 256 places, and i8 ends at 127"):
        evaluate_shaped(tensor.ArgMaximum, [(Symbol("n"),)], x, axis=0, dtype=i8)


def test_folding() -> None:
    assert folded(tensor.ArgMaximum, np.array([3, 9, 4], np.int8), axis=0, dtype=i64)[0] == 1


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (np.float32, {"axis": 2, "dtype": i64}, r"axis 2 is outside 0\.\.1"),
    (np.float32, {"axis": -1, "dtype": i64}, r"axis -1 is outside 0\.\.1"),
    (np.float32, {"axis": 0, "dtype": f32}, "places are integers.*f32"),
    (np.complex64, {"axis": 0, "dtype": i64}, "expected a dtype among"),
]


@pytest.mark.parametrize(("storage", "attributes", "message"), REFUSED)
def test_wrong_attributes_are_refused(storage: Any, attributes: Any, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        evaluate(tensor.ArgMinimum, np.zeros((2, 3), storage), **attributes)
