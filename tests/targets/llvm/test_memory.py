"""Memory: every way to read and write, of every dtype, and that nothing else is touched."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import INTEGERS, ORDERED, DType, f32, f64
from brimstone.ir.func import Func
from brimstone.ir.loop import AtomicKind
from kit.loops import loops
from kit.machine_code import agree, call, compiled
from kit.special import special

DTYPES = sorted(ORDERED, key=lambda dtype: dtype.name)
COUNT = 40


def kernel(name: str, dtype: DType, body: str) -> Func:
    """A program with a mask, indices and two buffers."""
    return loops(f"""
func @{name}(%from: buffer<{dtype}, global>, %to: buffer<{dtype}, global>,
             %masks: buffer<bool, global>, %places: buffer<i32, global>, %at: scalar<i64>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %mask = loop.load_vector %masks, %zero {{lanes = 8}} : vec<8, bool>
  %where = loop.load_vector %places, %zero {{lanes = 8}} : vec<8, i32>
  %x = loop.load_vector %from, %zero {{lanes = 8}} : vec<8, {dtype}>
  {body}
  return
}}""")


def arguments(dtype: DType) -> list[Any]:
    """Equal indices are among those that count, and nonsense among those that do not."""
    numbers = np.resize(special(dtype), COUNT).copy()
    mask = np.array([1, 1, 0, 1, 1, 0, 1, 1], np.bool_)
    places = np.array([7, 3, 10**9, 3, 0, -(10**9), 3, 12], np.int32)
    return [numbers, numbers[::-1].copy(), mask, places, 5]


def bodies(dtype: DType) -> dict[str, str]:
    vector = f"vec<8, {dtype}>"
    return {
        "scalars": f"%y = loop.load %from, %at : scalar<{dtype}>\n  loop.store %to, %zero, %y",
        "vectors": f"%y = loop.load_vector %from, %at {{lanes = 8}} : {vector}\n"
        "  loop.store_vector %to, %zero, %y",
        "masked_load": f"%y = loop.load_masked %from, %at, %mask, %x : {vector}\n"
        "  loop.store_vector %to, %zero, %y",
        "masked_store": "loop.store_masked %to, %at, %x, %mask",
        "gather": f"%y = loop.gather %from, %where, %mask, %x : {vector}\n"
        "  loop.store_vector %to, %zero, %y",
        "scatter": "loop.scatter %to, %where, %x, %mask",
        "prefetch": "loop.prefetch %from, %at {locality = 1}\n  loop.store_vector %to, %at, %x",
        "local": f"%own = loop.allocate {{count = 9, dtype = {dtype}, space = local}}"
        f" : buffer<{dtype}, local>\n"
        "  %one = loop.constant {value = 1} : scalar<i64>\n"
        "  loop.store_vector %own, %one, %x\n"
        f"  %y = loop.load %own, %at : scalar<{dtype}>\n  loop.store %to, %zero, %y",
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_way_to_touch_memory(dtype: DType) -> None:
    funcs = [kernel(name, dtype, body) for name, body in bodies(dtype).items()]
    code = compiled(funcs)
    for func in funcs:
        agree(func, arguments(dtype), code=code[func.name])


NARROWING = [("u32", "u16"), ("u32", "u8"), ("i64", "i32"), ("i64", "u8"), ("f64", "f32")]


@pytest.mark.parametrize(("wide", "narrow"), NARROWING)
@pytest.mark.parametrize("lane", [0, 5])
def test_numbers_are_made_narrower_under_a_known_mask(wide: str, narrow: str, lane: int) -> None:
    """Of one lane; what lies behind it in memory stays."""
    mask = str([place == lane for place in range(8)]).lower()
    func = loops(f"""
func @narrow(%from: buffer<{wide}, global>, %to: buffer<{narrow}, global>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %mask = loop.constant {{value = {mask}}} : vec<8, bool>
  %x = loop.load_vector %from, %zero {{lanes = 8}} : vec<8, {wide}>
  %y = loop.cast %x {{dtype = {narrow}}} : vec<8, {narrow}>
  loop.store_masked %to, %zero, %y, %mask
  return
}}""")
    numbers = np.arange(60, 68).astype(func.arguments[0].type.dtype.storage)
    agree(func, [numbers, np.arange(8).astype(func.arguments[1].type.dtype.storage)])


def test_of_equal_indices_the_last_lane_wins() -> None:
    func = kernel("scatter", f32, "loop.scatter %to, %where, %x, %mask")
    given = arguments(f32)
    given[0][:8] = np.arange(8)
    call(compiled([func])["scatter"], func, given)
    assert given[1][3] == 6


def kinds_of(dtype: DType) -> list[AtomicKind]:
    bits = {AtomicKind.BIT_AND, AtomicKind.BIT_OR, AtomicKind.BIT_XOR}
    return [kind for kind in AtomicKind if kind not in bits or dtype in INTEGERS]


@pytest.mark.parametrize("dtype", sorted(INTEGERS | {f32, f64}, key=str), ids=str)
def test_atomics(dtype: DType) -> None:
    funcs = [
        kernel(
            kind.value,
            dtype,
            f"%y = loop.load %from, %at : scalar<{dtype}>\n"
            f"  %old = loop.atomic %to, %at, %y {{kind = {kind.value}}} : scalar<{dtype}>\n"
            f"  %again = loop.atomic %to, %at, %old {{kind = {kind.value}}} : scalar<{dtype}>\n"
            "  loop.store %to, %zero, %again",
        )
        for kind in kinds_of(dtype)
    ]
    code = compiled(funcs)
    for func in funcs:
        for at in range(1, len(special(dtype))):
            agree(func, [*arguments(dtype)[:4], at], code=code[func.name])


def test_bytes_that_are_no_bools_are_true() -> None:
    func = kernel(
        "copy", DTYPES[DTYPES.index(next(d for d in DTYPES if d.name == "bool"))],
        "loop.store_vector %to, %zero, %x",
    )  # fmt: skip
    source, target = np.array([0, 1, 2, 255] * 2, np.uint8), np.zeros(8, np.bool_)
    mask, places = np.zeros(8, np.bool_), np.zeros(8, np.int32)
    call(compiled([func])["copy"], func, [source.view(np.bool_), target, mask, places, 0])
    assert target.view(np.uint8).tolist() == [0, 1, 1, 1] * 2
