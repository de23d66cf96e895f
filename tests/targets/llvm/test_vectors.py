"""Vectors: constants, lanes, shuffles and reductions, of every dtype."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import BITS, INTEGERS, ORDERED, DType, Kind, boolean, f32, f64
from brimstone.ir.func import Func
from brimstone.ir.loop import ReduceKind
from kit.loops import loops
from kit.machine_code import agree, compiled
from kit.special import special

DTYPES = sorted(ORDERED, key=lambda dtype: dtype.name)
COMPUTED = [dtype for dtype in DTYPES if dtype.kind is not Kind.FLOAT or dtype in (f32, f64)]
LANES = [1, 2, 3, 7, 8, 11, 16]


def kernel(name: str, dtype: DType, lanes: int, body: str, made: str) -> Func:
    """Reads a vector %x, which `body` makes %made of, a vector or a scalar."""
    store = "store_vector" if made.startswith("vec") else "store"
    return loops(f"""
func @{name}(%from: buffer<{dtype}, global>, %to: buffer<{dtype}, global>) {{
  %zero = loop.constant {{value = 0}} : scalar<i32>
  %x = loop.load_vector %from, %zero {{lanes = {lanes}}} : vec<{lanes}, {dtype}>
  {body} : {made}
  loop.{store} %to, %zero, %made
  return
}}""")


def memory(dtype: DType, lanes: int) -> Any:
    return np.resize(special(dtype)[::-1], lanes).copy(), np.zeros(64, dtype.storage)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_constants_of_every_bit_pattern(dtype: DType) -> None:
    known = special(dtype)
    body = f"%made = loop.constant {{value = {listed(known)}}}"
    agree(kernel("constant", dtype, 1, body, f"vec<{len(known)}, {dtype}>"), memory(dtype, 1))
    same = f"%made = loop.constant {{value = {listed(known[-1:].repeat(4))}}}"
    agree(kernel("constant", dtype, 1, same, f"vec<4, {dtype}>"), memory(dtype, 1))


def listed(numbers: Any) -> str:
    """`[1.0, nan]` as the IR has it."""
    if numbers.dtype == np.bool_:
        return f"[{', '.join('true' if each else 'false' for each in numbers)}]"
    return f"[{', '.join(str(each) for each in numbers.tolist())}]"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lanes_move(dtype: DType) -> None:
    bodies = {
        "shuffle": ("%made = loop.shuffle %x {lanes = [3, 0, 0, 2, 5]}", "vec<5, {}>"),
        "extract": ("%made = loop.extract %x {lane = 4}", "scalar<{}>"),
        "insert": (
            f"%y = loop.extract %x {{lane = 5}} : scalar<{dtype}>\n"
            "  %made = loop.insert %x, %y {lane = 1}",
            "vec<6, {}>",
        ),
        "splat": (
            f"%y = loop.extract %x {{lane = 2}} : scalar<{dtype}>\n"
            "  %made = loop.splat %y {lanes = 7}",
            "vec<7, {}>",
        ),
        "concat": (
            f"%y = loop.shuffle %x {{lanes = [5, 1]}} : vec<2, {dtype}>\n"
            f"  %z = loop.shuffle %x {{lanes = [4]}} : vec<1, {dtype}>\n"
            "  %made = loop.concat %y, %x, %z, %x, %y",
            "vec<17, {}>",
        ),
    }
    funcs = [
        kernel(name, dtype, 6, body, made.format(dtype)) for name, (body, made) in bodies.items()
    ]
    code = compiled(funcs)
    for func in funcs:
        agree(func, memory(dtype, 6), code=code[func.name])


@pytest.mark.parametrize("dtype", sorted(INTEGERS | {f32, f64}, key=str), ids=str)
def test_counting(dtype: DType) -> None:
    body = f"%made = loop.iota {{lanes = 5, dtype = {dtype}}}"
    agree(kernel("iota", dtype, 1, body, f"vec<5, {dtype}>"), memory(dtype, 1))


def kinds_of(dtype: DType) -> list[ReduceKind]:
    """The reductions that a dtype has."""
    bits = {ReduceKind.BIT_AND, ReduceKind.BIT_OR, ReduceKind.BIT_XOR}
    sums = {ReduceKind.ADD, ReduceKind.MULTIPLY}
    return [
        kind
        for kind in ReduceKind
        if (kind not in bits or dtype in BITS) and (kind not in sums or dtype is not boolean)
    ]


@pytest.mark.parametrize("dtype", COMPUTED, ids=str)
def test_reductions_in_the_order_of_the_tree(dtype: DType) -> None:
    cases = [(kind, lanes) for kind in kinds_of(dtype) for lanes in LANES]
    funcs = [
        kernel(
            f"{kind.value}_{lanes}", dtype, lanes,
            f"%made = loop.reduce %x {{kind = {kind.value}}}", f"scalar<{dtype}>",
        )
        for kind, lanes in cases
    ]  # fmt: skip
    code = compiled(funcs)
    source = np.random.default_rng(3)
    for func, (_, lanes) in zip(funcs, cases, strict=True):
        agree(func, memory(dtype, lanes), code=code[func.name])
        if dtype.kind is Kind.FLOAT:  # another order would round otherwise
            numbers = source.standard_normal(lanes).astype(dtype.storage)
            agree(func, [numbers, memory(dtype, 1)[1]], code=code[func.name])
