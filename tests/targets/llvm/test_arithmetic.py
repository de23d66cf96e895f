"""Every kind of arithmetic and every cast, for every dtype, on scalars and vectors of even and odd
length: bit for bit what the interpreter makes of the awkward numbers; or refused by name."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import loop
from brimstone.ir.dtypes import ORDERED, DType, Kind, boolean, f16, f32, f64, i64
from brimstone.ir.func import Func
from brimstone.ir.loop import BinaryKind as B
from brimstone.ir.loop import UnaryKind as U
from brimstone.ir.loop import run_loops
from brimstone.ir.loop.kinds import dtypes_of
from brimstone.ir.parser import parse
from brimstone.targets.llvm.machines import AVX512, CPU, SSE42, host
from brimstone.targets.llvm.printer import Refused, print_llvm
from kit.loops import loops, same_bits
from kit.machine_code import RUNNABLE, call, compiled, run_machine_code
from kit.special import special

DTYPES = sorted(ORDERED, key=lambda dtype: dtype.name)
NATIVE = [dtype for dtype in DTYPES if dtype.kind is not Kind.FLOAT or dtype in (f32, f64)]
NARROW = [dtype for dtype in DTYPES if dtype not in NATIVE]
KINDS = [*loop.UnaryKind, *loop.BinaryKind, *loop.CompareKind]
FLOAT_KINDS = {
    U.NEGATE, U.ABSOLUTE, U.SQUARE_ROOT, U.FLOOR, U.CEIL, U.TRUNCATE, U.ROUND_EVEN,
    B.ADD, B.SUBTRACT, B.MULTIPLY, B.DIVIDE, B.MAXIMUM, B.MINIMUM, B.COPY_SIGN,
    *loop.CompareKind,
}  # fmt: skip
"""What there are instructions for; the rest is mathematics, which `expand` writes out."""
LANES = [1, 5, 16]
COUNT = 480  # all pairs of special numbers, and a multiple of all lane counts


Case = tuple[str, DType]
"""The text of an op on %left and %right, and the dtype of what it makes."""


def kernel(cases: Sequence[Case], source: DType, lanes: int, right: int | None = None) -> Func:
    """Programs that each read `lanes` numbers of %x and of %y, and put what each op makes of them
    into a buffer of its own; if `right` is given, it is read instead of %y."""
    read, kind, attribute = "", "scalar<{}>", ""
    if lanes > 1:
        read, kind, attribute = "_vector", f"vec<{lanes}, {{}}>", f" {{lanes = {lanes}}}"
    second = f"loop.load{read} %y, %at{attribute}"
    if right is not None:
        second = f"loop.constant {{value = {right if lanes == 1 else [right] * lanes}}}"
    buffers = "".join(
        f", %z{place}: buffer<{made}, global>" for place, (_, made) in enumerate(cases)
    )
    ops = "\n".join(
        f"  %made{place} = {text} : {kind.format(made)}\n"
        f"  loop.store{read} %z{place}, %at, %made{place}"
        for place, (text, made) in enumerate(cases)
    )
    text = f"""
