"""Reads and writes: places that repeat, places far outside, rounding in memory."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.dtypes import of_numpy
from brimstone.ir.errors import ExecutionError
from brimstone.ir.parser import parse

Array = Any
BF16 = ml_dtypes.bfloat16


def run(body: str, *arrays: Array, programs: int = 1, order: Any = None) -> None:
    """Run ops on the views %a, %b, … of arrays."""
    views = [
        f"%{name}: view<{x.ndim}, {of_numpy(x.dtype)}>"
        for name, x in zip("abcd", arrays, strict=False)
    ]
    text = f"""func @k({", ".join(views)}) with {{grid: [{programs}]}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
{body}
  return
}}
"""
    tile.run_kernel(parse(text).main, list(arrays), order=order)


def scatter(combiner: str, target: Array, values: Array, places: Array) -> Array:
    shape, dtype, index = list(values.shape), of_numpy(values.dtype), of_numpy(places.dtype)
    run(
        f"""  %p = tile.load %c, %zero {{shape = {shape}, padding = 0}} : tile<{shape}, {index}>
  %v = tile.load %b, %zero {{shape = {shape}, padding = 0}} : tile<{shape}, {dtype}>
  tile.scatter %a, %v, %p {{combiner = {combiner}}}""",
        target,
        values,
        places,
    )
    return target


PLACES = np.array([2, 0, 2, -1, 5, 2, 0], np.int32)
VALUES = np.array([3, 4, 5, 6, 7, -2, 9], np.float32)


@pytest.mark.parametrize(
    ("combiner", "expected"),
    [
        ("set", [9, 1, -2, 1]),
        ("add", [14, 1, 7, 1]),
        ("multiply", [36, 1, -30, 1]),
        ("minimum", [1, 1, -2, 1]),
        ("maximum", [9, 1, 5, 1]),
    ],
)
def test_places_that_repeat_take_turns(combiner: str, expected: list[float]) -> None:
    assert scatter(combiner, np.ones(4, np.float32), VALUES, PLACES).tolist() == expected


def test_memory_is_rounded_each_time() -> None:
    """Each 1 is lost beside 256 in bf16, and only their sum would not be."""
    ones = np.ones(4, BF16)
    made = scatter("add", np.array([256], BF16), ones, np.zeros(4, np.int64))
    assert made.tolist() == [256]


def test_unsigned_places_beyond_all_memory() -> None:
    places = np.array([2**64 - 1, 2**63, 1], np.uint64)
    made = scatter("set", np.zeros(3, np.float32), np.ones(3, np.float32), places)
    assert made.tolist() == [0, 1, 0]


def test_a_gather_along_two_axes() -> None:
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    rows, columns = np.array([0, 2, 3, -1, 1]), np.array([3, 0, 0, 0, 4])
    y = np.zeros(5, np.int16)
    run(
        """  %r = tile.load %b, %zero {shape = [5], padding = 0} : tile<[5], i64>
  %s = tile.load %c, %zero {shape = [5], padding = 0} : tile<[5], i64>
  %g = tile.gather %a, %r, %s {padding = -7} : tile<[5], i16>
  tile.store %d, %g, %zero""",
        x,
        rows,
        columns,
        y,
    )
    assert y.tolist() == [3, 8, -7, -7, -7]


def test_a_view_without_axes_has_one_element() -> None:
    x, y = np.asarray(5.0, np.float32), np.asarray(2.0, np.float32)
    run(
        """  %t = tile.load %a {shape = [], padding = 0} : tile<[], f32>
  tile.atomic %b, %t {combiner = multiply}""",
        x,
        y,
        programs=3,
    )
    assert y == 250.0


@pytest.mark.parametrize("order", [None, [3, 1, 4, 2, 0]])
def test_atomics_do_not_depend_on_the_order_of_programs(order: list[int] | None) -> None:
    y = np.zeros(6, np.int32)
    run(
        """  %i = tile.program_id {axis = 0} : scalar<i64>
  %f = tile.full %i {shape = [4]} : tile<[4], i64>
  %t = tile.cast %f {dtype = i32} : tile<[4], i32>
  tile.atomic %a, %t, %i {combiner = add}""",
        y,
        programs=5,
        order=order,
    )
    assert y.tolist() == [0, 1, 3, 6, 10, 9]


def test_booleans_are_set_and_padded() -> None:
    x, y = np.array([True, False]), np.zeros(3, np.bool_)
    run(
        """  %t = tile.load %a, %zero {shape = [3], padding = true} : tile<[3], bool>
  tile.store %b, %t, %zero""",
        x,
        y,
    )
    assert y.tolist() == [True, False, True]


def test_a_part_beyond_its_view_is_an_error_at_the_line() -> None:
    body = """  %3 = tile.constant {value = 3} : scalar<i64>
  %part = tile.view %a, [%3], %3 {axes = [0]} : view<1, f32>"""
    run(body, np.zeros(6, np.float32))
    with pytest.raises(ExecutionError, match=r":4: tile.view: 3 elements from 3 on .* has 5"):
        run(body, np.zeros(5, np.float32))


def test_an_axis_left_out_stays_at_its_offset() -> None:
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(4, np.float32)
    run(
        """  %1 = tile.constant {value = 1} : scalar<i64>
  %4 = tile.extent %a {axis = 1} : scalar<i64>
  %row = tile.view %a, [%1, %zero], %4 {axes = [1]} : view<1, f32>
  %t = tile.load %row, %zero {shape = [8], padding = 0} : tile<[8], f32>
  tile.store %b, %t, %zero""",
        x,
        y,
    )
    assert y.tolist() == [4, 5, 6, 7]
