"""Arithmetic on scalars and vectors: every kind and dtype as on the tensor floor, and what is
particular to this one."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimstone.ir import loop
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import ALL, BY_NAME, FLOATS, ORDERED, DType, Kind, boolean, f32
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.loop.kinds import dtypes_of
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number
from brimstone.ir.types import Scalar, Vec
from kit.loops import compute, refusal, same_bits

KINDS = [*loop.UnaryKind, *loop.BinaryKind, *loop.CompareKind]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 0.3, float("inf"), float("-inf"), float("nan"), 100.0]


def numbers(dtype: DType) -> Any:
    """Eleven numbers of a dtype, the awkward ones among them."""
    if dtype.kind is Kind.FLOAT:
        return np.array(SPECIAL).astype(dtype.storage)
    if dtype is boolean:
        return np.array([True, False] * 6)[:11]
    limits = np.iinfo(dtype.storage)
    listed = [0, 1, 2, 3, 5, 7, 31, 64, limits.max, limits.min, limits.max // 2]
    return np.array(listed, dtype.storage)


def by_name(dtypes: Any) -> list[DType]:
    return sorted(dtypes, key=lambda dtype: dtype.name)


def family(kind: Any) -> str:
    if isinstance(kind, loop.UnaryKind):
        return "unary %x"
    return "binary %x, %y" if isinstance(kind, loop.BinaryKind) else "compare %x, %y"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_a_kind_is_the_tensor_op_of_its_name(kind: Any) -> None:
    for dtype in by_name(dtypes_of(kind)):
        x = numbers(dtype)
        y = np.roll(x, 3)
        result = boolean if isinstance(kind, loop.CompareKind) else dtype
        unary = isinstance(kind, loop.UnaryKind)
        given_ = {"x": x} if unary else {"x": x, "y": y}
        arguments = ", ".join(f"%{name}: tensor<[11], {dtype}>" for name in given_)
        listed = ", ".join(f"%{name}" for name in given_)
        text = (
            f"func @f({arguments}) -> tensor<[11], {result}> {{\n"
            f"  %r = tensor.{kind.value} {listed} : tensor<[11], {result}>\n  return %r\n}}"
        )
        (expected,) = interpret(parse(text), *given_.values())
        op = f"loop.{family(kind)} {{kind = {kind.value}}}"
        operands = {name: (f"vec<11, {dtype}>", array) for name, array in given_.items()}
        assert same_bits(compute(op, f"vec<11, {result}>", **operands), expected), dtype
        alone = {name: (f"scalar<{dtype}>", array[3]) for name, array in given_.items()}
        assert same_bits(compute(op, f"scalar<{result}>", **alone), expected[3]), dtype


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_a_kind_refuses_other_dtypes(kind: Any) -> None:
    op = f"loop.{family(kind)} {{kind = {kind.value}}}"
    for dtype in by_name(ALL - dtypes_of(kind)):
        result = "bool" if isinstance(kind, loop.CompareKind) else dtype.name
        said = refusal(op, f"scalar<{result}>", x=f"scalar<{dtype}>", y=f"scalar<{dtype}>")
        assert f"scalar<{dtype}>" in said


@pytest.mark.parametrize("source", by_name(ORDERED), ids=str)
def test_casts_are_those_of_the_tensor_floor(source: DType) -> None:
    x = numbers(source)
    for target in by_name(ORDERED):
        text = (
            f"func @f(%x: tensor<[11], {source}>) -> tensor<[11], {target}> {{\n"
            f"  %r = tensor.cast %x {{dtype = {target}}} : tensor<[11], {target}>\n  return %r\n}}"
        )
        (expected,) = interpret(parse(text), x)
        cast = f"loop.cast %x {{dtype = {target}}}"
        made = compute(cast, f"vec<11, {target}>", x=(f"vec<11, {source}>", x))
        assert same_bits(made, expected), target
        one = compute(cast, f"scalar<{target}>", x=(f"scalar<{source}>", x[8]))
        assert same_bits(one, expected[8]), target


def test_bitcast_keeps_every_bit() -> None:
    bits = np.array([0x7FC12345, 0x80000000, 1], np.uint32)
    made = compute("loop.bitcast %x {dtype = f32}", "vec<3, f32>", x=("vec<3, u32>", bits))
    assert made.tobytes() == bits.tobytes()
    assert "1 bits are read as i8, which has 8" in refusal(
        "loop.bitcast %x {dtype = i8}", "scalar<i8>", x="scalar<bool>"
    )


def test_select_keeps_the_bits_it_chooses() -> None:
    scalar = {"p": ("scalar<bool>", True), "x": ("scalar<bf16>", -0.0), "y": ("scalar<bf16>", 1)}
    made = compute("loop.select %p, %x, %y", "scalar<bf16>", **scalar)
    assert made.dtype == BY_NAME["bf16"].storage and np.signbit(made.astype(np.float32))


def fma(dtype: str, x: float, y: float, z: float) -> Any:
    type_ = f"scalar<{dtype}>"
    return compute("loop.fma %x, %y, %z", type_, x=(type_, x), y=(type_, y), z=(type_, z))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_fma_rounds_once(dtype: str) -> None:
    small = 2.0**-15 if dtype == "f32" else 2.0**-30
    assert fma(dtype, 1 + small, 1 - small, -1) == -(small**2)


@pytest.mark.parametrize(("rest", "expected"), [(2.0**-60, 1 + 2.0**-23), (-(2.0**-60), 1.0)])
def test_fma_of_singles_does_not_round_to_double_first(rest: float, expected: float) -> None:
    product = (24929.0, 673 * 2.0**-24)  # 1 + 2^-24, half way between two singles
    assert fma("f32", *product, rest) == expected


@given(st.lists(st.floats(width=32), min_size=3, max_size=3))
def test_fma_of_singles_is_exact_before_it_rounds(terms: list[float]) -> None:
    made = fma("f32", *terms)
    assert same_bits(made, nearest_single(*terms))


def nearest_single(x: float, y: float, z: float) -> np.float32:
    """x * y + z rounded to f32, found by looking at the neighbours of a guess."""
    with np.errstate(all="ignore"):
        guess = np.float32(x * y + z)
        if not np.isfinite([x, y, z]).all() or not np.isfinite(guess) or x * y + z == 0:
            return guess
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        near = [np.nextafter(guess, np.float32(side)) for side in (-np.inf, np.inf)]
        even = [each for each in (guess, *near) if np.isfinite(each)]
        return min(
            even, key=lambda each: (abs(Fraction(float(each)) - exact), each.view(np.uint32) & 1)
        )


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ((float("inf"), 0.0, 1.0), float("nan")),
        ((1e300, 1e300, float("-inf")), float("-inf")),
        ((1e300, 1e300, 0.0), float("inf")),
        ((1e300, -1e300, 0.0), float("-inf")),
        ((1e-300, -1e-300, 0.0), -0.0),
        ((0.0, -1.0, -0.0), -0.0),
        ((0.0, -1.0, 0.0), 0.0),
        ((2.0, 3.0, -6.0), 0.0),
    ],
)
def test_fma_of_doubles_at_the_edges(terms: tuple[float, ...], expected: float) -> None:
    assert same_bits(fma("f64", *terms), np.float64(expected))


@pytest.mark.parametrize("dtype", by_name(FLOATS), ids=str)
def test_fma_has_every_float_and_vectors(dtype: DType) -> None:
    type_, x = f"vec<11, {dtype}>", numbers(dtype)
    made = compute("loop.fma %x, %y, %x", type_, x=(type_, x), y=(type_, np.ones_like(x)))
    with np.errstate(all="ignore"):
        assert same_bits(made, (x.astype(np.float64) * 2).astype(dtype.storage))


def build() -> tuple[Builder, Any]:
    func = Func("f", [Scalar(f32), Vec(3, f32)])
    return Builder(func.body), func.arguments


def test_constants_fold_and_equal_ops_are_one() -> None:
    builder, (x, _) = build()
    one = builder.emit(loop.Constant, Number(1.0, f32))
    two = builder.emit(loop.Binary, one, one, loop.BinaryKind.ADD)
    assert isinstance(two.owner, loop.Constant) and two.owner.value is Number(2.0, f32)
    row = builder.emit(loop.Splat, two, 3)
    assert isinstance(row.owner, loop.Constant) and row.type is Vec(3, f32)
    total = builder.emit(loop.Reduce, row, loop.ReduceKind.ADD)
    assert isinstance(total.owner, loop.Constant) and total.owner.value is Number(6.0, f32)
    sums = [builder.emit(loop.Binary, x, two, loop.BinaryKind.ADD) for _ in range(2)]
    assert sums[0] is sums[1]


def test_long_vectors_do_not_fold() -> None:
    builder, _ = build()
    one = builder.emit(loop.Constant, Number(1.0, f32))
    assert isinstance(builder.emit(loop.Splat, one, 65).owner, loop.Splat)