func @arithmetic(%x: buffer<{source}, global>, %y: buffer<{source}, global>{buffers}) {{
  %program = loop.program_id {{axis = 0}} : scalar<i64>
  %lanes = loop.constant {{value = {lanes}}} : scalar<i64>
  %at = loop.binary %program, %lanes {{kind = multiply}} : scalar<i64>
  %left = loop.load{read} %x, %at{attribute} : {kind.format(source)}
  %right = {second} : {kind.format(source)}
{ops}
  return
}}"""
    return parse(text, "kernel.ir").main


def pairs(dtype: DType) -> tuple[Any, Any]:
    """Every special number beside every other."""
    known = special(dtype)
    left, right = np.meshgrid(known, known)
    return np.resize(left, COUNT), np.resize(right, COUNT)


def arithmetic(dtype: DType) -> Iterator[Case]:
    """The arithmetic on a dtype that LLVM has."""
    for kind in KINDS:
        if supported(kind, dtype):
            compared = isinstance(kind, loop.CompareKind)
            yield text_of(kind), boolean if compared else dtype


def text_of(kind: Any) -> str:
    operands = "unary %left" if isinstance(kind, loop.UnaryKind) else "binary %left, %right"
    if isinstance(kind, loop.CompareKind):
        operands = "compare %left, %right"
    return f"loop.{operands} {{kind = {kind.value}}}"


def supported(kind: Any, dtype: DType) -> bool:
    if dtype not in dtypes_of(kind) or dtype in NARROW:
        return False
    return kind in FLOAT_KINDS if dtype.kind is Kind.FLOAT else kind is not B.POWER


def agree(cases: Sequence[Case], source: DType, right: int | None = None) -> None:
    """Machine code gives what the interpreter gives, for all cases and lane counts."""
    x, y = pairs(source)
    expected = [np.zeros(COUNT, made.storage) for _, made in cases]
    run_loops(kernel(cases, source, COUNT, right), [x, y, *expected])
    for lanes in LANES:
        found = [np.zeros(COUNT, made.storage) for _, made in cases]
        func = kernel(cases, source, lanes, right)
        run_machine_code(func, [x, y, *found], programs=[COUNT // lanes])
        for case, here, there in zip(cases, found, expected, strict=True):
            assert same_bits(here, there), (case, source, lanes, right)


@pytest.mark.parametrize("dtype", NATIVE, ids=str)
def test_every_kind(dtype: DType) -> None:
    agree([*arithmetic(dtype)], dtype)


KNOWN = (B.DIVIDE, B.REMAINDER, B.SHIFT_LEFT, B.SHIFT_RIGHT)


@pytest.mark.parametrize("dtype", [each for each in NATIVE if each.kind is Kind.SIGNED], ids=str)
@pytest.mark.parametrize("right", [0, 1, -1, 2, 7, -7, 8, 31, 63, 64, -128])
def test_known_divisors_and_shifts(dtype: DType, right: int) -> None:
    agree([(text_of(kind), dtype) for kind in KNOWN], dtype, right)


@pytest.mark.parametrize("dtype", [each for each in NATIVE if each.kind is Kind.UNSIGNED], ids=str)
@pytest.mark.parametrize("right", [0, 1, 2, 7, 8, 31, 63, 64, 255])
def test_known_divisors_and_shifts_without_a_sign(dtype: DType, right: int) -> None:
    agree([(text_of(kind), dtype) for kind in KNOWN], dtype, right)


def test_a_known_divisor_is_divided_by() -> None:
    text = print_llvm([kernel([(text_of(B.DIVIDE), i64)], i64, 1, 16)], AVX512)
    assert "sdiv i64 %left, 16" in text
    assert "select" not in text


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_every_cast(source: DType) -> None:
    cases = [
        (f"loop.cast %left {{dtype = {target}}}", target)
        for target in DTYPES
        if castable(source, target)
    ]
    agree(cases, source)


def castable(source: DType, target: DType) -> bool:
    """Whether there are instructions that round once."""
    if source is target or (source in NATIVE and target in NATIVE):
        return True
    if target is f16:
        return source is f32 or (source.kind is not Kind.FLOAT and source.bits <= 16)
    return source is f16 and target in NATIVE


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_every_bitcast(source: DType) -> None:
    same = [target for target in DTYPES if target.bits == source.bits]
    cases = [(f"loop.bitcast %left {{dtype = {each}}}", each) for each in same]
    agree(cases, source)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_select(dtype: DType) -> None:
    x, y = pairs(dtype)
    expected, found = np.zeros(COUNT, dtype.storage), np.zeros(COUNT, dtype.storage)
    mask = np.arange(COUNT) % 3 == 0
    func = loops(f"""
