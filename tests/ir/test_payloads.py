"""Numbers and arrays that constants carry: interned by bits, printed so that the bits come back."""

import copy
import pickle

import numpy as np
import pytest

from brimstone.ir import dtypes
from brimstone.ir.dtypes import ALL, DType, bf16, boolean, c64, f8e4m3, f16, f32, f64, i8, i32, u8
from brimstone.ir.errors import Unmet
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number, number_text, parse_number, payload
from brimstone.ir.printer import print_module
from kit.draft import ordered
from kit.special import special


@pytest.mark.parametrize("dtype", ordered(ALL), ids=str)
def test_special_numbers_come_back_bit_for_bit(dtype: DType) -> None:
    for element in special(dtype):
        array = np.asarray(element, dtype.storage)
        text = number_text(array, dtype)
        assert parse_number(text, dtype).tobytes() == array.tobytes(), text


@pytest.mark.parametrize("dtype", [dtypes.f8e4m3, dtypes.f8e5m2, f16, bf16], ids=str)
def test_every_narrow_float_comes_back_bit_for_bit(dtype: DType) -> None:
    unsigned = np.uint8 if dtype.itemsize == 1 else np.uint16
    every = np.arange(1 << dtype.bits, dtype=np.uint32).astype(unsigned).view(dtype.storage)
    for element in every[:: max(1, len(every) // 4096)]:
        array = np.asarray(element)
        assert parse_number(number_text(array, dtype), dtype).tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
def test_random_bits_come_back(dtype: DType) -> None:
    words = np.random.default_rng(0).integers(0, 256, (2000, dtype.itemsize), np.uint8)
    for element in words.view(dtype.storage)[:, 0]:
        array = np.asarray(element)
        assert parse_number(number_text(array, dtype), dtype).tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4), (1,), (3,), (2, 2), (1, 2, 1, 2)])
@pytest.mark.parametrize("dtype", [boolean, i8, bf16, f32, c64], ids=str)
def test_arrays_come_back(dtype: DType, shape: tuple[int, ...]) -> None:
    known = special(dtype)
    array = np.resize(known, shape).astype(dtype.storage)
    text = (
        f"func @f() {{\n  %0 = tensor.constant {{value = {payload(array, dtype).text}}} "
        f": tensor<{list(shape)}, {dtype}>\n  return\n}}\n"
    )
    module = parse(text)
    assert print_module(module) == text
    assert next(iter(module.main.body)).attributes == (payload(array, dtype),)


def test_numbers_with_the_same_bits_are_one() -> None:
    assert Number(0.5, f32) is Number(0.5, f32)
    assert Number(1, f32) is Number(1.0, f32)
    assert Number(0.0, f32) is not Number(-0.0, f32)
    assert Number(0.0, f32) is not Number(0.0, f64)
    assert Number(True, boolean) is not Number(1, i8)
    assert Number(float("nan"), f32) is Number(float("nan"), f32)


def test_arrays_with_the_same_bits_are_one() -> None:
    ones = np.ones((2, 3), np.float32)
    assert payload(ones, f32) is payload(np.ones((3, 2), np.float32).T, f32)
    assert payload(ones, f32) is not payload(-ones * 0, f32)
    assert payload(ones, f32) is not payload(ones.reshape(3, 2), f32)
    assert payload(np.asarray(2.0), f32) is Number(2.0, f32)


def test_an_array_cannot_be_changed() -> None:
    ones = np.ones(3, np.float32)
    dense = payload(ones, f32)
    ones[0] = 7
    assert dense.text == "[1.0, 1.0, 1.0]"
    with pytest.raises(ValueError, match="read-only"):
        dense.array[0] = 7


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (True, boolean, "true"),
        (-128, i8, "-128"),
        (1.0, f32, "1.0"),
        (0.1, f32, "0.1"),
        (0.1, bf16, "0.10009765625"),
        (1e30, f32, "1e+30"),
        (float("inf"), f16, "inf"),
        (float("-inf"), f64, "-inf"),
        (float("nan"), f32, "nan"),
        (1 + 2j, c64, "(1.0, 2.0)"),
    ],
)
def test_numbers_as_people_see_them(value: complex, dtype: DType, text: str) -> None:
    assert Number(value, dtype).text == text


@pytest.mark.parametrize(
    ("value", "dtype", "said"),
    [
        (1.0, i32, "1.0 is not a value of i32"),
        (True, i8, "True is not a value of i8"),
        (1, boolean, "1 is not a value of bool"),
        (1j, f32, "1j is not a value of f32"),
        (256, u8, "256 does not fit u8"),
        (-1, u8, "-1 does not fit u8"),
    ],
)
def test_other_numbers_are_refused(value: complex, dtype: DType, said: str) -> None:
    with pytest.raises(Unmet) as caught:
        Number(value, dtype)
    assert str(caught.value) == said


def test_text_may_say_bits() -> None:
    assert parse_number("0x7fc00001", f32).tobytes() == b"\x01\x00\xc0\x7f"
    assert parse_number("0x80", f8e4m3).tobytes() == b"\x80"
    with pytest.raises(Unmet, match="0x100 has more bits than f8e4m3"):
        parse_number("0x100", f8e4m3)


def test_payloads_are_the_same_after_a_journey() -> None:
    for each in (Number(-0.0, f32), Number(1, i8), payload(np.arange(3, dtype=np.int8), i8)):
        assert pickle.loads(pickle.dumps(each)) is each
        assert copy.deepcopy(each) is each
