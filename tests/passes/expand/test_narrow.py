"""Narrow floats become f32 and back, and integers are raised to powers: bit for bit as before."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import FLOATS, INTEGERS, ORDERED, DType, boolean, f32, f64, i64
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.loop import BinaryKind, CompareKind, ReduceKind, UnaryKind, run_loops
from brimstone.ir.loop.kinds import dtypes_of
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number
from brimstone.ir.types import Buffer, Space, Vec
from brimstone.ir.verifier import verify
from brimstone.passes.expand import expand
from brimstone.passes.expand.narrow import NARROW
from kit.expanded import FUSED, PLAIN, Array, results
from kit.loops import same_bits

COUNT = 1024
FUNCTIONS = {UnaryKind.LOG_GAMMA, UnaryKind.DIGAMMA, UnaryKind.ERF_INVERSE}
"""Slow in the interpreter, and on their way no different from the others."""
DTYPES = sorted(NARROW, key=str)
OTHERS = sorted(ORDERED, key=str)


def numbers(dtype: DType, seed: int = 0) -> Array:
    """All bytes, or random bits; of wide floats also what lies close to the narrow ones."""
    rng = np.random.default_rng(seed)
    if dtype is boolean:
        return rng.random(COUNT) < 0.5
    bits = rng.integers(0, 256, COUNT * dtype.itemsize, np.uint8)
    made = rng.permutation(np.tile(np.arange(256, dtype=np.uint8), COUNT // 256))
    made = made.view(dtype.storage) if dtype.itemsize == 1 else bits.view(dtype.storage)
    if dtype in INTEGERS and dtype.itemsize > 1:
        shifts = rng.integers(0, dtype.bits, COUNT).astype(dtype.storage)
        made = np.concatenate([made[::2], (made >> shifts)[1::2]])
    if dtype in INTEGERS:
        made[:2] = np.iinfo(dtype.storage).min, np.iinfo(dtype.storage).max
    return made


def between(dtype: DType, narrow: DType) -> Array:
    """Numbers of a wide float in the middle of two narrow ones, and next to it on both sides."""
    codes = np.arange(1 << narrow.bits, dtype=f"u{narrow.itemsize}")
    with np.errstate(all="ignore"):
        below = codes[:-1].view(narrow.storage).astype(np.float64)
        above = codes[1:].view(narrow.storage).astype(np.float64)
        middle = ((below + above) / 2).astype(dtype.storage)
        sides = [np.nextafter(middle, dtype.storage.type(end)) for end in (-np.inf, np.inf)]
    return np.concatenate([middle, *sides])


def same(found: Array, expected: Array) -> bool:
    """`same_bits`, of signalling NaNs too."""
    with np.errstate(invalid="ignore"):
        return same_bits(found, expected)


def agree(op: str, result: DType, *inputs: tuple[DType, Array], machine: Any = PLAIN) -> bool:
    """Whether an op gives the same bits before and after."""
    before = results(op, result, inputs, None)
    return same(results(op, result, inputs, machine), before)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", UnaryKind)
def test_unary(kind: UnaryKind, dtype: DType) -> None:
    if dtype in dtypes_of(kind) and kind not in FUNCTIONS:
        op = f"loop.unary %x {{kind = {kind.value}}}"
        assert agree(op, dtype, (dtype, numbers(dtype)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", BinaryKind)
def test_binary(kind: BinaryKind, dtype: DType) -> None:
    if dtype in dtypes_of(kind):
        op = f"loop.binary %x, %y {{kind = {kind.value}}}"
        assert agree(op, dtype, (dtype, numbers(dtype, 1)), (dtype, numbers(dtype, 2)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_compare_and_fused(dtype: DType) -> None:
    x, y, z = [(dtype, numbers(dtype, seed)) for seed in (1, 2, 3)]
    for kind in CompareKind:
        assert agree(f"loop.compare %x, %y {{kind = {kind.value}}}", boolean, x, y)
    assert agree("loop.fma %x, %y, %z", dtype, x, y, z, machine=FUSED)


@pytest.mark.parametrize("other", OTHERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_casts(dtype: DType, other: DType) -> None:
    assert agree(f"loop.cast %x {{dtype = {other}}}", other, (dtype, numbers(dtype)))
    assert agree(f"loop.cast %x {{dtype = {dtype}}}", dtype, (other, numbers(other)))


@pytest.mark.parametrize("wide", [f32, f64], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_casts_round_once(dtype: DType, wide: DType) -> None:
    assert agree(f"loop.cast %x {{dtype = {dtype}}}", dtype, (wide, between(wide, dtype)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", [ReduceKind.ADD, ReduceKind.MULTIPLY, ReduceKind.MAXIMUM])
def test_reductions_are_rounded_once(kind: ReduceKind, dtype: DType) -> None:
    x = numbers(dtype)
    with np.errstate(invalid="ignore"):
        x = x[np.isfinite(x.astype(np.float32))][:100]
    made: list[Array] = []
    for expanded in (False, True):
        func = Func("sum", [Buffer(dtype, Space.GLOBAL), Vec(len(x), dtype)])
        builder = Builder(func.body)
        total = builder.emit(loop.Reduce, func.arguments[1], kind=kind)
        (zero,) = builder.emit_all(loop.Constant, Number(0, i64))
        builder.emit_all(loop.Store, func.arguments[0], zero, total)
        builder.emit_all(Return, ())
        if expanded:
            expand(func, PLAIN)
        verify(Module([func]))
        out = np.zeros(1, dtype.storage)
        run_loops(func, [out, x])
        made.append(out)
    assert same(made[1], made[0])


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_powers_of_integers(dtype: DType) -> None:
    x, y = numbers(dtype, 1), numbers(dtype, 2)
    small = np.arange(COUNT).astype(dtype.storage) % dtype.storage.type(9)
    assert agree("loop.binary %x, %y {kind = power}", dtype, (dtype, x), (dtype, y))
    assert agree("loop.binary %x, %y {kind = power}", dtype, (dtype, small), (dtype, x))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nothing_narrow_is_computed(dtype: DType) -> None:
    func = parse(
        f"func @f(%x: vec<8, {dtype}>, %out: buffer<{dtype}, global>) {{\n"
        "  %zero = loop.constant {value = 0} : scalar<i64>\n"
        f"  %y = loop.unary %x {{kind = exp}} : vec<8, {dtype}>\n"
        f"  %z = loop.binary %y, %x {{kind = add}} : vec<8, {dtype}>\n"
        "  loop.store_vector %out, %zero, %z\n  return\n}"
    ).main
    expand(func, FUSED)
    computed = (loop.Unary, loop.Binary, loop.FusedMultiplyAdd, loop.Compare, loop.Reduce)
    dtypes = {op.operands[0].type.dtype for op in func.walk() if isinstance(op, computed)}
    assert not dtypes & NARROW
    assert dtypes & FLOATS == {f32}
