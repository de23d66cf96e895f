"""Casts between every two dtypes, bits seen as other dtypes, and complex numbers."""

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import (
    ALL,
    BY_NAME,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    DType,
    Kind,
    bf16,
    boolean,
    c64,
    f8e4m3,
    f32,
    f64,
    i8,
    i64,
    u64,
)
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, folded, same
from kit.special import special

EVERY = list(BY_NAME.values())


def as_integer(number: Any, dtype: DType) -> int:
    """Floats truncate and saturate, NaN is 0; integers wrap."""
    limits = np.iinfo(dtype.storage)
    if isinstance(number, int):
        wrapped = number % (1 << dtype.bits)
        return wrapped - (1 << dtype.bits) if wrapped > limits.max else wrapped
    if math.isnan(number):
        return 0
    if math.isinf(number):
        return int(limits.max) if number > 0 else int(limits.min)
    return min(max(math.trunc(number), int(limits.min)), int(limits.max))


def converted(number: Any, target: DType) -> Any:
    """One Python number as a Python number of the target; floats are rounded by `nearest`."""
    if target is boolean:
        return number != 0
    if isinstance(number, complex) and target not in COMPLEXES:
        number = number.real
    if target in INTEGERS:
        return as_integer(number, target)
    return number


def plain(number: Any) -> Any:
    if number.dtype.kind == "b":
        return int(number)
    return number.item() if number.dtype.kind in "iuc" else float(number)


@pytest.mark.parametrize("target", EVERY, ids=repr)
@pytest.mark.parametrize("source", EVERY, ids=repr)
def test_every_cast(source: DType, target: DType) -> None:
    x = special(source)[:40]
    numbers = [converted(plain(each), target) for each in x]
    if target in FLOATS:
        wanted = np.array([nearest(number, target) for number in numbers])
    else:
        with np.errstate(all="ignore"):
            wanted = np.array(numbers, target.storage)
    assert same(evaluate(tensor.Cast, x, dtype=target), wanted)


def nearest(number: float | int, target: DType) -> Any:
    """The number of the target next to `number`, found by exact arithmetic; ties to even."""
    with np.errstate(all="ignore"):
        guess = np.float64(number).astype(target.storage)
    if not math.isfinite(number) or not np.isfinite(guess):
        return guess
    bits = guess.view(f"u{target.itemsize}")
    around = (bits + np.arange(-1, 2).astype(bits.dtype)).view(target.storage)

    def distance(candidate: Any) -> tuple[Fraction, int]:
        odd = int(candidate.view(bits.dtype)) & 1
        return abs(Fraction(float(candidate)) - Fraction(number)), odd

    return min((each for each in around if np.isfinite(each)), key=distance)


TWICE = [
    (f64, bf16, 1 + 2**-8 + 2**-40, 1 + 2**-7),
    (f64, bf16, 1 + 3 * 2**-8 - 2**-40, 1 + 2**-7),
    (f64, f8e4m3, 1 + 2**-4 + 2**-40, 1 + 2**-3),
    (f64, f8e4m3, -(1 + 2**-4 + 2**-40), -(1 + 2**-3)),
    (f64, bf16, 2.0**-134 + 2.0**-180, 2.0**-133),
    (i64, bf16, 2**62 + 2**54 + 1, 2.0**62 + 2.0**55),
    (i64, bf16, -(2**62) - 2**54 - 1, -(2.0**62) - 2.0**55),
    (i64, bf16, 2**32 + 2**24 + 1, 2.0**32 + 2.0**25),
    (u64, bf16, 2**63 + 2**55 + 1, 2.0**63 + 2.0**56),
    (u64, bf16, 2**63 + 2**55, 2.0**63),
]


@pytest.mark.parametrize(("source", "target", "number", "wanted"), TWICE)
def test_narrow_floats_are_rounded_once(
    source: DType, target: DType, number: Any, wanted: float
) -> None:
    """Each number is beyond the middle of two by less than f32, or f64, can tell."""
    x = np.array(number, source.storage)
    assert float(evaluate(tensor.Cast, x, dtype=target)) == wanted


