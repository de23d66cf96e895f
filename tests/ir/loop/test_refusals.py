"""Every op of the loop floor refuses what is wrong, and says so. An op that is declared without a
sample here fails."""

import pytest

from brimstone.ir.declare import REGISTRY
from kit.loops import refusal

OPS = sorted(name for name in REGISTRY if name.startswith("loop."))

F32, I64, BOOL = "scalar<f32>", "scalar<i64>", "scalar<bool>"
VECTOR, MASK, INDICES = "vec<3, f32>", "vec<3, bool>", "vec<3, i64>"
BUFFER = "buffer<f32, global>"
LEFT, RIGHT = "fragment<2, 3, f32, left>", "fragment<3, 1, f32, right>"
TOTAL = "fragment<2, 1, f32, accumulator>"


# What is said of an op on operands of wrong types.
REFUSALS: dict[str, tuple[str, str, dict[str, str], str]] = {
    "loop.allocate": (
        "loop.allocate {count = 2, dtype = f32, space = global}", BUFFER, {},
        "global memory is allocated by the step",
    ),
    "loop.atomic": (
        "loop.atomic %b, %i, %v {kind = bit_or}", F32, {"b": BUFFER, "i": I64, "v": F32},
        "there is no bit_or of this dtype: scalar<f32>",
    ),
    "loop.barrier": (
        "loop.barrier {space = local}", "", {}, "no other lane can see local memory",
    ),
    "loop.binary": (
        "loop.binary %x, %y {kind = add}", VECTOR, {"x": VECTOR, "y": F32},
        "right has type scalar<f32>, expected vec<3, f32> (from left)",
    ),
    "loop.bitcast": (
        "loop.bitcast %x {dtype = i64}", INDICES, {"x": VECTOR},
        "32 bits are read as i64, which has 64",
    ),
    "loop.cast": (
        "loop.cast %x {dtype = c64}", "vec<3, c64>", {"x": VECTOR},
        "complex numbers live on the tensor floor: c64",
    ),
    "loop.compare": (
        "loop.compare %x, %x {kind = less}", BOOL, {"x": VECTOR},
        "the result has type scalar<bool>, expected vec<3, bool>",
    ),
    "loop.concat": (
        "loop.concat %x, %y", "vec<6, f32>", {"x": VECTOR, "y": INDICES},
        "dtypes differ: vec<3, f32>, vec<3, i64>",
    ),
    "loop.constant": (
        "loop.constant {value = [[1.0], [2.0]]}", "vec<2, f32>", {},
        "a constant is a number or one row of numbers: [2, 1]",
    ),
    "loop.extract": (
        "loop.extract %x {lane = 3}", F32, {"x": VECTOR}, "there is no lane 3: vec<3, f32>",
    ),
    "loop.fma": (
        "loop.fma %x, %x, %x", I64, {"x": I64}, "left has type scalar<i64>, expected a dtype among",
    ),
    "loop.for": (
        "loop.for %i, %i, %i, %x (%a: scalar<i64>) {\n    yield %a\n  }", F32,
        {"i": I64, "x": F32},
        "the region body takes (scalar<i64>), expected (scalar<i64>, scalar<f32>)",
    ),
    "loop.fragment_fill": (
        "loop.fragment_fill %x {rows = 0, columns = 1, use = left}", LEFT, {"x": F32},
        "a fragment has at least one row and column",
    ),
    "loop.fragment_load": (
        "loop.fragment_load %b, %i, %x {rows = 2, columns = 3, use = left}", LEFT,
        {"b": BUFFER, "i": I64, "x": F32},
        "stride has type scalar<f32>, expected a dtype among i32, i64",
    ),
    "loop.fragment_multiply_accumulate": (
        "loop.fragment_multiply_accumulate %b, %a, %c", TOTAL, {"a": LEFT, "b": RIGHT, "c": TOTAL},
        "wrong uses",
    ),
    "loop.fragment_store": (
        "loop.fragment_store %b, %i, %i, %x", "", {"b": "buffer<f16, global>", "i": I64, "x": LEFT},
        "the value is of another dtype",
    ),
    "loop.gather": (
        "loop.gather %b, %i, %m, %x", VECTOR,
        {"b": BUFFER, "i": "vec<4, i64>", "m": MASK, "x": VECTOR},
        "indices has 4 lanes, expected 3",
    ),
    "loop.if": (
        "loop.if %p (%a: scalar<f32>) {\n    yield %a\n  } () {\n    yield %x\n  }", F32,
        {"p": BOOL, "x": F32},
        "the region on_true takes (scalar<f32>), expected ()",
    ),
    "loop.insert": (
        "loop.insert %x, %v {lane = 0}", VECTOR, {"x": VECTOR, "v": I64}, "dtypes differ",
    ),
    "loop.iota": (
        "loop.iota {lanes = 3, dtype = bool}", MASK, {}, "cannot count in this dtype: bool",
    ),
    "loop.lane_count": (
        "loop.lane_count {scope = warp}", I64, {}, "expected one of subgroup, group, found 'warp'",
    ),
    "loop.lane_id": ("loop.lane_id", F32, {}, "has type scalar<f32>, expected scalar<i64>"),
    "loop.length": ("loop.length %x", I64, {"x": F32}, "scalar<f32>, expected a buffer"),
    "loop.load": (
        "loop.load %b, %i", F32, {"b": BUFFER, "i": "scalar<u64>"},
        "index has type scalar<u64>, expected a dtype among i32, i64",
    ),
    "loop.load_masked": (
        "loop.load_masked %b, %i, %m, %x", VECTOR,
        {"b": BUFFER, "i": I64, "m": "vec<2, bool>", "x": VECTOR},
        "mask has 2 lanes, expected 3",
    ),
    "loop.load_vector": (
        "loop.load_vector %b, %i {lanes = 3}", INDICES, {"b": BUFFER, "i": I64},
        "the result has type vec<3, i64>, expected vec<3, f32>",
    ),
    "loop.prefetch": (
        "loop.prefetch %b, %i {locality = 4}", "", {"b": BUFFER, "i": I64},
        "locality is 0, 1, 2 or 3: 4",
    ),
    "loop.program_count": ("loop.program_count {axis = 3}", I64, {}, "at most 3 axes: 3"),
    "loop.program_id": ("loop.program_id {axis = -1}", I64, {}, "at most 3 axes: -1"),
    "loop.reduce": (
        "loop.reduce %x {kind = add}", BOOL, {"x": MASK}, "there is no add of this dtype",
    ),
    "loop.scatter": (
        "loop.scatter %b, %i, %x, %i", "", {"b": BUFFER, "i": INDICES, "x": VECTOR},
        "mask has type vec<3, i64>, expected a dtype among bool",
    ),
    "loop.select": (
        "loop.select %p, %x, %x", VECTOR, {"p": BOOL, "x": VECTOR},
        "the predicate has type scalar<bool>, expected vec<3, bool>",
    ),
    "loop.shuffle": (
        "loop.shuffle %x {lanes = [0, -1]}", "vec<2, f32>", {"x": VECTOR}, "there is no lane -1",
    ),
    "loop.splat": (
        "loop.splat %x {lanes = 0}", VECTOR, {"x": F32}, "a vector has 1 to 4096 lanes, not 0",
    ),
    "loop.store": (
        "loop.store %b, %i, %x", "", {"b": BUFFER, "i": I64, "x": I64},
        "the value is of another dtype: buffer<f32, global>, scalar<i64>",
    ),
    "loop.store_masked": (
        "loop.store_masked %b, %i, %x, %m", "",
        {"b": BUFFER, "i": I64, "m": "vec<2, bool>", "x": VECTOR},
        "mask has 2 lanes, expected 3",
    ),
    "loop.store_past_caches": (
        "loop.store_past_caches %b, %i, %x", "", {"b": BUFFER, "i": I64, "x": F32},
        "value has type scalar<f32>, expected a vec",
    ),
    "loop.store_vector": (
        "loop.store_vector %b, %i, %x", "", {"b": BUFFER, "i": I64, "x": F32},
        "value has type scalar<f32>, expected a vec",
    ),
    "loop.subgroup_broadcast": (
        "loop.subgroup_broadcast %x {lane = -1}", F32, {"x": F32}, "there is no lane -1",
    ),
    "loop.subgroup_reduce": (
        "loop.subgroup_reduce %x {kind = bit_xor}", F32, {"x": F32},
        "there is no bit_xor of this dtype",
    ),
    "loop.subgroup_shuffle": (
        "loop.subgroup_shuffle %x, %x", F32, {"x": F32},
        "source has type scalar<f32>, expected a dtype among i32, i64",
    ),
    "loop.unary": (
        "loop.unary %x {kind = exp}", "scalar<c64>", {"x": "scalar<c64>"},
        "x has type scalar<c64>, expected a dtype among",
    ),
    "loop.while": (
        "loop.while %x (%a: scalar<f32>) {\n    yield %a\n  } (%b: scalar<f32>) {\n"
        "    yield %b\n  }", F32, {"x": F32},
        "the region condition yields (scalar<f32>), expected (scalar<bool>)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_an_op_refuses_what_is_wrong(name: str) -> None:
    text, result, types, message = REFUSALS[name]
    assert text.startswith(name)
    assert message in refusal(text, result, **types)


def test_every_sample_is_of_an_op() -> None:
    assert set(REFUSALS) == set(OPS)
