"""Tiles of which elements stand in turn: lanes are moved, a number is never taken out."""

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.values import walk
from kit.bound import MACHINES, Machine, bound, check, kernel

OPEN = """
func @dealt({views}%y: view<1, {dtype}, {{unit_stride: 0}}>) with {{grid: [3]}} {{
  %id = tile.program_id {{axis = 0}} : scalar<i64>
  %width = tile.constant {{value = {width}}} : scalar<i64>
  %whole = tile.constant {{value = {whole}}} : scalar<i64>
  %start = tile.binary %id, %width {{kind = multiply}} : scalar<i64>
  %place = tile.binary %id, %whole {{kind = multiply}} : scalar<i64>
"""
PART = """
  %a{part} = tile.load %x{part}, %start
    {{shape = [{width}], padding = 0}} : tile<[{width}], {dtype}>
  %b{part} = tile.reshape %a{part} {{shape = [{width}, 1]}} : tile<[{width}, 1], {dtype}>
"""
CLOSE = """
  %rows = tile.concat {columns} {{axis = 1}} : tile<[{width}, {count}], {dtype}>
  %all = tile.reshape %rows {{shape = [{whole}]}} : tile<[{whole}], {dtype}>
  tile.store %y, %all, %place
  return
}}
"""


def dealt(count: int, dtype: str, width: int) -> str:
    """A program that deals out tiles of so many arrays."""
    given = {"dtype": dtype, "width": width, "count": count, "whole": width * count}
    views = "".join(f"%x{part}: view<1, {dtype}, {{unit_stride: 0}}>, " for part in range(count))
    parts = "".join(PART.format(part=part, **given) for part in range(count))
    columns = ", ".join(f"%b{part}" for part in range(count))
    return OPEN.format(views=views, **given) + parts + CLOSE.format(columns=columns, **given)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize("size", [12, 9, 1, 0])
def test_dealt(machine: Machine, count: int, dtype: str, size: int) -> None:
    made = {"f32": np.float32, "i8": np.int8}[dtype]
    arrays = [np.arange(12 * part, 12 * part + size, dtype=made) for part in range(count)]
    given = [*arrays, np.full(size * count, -1, made)]
    found = check(kernel(dealt(count, dtype, 4)), given, machine)
    np.testing.assert_array_equal(found[-1], np.stack(arrays, axis=-1).reshape(-1))


@pytest.mark.parametrize("count", [2, 3, 4, 7, 8])
def test_lanes_are_shuffled(count: int) -> None:
    """Vectors of two at a time: one shuffle less for each that is stored than there are parts."""
    ops = list(walk(bound(kernel(dealt(count, "f32", 16))).body))
    assert not any(isinstance(op, loop.Extract | loop.Insert) for op in ops)
    (way,) = [op for op in ops if isinstance(op, loop.If)]
    shuffles = [op for op in walk(way.on_true) if isinstance(op, loop.Shuffle)]
    stores = [op for op in walk(way.on_true) if isinstance(op, loop.StoreVector)]
    assert len(stores) == count
    assert len(shuffles) == count * (count - 1)
