"""Memory: every index is checked, a lane whose mask is off touches nothing, fresh memory is
poison."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from brimstone.ir.declare import REGISTRY
from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from brimstone.ir.types import Buffer
from kit.loops import Operand, compute, kernel, loops, op, same_bits

BUFFER, I64 = "buffer<i32, global>", "scalar<i64>"
LANES, MASK = "vec<3, i32>", "vec<3, bool>"
ROW = (LANES, np.array([7, 8, 9], np.int32))
MATRIX = ("fragment<2, 2, i32, left>", np.ones((2, 2), np.int32))


@dataclass
class Access:
    """An op that touches `touches` places of `%buffer`, which start at `%index`."""

    text: str
    result: str
    operands: dict[str, Operand]
    touches: int


ALL_ON = (MASK, np.array([True, True, True]))
VALUE = ("scalar<i32>", 5)
ACCESSES = {
    "loop.load": Access("loop.load %buffer, %index", "scalar<i32>", {}, 1),
    "loop.store": Access("loop.store %buffer, %index, %x", "", {"x": VALUE}, 1),
    "loop.atomic": Access(
        "loop.atomic %buffer, %index, %x {kind = add}", "scalar<i32>", {"x": VALUE}, 1
    ),
    "loop.load_vector": Access("loop.load_vector %buffer, %index {lanes = 3}", LANES, {}, 3),
    "loop.store_vector": Access("loop.store_vector %buffer, %index, %x", "", {"x": ROW}, 3),
    "loop.load_masked": Access(
        "loop.load_masked %buffer, %index, %mask, %x", LANES, {"mask": ALL_ON, "x": ROW}, 3
    ),
    "loop.store_masked": Access(
        "loop.store_masked %buffer, %index, %x, %mask", "", {"x": ROW, "mask": ALL_ON}, 3
    ),
    "loop.fragment_load": Access(
        "loop.fragment_load %buffer, %index, %stride {rows = 2, columns = 2, use = left}",
        MATRIX[0],
        {"stride": (I64, 3)},
        5,
    ),
    "loop.fragment_store": Access(
        "loop.fragment_store %buffer, %index, %stride, %x", "", {"stride": (I64, 3), "x": MATRIX}, 5
    ),
}
# These take a vector of indices, or only some; a prefetch touches nothing.
OTHERS = {"loop.gather", "loop.scatter", "loop.store_past_caches", "loop.prefetch"}


def touch(access: Access, length: int, index: int) -> Any:
    buffer = np.arange(length, dtype=np.int32)
    operands = {"buffer": (BUFFER, buffer), "index": (I64, index), **access.operands}
    compute(access.text, access.result, **operands)
    return buffer


def test_every_access_is_checked_here() -> None:
    takes_buffer = {
        name
        for name, cls in REGISTRY.items()
        if name.startswith("loop.") and cls.effects
        and any(Buffer in field.types for field in cls.operand_fields)
    }  # fmt: skip
    assert takes_buffer == set(ACCESSES) | OTHERS


@pytest.mark.parametrize("name", ACCESSES)
def test_an_access_at_the_very_ends_is_fine(name: str) -> None:
    access = ACCESSES[name]
    for length in (access.touches, 13):
        touch(access, length, 0)
        touch(access, length, length - access.touches)


@pytest.mark.parametrize("name", ACCESSES)
@pytest.mark.parametrize("length", [0, 1, 13])
def test_an_index_outside_is_an_error(name: str, length: int) -> None:
    access = ACCESSES[name]
    last = length - access.touches + 1  # from here on the last place is outside
    starts = {-1: -1, length: length, 2**40: 2**40}
    for index, outside in (starts | {last: length} if last >= 0 else starts).items():
        said = f"^kernel.ir:2: {name}: index {outside} is outside a buffer of length {length}$"
        with pytest.raises(ExecutionError, match=said):
            touch(access, length, index)


@pytest.mark.parametrize(
    ("index", "said"),
    [(4, None), (8, None), (28, None), (2, "within a line"), (30, "outside"), (-4, "outside")],
)
def test_what_goes_past_the_caches_fills_a_part_of_a_line(index: int, said: str | None) -> None:
    func = op(
        "loop.store_past_caches %buffer, %index, %x",
        buffer=BUFFER, index=I64, x="vec<4, i32>",
    )  # fmt: skip
    buffer, x = np.zeros(32, np.int32), np.arange(1, 5, dtype=np.int32)
    if said is None:
        interpret(func, buffer, index, x)
        assert [*buffer[index : index + 4]] == [1, 2, 3, 4]
    else:
        with pytest.raises(ExecutionError, match=said):
            interpret(func, buffer, index, x)
    assert np.count_nonzero(buffer) == (4 if said is None else 0)


@pytest.mark.parametrize("name", ["loop.store", "loop.store_vector", "loop.fragment_store"])
def test_nothing_is_written_when_one_index_is_outside(name: str) -> None:
    access = ACCESSES[name]
    buffer = np.zeros(access.touches, np.int32)
    func = op(access.text, **types({"buffer": (BUFFER, 0), "index": (I64, 0), **access.operands}))
    with pytest.raises(ExecutionError, match="is outside"):
        interpret(func, buffer, 1, *[value for _, value in access.operands.values()])
    assert not buffer.any()


def types(operands: dict[str, Operand]) -> dict[str, str]:
    return {name: type_ for name, (type_, _) in operands.items()}


def gather(indices: list[int], mask: list[bool]) -> Any:
    return compute(
        "loop.gather %b, %i, %m, %p",
        LANES,
        b=(BUFFER, np.array([10, 20], np.int32)),
        i=("vec<3, i32>", np.array(indices, np.int32)),
        m=(MASK, np.array(mask)),
        p=ROW,
    )


def scatter(indices: list[int], mask: list[bool]) -> Any:
    buffer = np.array([10, 20], np.int32)
    compute(
        "loop.scatter %b, %i, %x, %m",
        b=(BUFFER, buffer),
        i=("vec<3, i64>", np.array(indices)),
        x=ROW,
        m=(MASK, np.array(mask)),
    )
    return buffer


@pytest.mark.parametrize("access", [gather, scatter])
@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_of_a_vector_outside_is_an_error(access: Any, index: int) -> None:
    with pytest.raises(ExecutionError, match=f"index {index} is outside a buffer of length 2"):
        access([0, index, 1], [True, True, True])
    access([0, index, 1], [True, False, True])


def test_a_gather_pads_where_the_mask_is_off() -> None:
    assert list(gather([1, 5, 0], [True, False, True])) == [20, 8, 10]
    assert list(gather([9, 9, 9], [False, False, False])) == [7, 8, 9]


def test_of_equal_indices_the_last_lane_wins() -> None:
    assert list(scatter([0, 0, 1], [True, True, True])) == [8, 9]
    assert list(scatter([1, 1, 1], [True, True, False])) == [10, 8]


def masked(text: str, length: int, index: int, mask: list[bool]) -> Any:
    buffer = np.arange(length, dtype=np.int32)
    result = "" if "store" in text else LANES
    made = compute(
        text, result, b=(BUFFER, buffer), i=(I64, index), x=ROW, m=(MASK, np.array(mask))
    )
    return list(buffer if made is None else made)


@pytest.mark.parametrize("mask", [[True, False, False], [False, True, False], [False] * 3])
def test_a_lane_that_is_off_touches_nothing(mask: list[bool]) -> None:
    first = mask.index(True) if any(mask) else 0
    on = [0 if on else old for on, old in zip(mask, [7, 8, 9], strict=True)]
    length = int(any(mask))
    assert masked("loop.load_masked %b, %i, %m, %x", length, -first, mask) == on
    stored = masked("loop.store_masked %b, %i, %x, %m", length, -first, mask)
    assert stored == [value for value, lane in zip([7, 8, 9], mask, strict=True) if lane]


@pytest.mark.parametrize("kind", ["load", "store"])
def test_a_lane_that_is_on_is_checked(kind: str) -> None:
    text = {"load": "loop.load_masked %b, %i, %m, %x", "store": "loop.store_masked %b, %i, %x, %m"}
    with pytest.raises(ExecutionError, match="index 3 is outside a buffer of length 3"):
        masked(text[kind], 3, 1, [True, False, True])


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f8e4m3", "f64"])
def test_fresh_floats_are_not_numbers(dtype: str) -> None:
    made = compute(
        f"loop.allocate {{count = 5, dtype = {dtype}, space = local}}", f"buffer<{dtype}, local>"
    )
    assert made.shape == (5,) and np.isnan(made.astype(np.float32)).all()


def test_fresh_integers_are_a_pattern() -> None:
    text = "loop.allocate {count = 2, dtype = u16, space = shared}"
    assert [hex(x) for x in compute(text, "buffer<u16, shared>")] == ["0xaaaa", "0xaaaa"]
    text = "loop.allocate {count = 2, dtype = bool, space = shared}"
    assert compute(text, "buffer<bool, shared>").all()


def test_memory_may_be_of_a_symbolic_length_and_empty() -> None:
    func = loops(
        "func @f<n: 0..64>() -> scalar<i64> {\n"
        "  %b = loop.allocate {count = 2*n, dtype = f32, space = local} : buffer<f32, local>\n"
        "  %l = loop.length %b : scalar<i64>\n  return %l\n}"
    )
    for n in (0, 1, 13):
        assert interpret(func, sizes={"n": n})[0] == 2 * n


def test_two_allocations_are_two() -> None:
    func = loops(
        "func @f(%x: scalar<f32>, %i: scalar<i64>) -> scalar<f32> {\n"
        "  %a = loop.allocate {count = 1, dtype = f32, space = local} : buffer<f32, local>\n"
        "  %b = loop.allocate {count = 1, dtype = f32, space = local} : buffer<f32, local>\n"
        "  loop.store %a, %i, %x\n"
        "  %y = loop.load %b, %i : scalar<f32>\n  return %y\n}"
    )
    assert np.isnan(interpret(func, 1.0, 0)[0])


ATOMICS = [
    ("add", "i8", 127, 1, -128),
    ("add", "f32", 1.5, -0.5, 1.0),
    ("minimum", "f32", 0.0, -0.0, -0.0),
    ("maximum", "f32", 1.0, float("nan"), float("nan")),
    ("maximum", "u8", 3, 200, 200),
    ("bit_and", "u8", 6, 3, 2),
    ("bit_or", "u8", 6, 3, 7),
    ("bit_xor", "u8", 6, 3, 5),
    ("exchange", "f64", 1.0, 2.0, 2.0),
]


@pytest.mark.parametrize(("kind", "dtype", "old", "value", "new"), ATOMICS)
def test_an_atomic_gives_back_the_old_number(
    kind: str, dtype: str, old: float, value: float, new: float
) -> None:
    storage = {"i8": np.int8, "u8": np.uint8, "f32": np.float32, "f64": np.float64}[dtype]
    buffer = np.array([old, 0], storage)
    made = compute(
        f"loop.atomic %b, %i, %v {{kind = {kind}}}",
        f"scalar<{dtype}>",
        b=(f"buffer<{dtype}, global>", buffer),
        i=("scalar<i32>", 0),
        v=(f"scalar<{dtype}>", value),
    )
    assert same_bits(made, storage(old))
    assert same_bits(buffer, np.array([new, 0], storage))


def test_a_store_to_memory_that_may_only_be_read_is_an_error() -> None:
    buffer = np.zeros(1, np.float32)
    buffer.flags.writeable = False
    func = kernel("%b: buffer<f32, global>, %i: scalar<i64>, %x: scalar<f32>",
                  "  loop.store %b, %i, %x")  # fmt: skip
    with pytest.raises(ExecutionError, match=r"kernel.ir:2: loop.store: .*read-only"):
        interpret(func, buffer, 0, 1.0)