@pytest.mark.parametrize("target", sorted(FLOATS, key=repr), ids=repr)
def test_random_numbers_round_to_the_nearest(target: DType) -> None:
    random = np.random.default_rng(7)
    x = random.standard_normal(200) * 2.0 ** random.integers(-12, 8, 200)
    wanted = np.array([nearest(each, target) for each in x.tolist()])
    assert same(evaluate(tensor.Cast, x, dtype=target), wanted)


@pytest.mark.parametrize("source", EVERY, ids=repr)
def test_bitcast_there_and_back(source: DType) -> None:
    x = special(source)[:40]
    for target in (each for each in ALL if each.bits == source.bits):
        seen = evaluate(tensor.Bitcast, x, dtype=target)
        assert seen.tobytes() == x.tobytes()
        assert evaluate(tensor.Bitcast, seen, dtype=source).tobytes() == x.tobytes()


def test_bitcast_sees_the_bits() -> None:
    x = np.array([1.0, -0.0], np.float32)
    assert evaluate(tensor.Bitcast, x, dtype=BY_NAME["u32"]).tolist() == [0x3F800000, 0x80000000]
    ones = np.array([0x3C], np.uint8).view(ml_dtypes.float8_e5m2)
    assert evaluate(tensor.Bitcast, ones, dtype=i8).tolist() == [0x3C]


def test_bitcast_to_another_width_is_refused() -> None:
    with pytest.raises(VerifyError, match="32 bits are read as f64, which has 64"):
        evaluate(tensor.Bitcast, np.zeros(2, np.float32), dtype=f64)
    with pytest.raises(VerifyError, match="8 bits are read as bool, which has 1"):
        evaluate(tensor.Bitcast, np.zeros(2, np.int8), dtype=boolean)


@pytest.mark.parametrize("dtype", sorted(COMPLEXES, key=repr), ids=repr)
def test_parts_of_complex_numbers(dtype: DType) -> None:
    z = np.array([1 - 2j, complex(math.inf, math.nan), complex(-0.0, -0.0)], dtype.storage)
    real, imaginary = evaluate(tensor.Real, z), evaluate(tensor.Imaginary, z)
    assert same(real, np.array([1, math.inf, -0.0], dtype.real.storage))
    assert same(imaginary, np.array([-2, math.nan, -0.0], dtype.real.storage))
    assert same(evaluate(tensor.Complex, real, imaginary), z)
    mirrored = evaluate(tensor.Conjugate, z)
    assert same(evaluate(tensor.Real, mirrored), real)
    assert same(evaluate(tensor.Imaginary, mirrored), -imaginary)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 8, (2, 3)], ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 1.5, np.float32)
    z = evaluate(tensor.Complex, x, -x)
    assert same(z, np.full(shape, 1.5 - 1.5j, np.complex64))
    assert same(evaluate(tensor.Imaginary, z), -x)
    assert same(evaluate(tensor.Cast, x, dtype=i8), np.ones(shape, np.int8))
    assert evaluate(tensor.Bitcast, x, dtype=BY_NAME["i32"]).shape == shape


def test_strides_do_not_matter() -> None:
    x: Array = np.arange(12.0).reshape(3, 4).T[::2]
    assert same(evaluate(tensor.Cast, x, dtype=f32), x.astype(np.float32))
    assert evaluate(tensor.Bitcast, x, dtype=i64).tolist() == np.array(x).view(np.int64).tolist()
    assert same(evaluate(tensor.Complex, x, x), x + 1j * x)


def test_folding() -> None:
    assert folded(tensor.Cast, np.array(300.0), dtype=i8)[0] == 127
    assert folded(tensor.Complex, np.array(1.0), np.array(2.0))[0] == 1 + 2j


def test_wrong_dtypes_are_refused() -> None:
    for cls in (tensor.Real, tensor.Imaginary, tensor.Conjugate):
        with pytest.raises(VerifyError, match="expected a dtype among c128, c64"):
            evaluate(cls, np.zeros(2))
    half = np.zeros(2, np.float16)
    with pytest.raises(VerifyError, match="expected a dtype among f32, f64"):
        evaluate(tensor.Complex, half, half)
    with pytest.raises(VerifyError, match="dtype"):
        evaluate(tensor.Cast, np.zeros(2), dtype=np.float32)


def test_every_kind_is_covered() -> None:
    assert {dtype.kind for dtype in EVERY} == set(Kind)
    assert c64 in EVERY
