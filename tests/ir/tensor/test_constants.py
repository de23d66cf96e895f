"""Constants and counting."""

import math

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import ALL, NUMBERS, DType, bf16, boolean, f32, i8, i32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number, payload
from brimstone.ir.printer import print_module
from kit.evaluate import evaluate, same
from kit.special import special


@pytest.mark.parametrize("dtype", sorted(ALL, key=repr), ids=repr)
def test_constants_come_back_as_they_went_in(dtype: DType) -> None:
    numbers = np.resize(special(dtype), 24)
    for shape in ((), (24,), (2, 0, 3), (2, 3, 4)):
        array = numbers[: math.prod(shape)].reshape(shape)
        found = evaluate(tensor.Constant, value=payload(array, dtype))
        assert same(found, array)


def test_a_number_is_rounded_once() -> None:
    assert Number(1 + 2**-8 + 2**-40, bf16).value == 1 + 2**-7


@pytest.mark.parametrize("dtype", sorted(NUMBERS, key=repr), ids=repr)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_iota(dtype: DType, axis: int) -> None:
    found = evaluate(tensor.Iota, shape=(2, 3, 4), axis=axis, dtype=dtype)
    assert same(found, np.indices((2, 3, 4))[axis].astype(dtype.storage))


def test_iota_wraps_and_rounds_as_a_cast_does() -> None:
    assert evaluate(tensor.Iota, shape=(300,), axis=0, dtype=i8)[[127, 128, 299]].tolist() == [
        127,
        -128,
        43,
    ]
    found = evaluate(tensor.Iota, shape=(300,), axis=0, dtype=bf16)
    assert float(found[257]) == 256


@pytest.mark.parametrize("shape", [(0,), (2, 0), (1,) * 8, (2,) * 8], ids=str)
def test_iota_of_every_shape(shape: tuple[int, ...]) -> None:
    found = evaluate(tensor.Iota, shape=shape, axis=len(shape) - 1, dtype=i32)
    assert same(found, np.indices(shape)[-1].astype(np.int32))


def test_iota_of_a_symbolic_size() -> None:
    n = Symbol("n")
    func = Func("f", (), (n,))
    builder = Builder(func.body)
    builder.emit_all(Return, [builder.emit(tensor.Iota, shape=(n * 2, 2), axis=0, dtype=i32)])
    module = parse(print_module(Module([func])), "test")
    (found,) = interpret(module, sizes={"n": 2})
    assert found.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_wrong_attributes_are_refused() -> None:
    with pytest.raises(
        VerifyError, match=r"axis 1 is outside 0\.\.0, the axes: tensor<\[3\], f32>"
    ):
        evaluate(tensor.Iota, shape=(3,), axis=1, dtype=f32)
    with pytest.raises(VerifyError, match="axis 0 is outside a tensor of rank 0"):
        evaluate(tensor.Iota, shape=(), axis=0, dtype=f32)
    with pytest.raises(VerifyError, match="cannot count in this dtype: bool"):
        evaluate(tensor.Iota, shape=(3,), axis=0, dtype=boolean)
