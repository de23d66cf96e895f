"""Kernels that read a part of an argument: its beginning, one line of it, all of it backwards."""

from collections.abc import Callable
from typing import Any

import pytest

from brimstone.ir.dtypes import f32
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from kit.tiling import SYMBOLS, arrays_for, kernel, runs, sizes_of, tiled

N, M = SYMBOLS["n"], SYMBOLS["m"]
ZERO = {"interior": (0, 0), "value": Number(0, f32)}


def beginning(x: Term) -> Term:
    return x.apply("slice", start=(0, 0), size=(N, 3), step=(1, 1))


def first_line(x: Term) -> Term:
    line = x.apply("slice", start=(0, 0, 0), size=(N, 1, M), step=(1, 1, 1))
    return line.apply("reshape", shape=(N, M))


def framed_backwards(x: Term) -> Term:
    framed = x.apply("pad", low=(1, 0), high=(2, 0), **ZERO)
    return framed.apply("flip", axes=(1,)) * 2


def framed_in_steps(x: Term) -> Term:
    framed = x.apply("pad", low=(0, 0), high=(2, 0), **ZERO)
    return framed.apply("slice", start=(0, 1), size=(N + 2, 4), step=(1, 2)) * 2


def beginning_alone(x: Term) -> Term:
    """What it has of the array, where the rest of that is zero: as many elements, in its places."""
    return beginning(x).apply("pad", low=(0, 0), high=(0, 6), **ZERO) * 2


def first_rows_alone(x: Term) -> Term:
    rows = x.apply("slice", start=(0, 0), size=(3, M), step=(1, 1))
    return rows.apply("pad", low=(0, 0), high=(6, 0), **ZERO) * 2


def summed(part: Callable[[Term], Term], axis: int) -> Callable[[Term], Term]:
    return lambda x: part(x).apply("reduce_sum", axes=(axis,))


CASES: dict[str, tuple[Callable[[Term], Any], str]] = {
    "beginning": (beginning, "n 9 f32"),
    "a row for each beginning": (summed(beginning, 1), "n 9 f32"),
    "beginnings of all rows": (summed(beginning, 0), "n 9 f32"),
    "first line": (first_line, "n 5 m f32"),
    "a row for each first line": (summed(first_line, 1), "n 5 m f32"),
    "framed backwards": (framed_backwards, "n m f32"),
    "framed in steps": (framed_in_steps, "n 9 f32"),
    "beginning, alone": (beginning_alone, "n 9 f32"),
    "first rows, alone": (first_rows_alone, "9 m f32"),
    "sums of what is framed": (summed(framed_backwards, 0), "n m f32"),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_are_the_same(name: str) -> None:
    build, argument = CASES[name]
    func = kernel(build, argument)
    made = tiled(func)
    assert not made.refused
    for sizes in sizes_of(func):
        given = arrays_for(func, sizes, whole=True)
        before, after = runs(func, given, made.module)
        assert difference(before, after) is None, sizes