func @choose(%m: buffer<bool, global>, %x: buffer<{dtype}, global>, %y: buffer<{dtype}, global>,
             %z: buffer<{dtype}, global>) {{
  %program = loop.program_id {{axis = 0}} : scalar<i64>
  %lanes = loop.constant {{value = 16}} : scalar<i64>
  %at = loop.binary %program, %lanes {{kind = multiply}} : scalar<i64>
  %mask = loop.load_vector %m, %at {{lanes = 16}} : vec<16, bool>
  %left = loop.load_vector %x, %at {{lanes = 16}} : vec<16, {dtype}>
  %right = loop.load_vector %y, %at {{lanes = 16}} : vec<16, {dtype}>
  %made = loop.select %mask, %left, %right : vec<16, {dtype}>
  loop.store_vector %z, %at, %made
  return
}}""")
    run_loops(func, [mask, x, y, expected], programs=[COUNT // 16])
    run_machine_code(func, [mask, x, y, found], programs=[COUNT // 16])
    assert found.tobytes() == expected.tobytes()


@pytest.mark.skipif(not host().fused, reason="this processor has no fused multiply-add")
@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
def test_fused_multiply_add(dtype: DType) -> None:
    agree([("loop.fma %left, %right, %left", dtype)], dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_has_no_instruction_is_refused_by_name_and_line(dtype: DType) -> None:
    for kind in KINDS:
        if dtype in dtypes_of(kind) and not supported(kind, dtype):
            made = boolean if isinstance(kind, loop.CompareKind) else dtype
            func = kernel([(text_of(kind), made)], dtype, 4)
            with pytest.raises(Refused, match=rf"kernel\.ir:8: loop\.\w+ {{kind = {kind.value}}}"):
                print_llvm([func], AVX512)
    for target in DTYPES:
        if not castable(dtype, target):
            func = kernel([(f"loop.cast %left {{dtype = {target}}}", target)], dtype, 4)
            with pytest.raises(Refused, match=rf"kernel\.ir:8: loop\.cast .* {dtype} to {target}"):
                print_llvm([func], AVX512)


def test_a_machine_without_the_instruction_refuses() -> None:
    func = kernel([("loop.fma %left, %right, %left", f32)], f32, 4)
    assert print_llvm([func], AVX512)
    with pytest.raises(Refused, match="sse42 has no fused multiply-add"):
        print_llvm([func], SSE42)


@np.errstate(all="ignore")
@pytest.mark.parametrize("machine", RUNNABLE, ids=lambda machine: machine.name)
def test_every_f16_and_the_neighbours_of_what_lies_between_two(machine: CPU) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    wide = kernel([("loop.cast %left {dtype = f32}", f32)], f16, 8)
    found = np.zeros(1 << 16, np.float32)
    programs = [(1 << 16) // 8]
    call(compiled([wide], machine)["arithmetic"], wide, [halves, halves, found], programs)
    assert same_bits(found, halves.astype(np.float32))
    ordered = np.sort(halves[np.isfinite(halves)]).astype(np.float32)
    middle = (ordered + np.append(ordered[1:], np.float32(65536))) / 2
    singles = [middle, *(np.nextafter(middle, np.float32(way)) for way in (-1e9, 1e9))]
    singles = np.resize(np.concatenate([*singles, special(f32)]), 3 << 16).astype(np.float32)
    narrow = kernel([("loop.cast %left {dtype = f16}", f16)], f32, 8)
    rounded = np.zeros(3 << 16, np.float16)
    programs = [(3 << 16) // 8]
    call(compiled([narrow], machine)["arithmetic"], narrow, [singles, singles, rounded], programs)
    assert same_bits(rounded, singles.astype(np.float16))


@pytest.mark.parametrize("name", ["asinh", "atanh"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (16,), (67,)], ids=str)
def test_signs_are_copied_before_numbers_are_narrowed_to_halves(
    name: str, shape: tuple[int, ...]
) -> None:
    """LLVM narrows a double to a half by a function of the compiler's library: there is none."""
    given = np.full(shape, -1 if name == "asinh" else 0, np.int8)
    with bs.device("cpu"):
        found = bs.jit(lambda x: getattr(bs, name)(x.astype(bs.float16)))(given).numpy()
    expected = getattr(np, f"arc{name[1:]}")(given.astype(np.float64)).astype(np.float16)
    assert same_bits(found, expected)
