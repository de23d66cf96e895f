"""Every op of the loop floor prints, parses, verifies and means what it says. An op that is
declared without a sample here fails."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from brimstone.ir.declare import REGISTRY
from kit.loops import Operand, compute, same_bits

OPS = sorted(name for name in REGISTRY if name.startswith("loop."))

F32, I64, BOOL = "scalar<f32>", "scalar<i64>", "scalar<bool>"
VECTOR, MASK, INDICES = "vec<3, f32>", "vec<3, bool>", "vec<3, i64>"
BUFFER = "buffer<f32, global>"
LEFT, RIGHT = "fragment<2, 3, f32, left>", "fragment<3, 1, f32, right>"
TOTAL = "fragment<2, 1, f32, accumulator>"


@dataclass
class Sample:
    """One op on operands, the result it has, and what `%buffer` holds afterwards."""

    text: str
    result: str = ""
    operands: dict[str, Operand] = field(default_factory=dict[str, Operand])
    expected: Any = None
    after: Any = None


def floats(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def integers(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def memory() -> Operand:
    return (BUFFER, floats(1, 2, 3, 4, 5))


NAN = float("nan")
SOME = np.array([True, False, True])
INSIDE = integers(4, 999, 0)
X, Y = (VECTOR, floats(1.5, -0.0, NAN)), (VECTOR, floats(2, 3, 4))
MATRIX = floats(1, 2, 3, 4, 5, 6).reshape(2, 3)

SAMPLES = {
    "loop.allocate": Sample(
        "loop.allocate {count = 2, dtype = f32, space = local}",
        "buffer<f32, local>",
        expected=floats(NAN, NAN),
    ),
    "loop.atomic": Sample(
        "loop.atomic %buffer, %index, %value {kind = add}",
        F32,
        {"buffer": memory(), "index": (I64, 1), "value": (F32, 10)},
        np.float32(2),
        floats(1, 12, 3, 4, 5),
    ),
    "loop.barrier": Sample("loop.barrier {space = shared}"),
    "loop.binary": Sample(
        "loop.binary %x, %y {kind = subtract}", VECTOR, {"x": X, "y": Y}, floats(-0.5, -3, NAN)
    ),
    "loop.bitcast": Sample(
        "loop.bitcast %x {dtype = i32}",
        "vec<3, i32>",
        {"x": (VECTOR, floats(1, -0.0, 0))},
        np.array([0x3F800000, -(2**31), 0], np.int32),
    ),
    "loop.cast": Sample("loop.cast %x {dtype = i64}", INDICES, {"x": X}, integers(1, 0, 0)),
    "loop.compare": Sample(
        "loop.compare %x, %y {kind = less}", MASK, {"x": X, "y": Y}, np.array([True, True, False])
    ),
    "loop.concat": Sample(
        "loop.concat %x, %y, %x",
        "vec<9, f32>",
        {"x": X, "y": Y},
        floats(1.5, -0.0, NAN, 2, 3, 4, 1.5, -0.0, NAN),
    ),
    "loop.constant": Sample("loop.constant {value = -0.0}", F32, expected=np.float32(-0.0)),
    "loop.extract": Sample("loop.extract %x {lane = 1}", F32, {"x": X}, np.float32(-0.0)),
    "loop.fma": Sample("loop.fma %x, %y, %y", VECTOR, {"x": X, "y": Y}, floats(5, 3, NAN)),
    "loop.for": Sample(
        "loop.for %low, %high, %by, %x (%i: scalar<i64>, %c: scalar<i64>) {\n"
        "    %n = loop.binary %c, %i {kind = add} : scalar<i64>\n    yield %n\n  }",
        I64,
        {"low": (I64, 2), "high": (I64, 9), "by": (I64, 3), "x": (I64, 100)},
        np.int64(100 + 2 + 5 + 8),
    ),
    "loop.fragment_fill": Sample(
        "loop.fragment_fill %x {rows = 2, columns = 1, use = accumulator}",
        TOTAL,
        {"x": (F32, -0.0)},
        floats(-0.0, -0.0).reshape(2, 1),
    ),
    "loop.fragment_load": Sample(
        "loop.fragment_load %buffer, %index, %stride {rows = 2, columns = 3, use = left}",
        LEFT,
        {"buffer": memory(), "index": (I64, 0), "stride": (I64, 2)},
        floats(1, 2, 3, 3, 4, 5).reshape(2, 3),
    ),
    "loop.fragment_multiply_accumulate": Sample(
        "loop.fragment_multiply_accumulate %a, %b, %c",
        TOTAL,
        {"a": (LEFT, MATRIX), "b": (RIGHT, MATRIX[:1].T), "c": (TOTAL, floats(1, 2).reshape(2, 1))},
        floats(1 + 14, 2 + 32).reshape(2, 1),
    ),
    "loop.fragment_store": Sample(
        "loop.fragment_store %buffer, %index, %stride, %x",
        "",
        {
            "buffer": memory(),
            "index": (I64, 1),
            "stride": (I64, 3),
            "x": (TOTAL, floats(7, 8).reshape(2, 1)),
        },
        after=floats(1, 7, 3, 4, 8),
    ),
    "loop.gather": Sample(
        "loop.gather %buffer, %at, %mask, %y",
        VECTOR,
        {"buffer": memory(), "at": (INDICES, INSIDE), "mask": (MASK, SOME), "y": Y},
        floats(5, 3, 1),
    ),
    "loop.if": Sample(
        "loop.if %p, %x (%a: scalar<f32>) {\n    yield %a\n  } (%b: scalar<f32>) {\n"
        "    %n = loop.binary %b, %y {kind = add} : scalar<f32>\n    yield %n\n  }",
        F32,
        {"p": (BOOL, False), "x": (F32, 1), "y": (F32, 2)},
        np.float32(3),
    ),
    "loop.insert": Sample(
        "loop.insert %x, %v {lane = 2}", VECTOR, {"x": X, "v": (F32, 9)}, floats(1.5, -0.0, 9)
    ),
    "loop.iota": Sample(
        "loop.iota {lanes = 5, dtype = i64}", "vec<5, i64>", expected=integers(0, 1, 2, 3, 4)
    ),
    "loop.lane_count": Sample("loop.lane_count {scope = group}", I64, expected=np.int64(1)),
    "loop.lane_id": Sample("loop.lane_id {scope = subgroup}", I64, expected=np.int64(0)),
    "loop.length": Sample("loop.length %buffer", I64, {"buffer": memory()}, np.int64(5)),
    "loop.load": Sample(
        "loop.load %buffer, %index", F32, {"buffer": memory(), "index": (I64, 4)}, np.float32(5)
    ),
    "loop.load_masked": Sample(
        "loop.load_masked %buffer, %index, %mask, %y",
        VECTOR,
        {"buffer": memory(), "index": (I64, 2), "mask": (MASK, SOME), "y": Y},
        floats(3, 3, 5),
    ),
    "loop.load_vector": Sample(
        "loop.load_vector %buffer, %index {lanes = 3}",
        VECTOR,
        {"buffer": memory(), "index": ("scalar<i32>", 2)},
        floats(3, 4, 5),
    ),
    "loop.prefetch": Sample(
        "loop.prefetch %buffer, %index {locality = 1}",
        "",
        {"buffer": memory(), "index": (I64, 9)},
        after=floats(1, 2, 3, 4, 5),
    ),
    "loop.program_count": Sample("loop.program_count {axis = 0}", I64, expected=np.int64(1)),
    "loop.program_id": Sample("loop.program_id {axis = 0}", I64, expected=np.int64(0)),
    "loop.reduce": Sample("loop.reduce %y {kind = multiply}", F32, {"y": Y}, np.float32(24)),
    "loop.scatter": Sample(
        "loop.scatter %buffer, %at, %y, %mask",
        "",
        {"buffer": memory(), "at": (INDICES, INSIDE), "y": Y, "mask": (MASK, SOME)},
        after=floats(4, 2, 3, 4, 2),
    ),
    "loop.select": Sample(
        "loop.select %mask, %x, %y",
        VECTOR,
        {"mask": (MASK, SOME), "x": X, "y": Y},
        floats(1.5, 3, NAN),
    ),
    "loop.shuffle": Sample(
        "loop.shuffle %x {lanes = [1, 1, 0, 2]}",
        "vec<4, f32>",
        {"x": X},
        floats(-0.0, -0.0, 1.5, NAN),
    ),
    "loop.splat": Sample(
        "loop.splat %x {lanes = 3}", VECTOR, {"x": (F32, -0.0)}, floats(-0.0, -0.0, -0.0)
    ),
    "loop.store": Sample(
        "loop.store %buffer, %index, %x",
        "",
        {"buffer": memory(), "index": (I64, 0), "x": (F32, -0.0)},
        after=floats(-0.0, 2, 3, 4, 5),
    ),
    "loop.store_masked": Sample(
        "loop.store_masked %buffer, %index, %y, %mask",
        "",
        {"buffer": memory(), "index": (I64, 2), "y": Y, "mask": (MASK, SOME)},
        after=floats(1, 2, 2, 4, 4),
    ),
    "loop.store_past_caches": Sample(
        "loop.store_past_caches %buffer, %zero, %y",
        "",
        {"buffer": memory(), "zero": (I64, 0), "y": Y},
        after=floats(2, 3, 4, 4, 5),
    ),
    "loop.store_vector": Sample(
        "loop.store_vector %buffer, %index, %y",
        "",
        {"buffer": memory(), "index": (I64, 2), "y": Y},
        after=floats(1, 2, 2, 3, 4),
    ),
    "loop.subgroup_broadcast": Sample(
        "loop.subgroup_broadcast %x {lane = 0}", VECTOR, {"x": X}, X[1]
    ),
    "loop.subgroup_reduce": Sample("loop.subgroup_reduce %x {kind = add}", VECTOR, {"x": X}, X[1]),
    "loop.subgroup_shuffle": Sample(
        "loop.subgroup_shuffle %x, %from", VECTOR, {"x": X, "from": (I64, 0)}, X[1]
    ),
    "loop.unary": Sample("loop.unary %x {kind = negate}", VECTOR, {"x": X}, floats(-1.5, 0, NAN)),
    "loop.while": Sample(
        "loop.while %x (%a: scalar<i64>) {\n"
        "    %p = loop.compare %a, %y {kind = less} : scalar<bool>\n    yield %p\n"
        "  } (%b: scalar<i64>) {\n"
        "    %n = loop.binary %b, %b {kind = add} : scalar<i64>\n    yield %n\n  }",
        I64,
        {"x": (I64, 3), "y": (I64, 40)},
        np.int64(48),
    ),
}


@pytest.mark.parametrize("name", OPS)
def test_an_op_means_what_it_says(name: str) -> None:
    sample = SAMPLES[name]
    operands = {n: (type_, np.array(given)) for n, (type_, given) in sample.operands.items()}
    found = compute(sample.text, sample.result, **operands)
    if sample.result:
        assert same_bits(found, sample.expected), found
    if sample.after is not None:
        assert same_bits(operands["buffer"][1], sample.after), operands["buffer"]


def test_every_sample_is_of_an_op() -> None:
    assert set(SAMPLES) == set(OPS)
