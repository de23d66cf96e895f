"""Sorts on the tile floor: lines, parts of lines, and the first few of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import ORDERED, DType, i32, i64
from brimstone.ir.func import Func
from brimstone.ir.tensor.rules import Term
from brimstone.passes.oracle import difference
from kit.special import special
from kit.tiling import SYMBOLS, kernel, runs, tiled

K = SYMBOLS["k"]
SMALL = {"n": 8, "digit": 4, "long_digit": 5, "chunk": 6, "room": 9, "share": 2, "short": 0}
"""So that few elements make several parts, and candidates do not find room."""


def sort(counter: DType | None = None, **named: Any) -> Any:
    """A sort of its arguments, and of a counter along."""

    def build(*terms: Term) -> tuple[Term, ...]:
        builder, values = terms[0].builder, [term.value for term in terms]
        if counter is not None:
            shape, axis = values[0].type.shape, named["axis"]
            values.append(builder.emit(tensor.Iota, shape=shape, axis=axis, dtype=counter))
        made = builder.emit_all(tensor.Sort, values, **{"keys": 1, **named})
        return tuple([Term(builder, value) for value in made])

    return build


def drawn(func: Func, sizes: dict[str, int], seed: int) -> list[Any]:
    """Arguments with many equal elements, and all that is special of a dtype."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for argument in func.arguments:
        shape = [
            size if isinstance(size, int) else sizes[str(size)] for size in argument.type.shape
        ]
        picked = rng.choice(special(argument.dtype), 5)
        made.append(rng.choice(picked, shape).astype(argument.dtype.storage))
    return made


def check(func: Func, each: Sequence[dict[str, int]], **schedule: int) -> None:
    used = {symbol.name for symbol in func.symbols}
    made = tiled(func, SMALL | schedule)
    assert not made.refused
    for seed, sizes in enumerate(each):
        given = drawn(func, sizes, seed)
        known = {name: size for name, size in sizes.items() if name in used}
        before, after = runs(func, given, made.module, known)
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize("dtype", sorted(ORDERED, key=str), ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_every_dtype(dtype: DType, descending: bool) -> None:
    check(kernel(sort(i64, axis=0, descending=descending), f"5 {dtype}"), [{}])


@pytest.mark.parametrize(
    ("named", "shapes"),
    [
        ({"axis": 0}, ("5 n bf16",)),
        ({"axis": 1}, ("n 7 2 i8",)),
        ({"axis": 0}, ("m u8", "m i64", "m bool")),
        ({"axis": 1, "keys": 2, "descending": True}, ("n 7 i8", "n 7 u8", "n 7 f64")),
        ({"axis": 0, "keys": 2}, ("5 bool", "5 u8")),
        ({"axis": 1}, ("n 0 f32",)),
    ],
)
def test_other_axes_and_columns(named: Any, shapes: tuple[str, ...]) -> None:
    check(kernel(sort(**named), *shapes), [{"n": 2, "m": 7}, {"n": 0, "m": 0}, {"n": 1, "m": 1}])


@pytest.mark.parametrize(
    ("named", "shapes"),
    [
        ({"axis": 1}, ("n 5 f16",)),
        ({"axis": 0, "descending": True}, ("6 2 u32",)),
        ({"axis": 0, "keys": 2}, ("1 bool", "1 i8", "1 f32")),
    ],
)
def test_short_lines_are_tiles(named: Any, shapes: tuple[str, ...]) -> None:
    check(kernel(sort(i32, **named), *shapes), [{"n": 2}], short=8)


@pytest.mark.parametrize(
    ("named", "shapes"),
    [
        ({"axis": 1, "count": 3}, ("n 23 u16",)),
        ({"axis": 1, "count": 1, "descending": True}, ("n 13 f16", "n 13 f64")),
        ({"axis": 0, "count": 2}, ("9 2 i8",)),
        ({"axis": 0, "count": 3, "descending": True}, ("m bool",)),
        ({"axis": 0, "count": 0}, ("7 f32",)),
        ({"axis": 0, "count": K}, ("5 i8", "k i8")),
    ],
)
def test_the_first_few(named: Any, shapes: tuple[str, ...]) -> None:
    def build(*terms: Term) -> Any:
        return sort(i32, **named)(*[term for term in terms if term.value.type.shape != (K,)])

    check(kernel(build, *shapes), [{"n": 2, "m": 13, "k": 5}], chunk=12)


def test_what_is_not_sorted_says_why() -> None:
    pairs = kernel(sort(axis=0), "n f32", "n c64")
    assert tiled(pairs).refused == {"k": "complex numbers"}

    def other(x: Term) -> Any:
        shape = x.value.type.shape
        rows = x.builder.emit(tensor.Iota, shape=shape, axis=0, dtype=i64)
        made = x.builder.emit_all(tensor.Sort, [x.value, rows], axis=1, keys=1)
        return tuple([Term(x.builder, value) for value in made])

    assert tiled(kernel(other, "n m f32")).refused == {
        "k": "places along another axis are sorted along"
    }
