"""Maps as kernels of tiles: equal bit for bit to the kernels of tensors, at all sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import bf16, f32, i8, i32
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from brimstone.passes.tiling.read import read_kernel
from brimstone.passes.tiling.schedule import tiles_of
from kit.tiling import SYMBOLS, arrays_for, kernel, runs, sizes_of, spread, tiled

N, M, K = (SYMBOLS[name] for name in "nmk")


def gelu(x: Term) -> Term:
    return x * 0.5 * (1 + (x * 0.70710678).apply("erf"))


def swiglu(x: Term, gate: Term) -> Term:
    return x * (gate / (1 + (-gate).apply("exp")))


def adam(p: Term, g: Term, mean: Term, square: Term, rate: Term) -> tuple[Term, ...]:
    mean = mean * 0.9 + g * 0.1
    square = square * 0.999 + g * g * 0.001
    change = mean / (square.apply("square_root") + 1e-8)
    return p - change * spread(rate, p), mean, square


def mixed(x: Term, y: Term) -> tuple[Term, ...]:
    wide = x.cast(f32) + y.cast(f32)
    return wide.cast(bf16), wide.apply("less", y.cast(f32)), wide.cast(i8)


def row_and_column(x: Term, row: Term, column: Term) -> Term:
    return x + spread(row, x, 1) * spread(column, x, 0)


def outer(x: Term) -> Term:
    def at(axis: int) -> Term:
        wide = x.builder.emit(tensor.Broadcast, x.value, shape=(N, N), axes=(axis,))
        return Term(x.builder, wide)

    return at(0) - at(1)


def turned(x: Term, y: Term) -> Term:
    return x.apply("permute", axes=(1, 0)) + y


def turned_inside(x: Term, y: Term) -> Term:
    return (x * x).apply("permute", axes=(1, 0)) + y


def turned_batch(x: Term, y: Term) -> Term:
    return x.apply("permute", axes=(2, 0, 1)) - y


def copy_turned(x: Term) -> Term:
    return x.apply("permute", axes=(1, 0))


def dealt_out(x: Term) -> Term:
    return x.apply("permute", axes=(0, 2, 1))


def flipped(x: Term, y: Term) -> Term:
    return x.apply("flip", axes=(0, 1)) + y.apply("flip", axes=(1,))


def sliced(x: Term) -> Term:
    return x.apply("slice", start=(2, 0), size=(4, M), step=(3, 1)) * 2


def padded(x: Term) -> Term:
    return x.apply("pad", low=(1, 2), high=(0, 9), interior=(0, 0), value=Number(3, f32)) * 2


def padded_part(x: Term) -> Term:
    part = x.apply("slice", start=(1, 0), size=(4, M), step=(1, 1))
    wide = part.apply("pad", low=(1, 1), high=(2, 0), interior=(0, 0), value=Number(-1, f32))
    return wide.apply("slice", start=(1, 0), size=(6, M), step=(1, 1)) + wide.apply(
        "slice", start=(0, 1), size=(6, M), step=(1, 1)
    )


def turned_around_padding(x: Term) -> Term:
    turned = x.apply("flip", axes=(1,))
    low = turned.apply("pad", low=(1, 0), high=(0, 0), interior=(0, 0), value=Number(2, f32))
    part = low.apply("slice", start=(0, 0), size=(N, M), step=(1, 1))
    return part.apply("flip", axes=(1,)) * 2


def end_to_end(x: Term, y: Term) -> Term:
    none = {"interior": (0,), "value": Number(0, f32)}
    return x.apply("pad", low=(0,), high=(N,), **none) + y.apply("pad", low=(M,), high=(0,), **none)


def counted(x: Term) -> Term:
    rows, columns = [
        Term(x.builder, x.builder.emit(tensor.Iota, shape=(N, M), axis=axis, dtype=i32))
        for axis in (0, 1)
    ]
    return x.where(columns.apply("less_equal", rows), -np.inf)


def counted_backwards(x: Term) -> Term:
    count = x.builder.emit(tensor.Iota, shape=(9,), axis=0, dtype=f32)
    part = {"start": (1,), "size": (4,), "step": (2,)}
    return x + Term(x.builder, count).apply("slice", **part).apply("flip", axes=(0,))


def numbers_only(x: Term, y: Term) -> tuple[Term, Term]:
    return x * y + 1, x.apply("is_finite")


def size_as_number(x: Term) -> Term:
    count = Term(x.builder, x.builder.emit(tensor.Dim, x.value, axis=1))
    return x / spread(count.cast(f32), x)


def reshaped(x: Term) -> Term:
    return x.apply("reshape", shape=(N, M * 4)).apply("permute", axes=(1, 0)) * 2


def logic(x: Term, y: Term) -> tuple[Term, ...]:
    return x.apply("bit_and", y), x.apply("equal", y), x.apply("bit_not").cast(i32)


def same(x: Term) -> tuple[Term, Term]:
    return x, x


CASES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "gelu": (gelu, ("n m f32",)),
    "gelu of one axis": (gelu, ("n f64",)),
    "gelu in bf16": (gelu, ("n 1 m bf16",)),
    "swiglu": (swiglu, ("n k m f32", "n k m f32")),
    "adam": (adam, ("n m f32",) * 4 + ("f32",)),
    "mixed": (mixed, ("n m bf16", "n m f16")),
    "row and column": (row_and_column, ("n m f32", "m f32", "n f32")),
    "row and column of integers": (row_and_column, ("n m i8", "m i8", "n i8")),
    "a row for blocks": (lambda x, row: x + spread(row, x, 1, 2), ("n k m f32", "k m f32")),
    "a column for blocks": (lambda x, one: x + spread(one, x, 0, 1), ("n k m f32", "n k f32")),
    "middle axis": (lambda x, one: x + spread(one, x, 1), ("n k m f32", "k f32")),
    "size 1": (lambda x, one: x + spread(one, x, 0, 1), ("n m f32", "n 1 f32")),
    "five axes": (
        lambda x, a, b: x + spread(a, x, 1, 3) * spread(b, x, 0, 2, 4),
        ("2 n 3 k 5 f32", "n k f32", "2 3 5 f32"),
    ),
    "outer": (outer, ("n f32",)),
    "turned": (turned, ("m n f32", "n m f32")),
    "turned inside": (turned_inside, ("m n f32", "n m f32")),
    "turned batch": (turned_batch, ("m k n f32", "n m k f32")),
    "copy turned": (copy_turned, ("m n bf16",)),
    "dealt out": (dealt_out, ("n 3 m f32",)),
    "dealt out in pairs": (dealt_out, ("n 2 m f32",)),
    "taken apart": (dealt_out, ("n m 5 f32",)),
    "taken apart in pairs": (dealt_out, ("n m 2 f32",)),
    "both few": (dealt_out, ("n 2 3 f32",)),
    "turned broadcast": (lambda x, y: spread(x, y, 1, 0) + y, ("m n f32", "n m f32")),
    "flipped": (flipped, ("n m f32", "n m f32")),
    "sliced": (sliced, ("12 m f32",)),
    "padded": (padded, ("n m f32",)),
    "padded part": (padded_part, ("9 m f32",)),
    "turned around padding": (turned_around_padding, ("n m f32",)),
    "end to end": (end_to_end, ("m f32", "n f32")),
    "counted": (counted, ("n m f32",)),
    "counted backwards": (counted_backwards, ("4 f32",)),
    "numbers only": (numbers_only, ("f32", "f32")),
    "size as number": (size_as_number, ("n m f32",)),
    "reshaped": (reshaped, ("n m 4 f32",)),
    "logic": (logic, ("n m bool", "n m bool")),
    "same": (same, ("n m f32",)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_map_is_the_same(name: str) -> None:
    build, arguments = CASES[name]
    func = kernel(build, *arguments)
    made = tiled(func)
    assert not made.refused
    for sizes in sizes_of(func):
        given = arrays_for(func, sizes, whole=False)
        before, after = runs(func, given, made.module)
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("n k m f32", (1, 4, 4)), ("n 2 m f32", (1, 8, 2)), ("n m 2 f32", (1, 2, 8)),
        ("n 3 m f32", (1, 4, 4)), ("n 1 m f32", (1, 4)), ("n 2 2 f32", (1, 2, 2)),
    ],
)  # fmt: skip
def test_a_tile_is_no_longer_than_a_short_axis(given: str, expected: tuple[int, ...]) -> None:
    """What it is less along that axis, it is more along the other one."""
    read = read_kernel(kernel(dealt_out, given))
    assert tiles_of(read, {"n": 4, "m": 4}) == expected


@pytest.mark.parametrize(
    ("given", "exact", "expected"),
    [
        ("n 3 m f32", ["exact_n"], (1, 2, 3)), ("n 3 m f32", ["exact_m"], (1, 4, 4)),
        ("n m 3 f32", ["exact_n"], (1, 4, 4)), ("n m 3 f32", ["exact_m"], (1, 3, 2)),
        ("n 2 m f32", ["exact_n", "exact_m"], (1, 4, 2)), ("n 2 m f32", ["exact_m"], (1, 4, 2)),
    ],
)  # fmt: skip
def test_a_tile_is_as_long_as_a_short_axis(
    given: str, exact: list[str], expected: tuple[int, ...]
) -> None:
    read = read_kernel(kernel(dealt_out, given))
    assert tiles_of(read, {"n": 4, "m": 4, **dict.fromkeys(exact, 6)}) == expected
