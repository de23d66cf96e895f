"""The interpreter gives the same bits however its arrays lie in memory."""

import numpy as np
import pytest

from brimstone.ir import dtypes, tensor
from brimstone.ir.dtypes import DType, Kind
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.passes.oracle import difference
from kit.recipes import drawable

FUNCTIONS = [
    (cls.name, dtype)
    for cls in drawable()
    if issubclass(cls, tensor.transcendental.Function) or cls in (tensor.Erf, tensor.CubeRoot)
    for dtype in (dtypes.f16, dtypes.f32, dtypes.f64, dtypes.c64, dtypes.c128)
    if dtype in (cls.operand_fields[0].rule.dtypes or ())
]


@pytest.mark.parametrize(("function", "dtype"), FUNCTIONS)
def test_layout_changes_no_bit(function: str, dtype: DType) -> None:
    """Views that run backwards or in steps are computed as copies of them are."""
    type_ = f"tensor<[37], {dtype}>"
    module = parse(
        f"func @f(%x: {type_}) -> {type_} {{\n  %y = {function} %x : {type_}\n  return %y\n}}\n"
    )
    base = np.random.default_rng(0).standard_normal(74).astype(dtype.storage)
    if dtype.kind is Kind.COMPLEX:
        base += np.random.default_rng(1).standard_normal(74) * dtype.storage.type(1j)
    for view in (base[:37][::-1], base[::2], base[::-2]):
        (found,) = interpret(module, view)
        (expected,) = interpret(module, view.copy())
        assert difference([expected], [found]) is None


def test_one_element_that_runs_backwards_is_one_element() -> None:
    """numpy calls it contiguous, and computes it as if it were not."""
    type_ = "tensor<[1], f32>"
    module = parse(
        f"func @f(%x: {type_}) -> {type_} {{\n  %y = tensor.sinh %x : {type_}\n  return %y\n}}\n"
    )
    for number in np.random.default_rng(0).standard_normal(50).astype(np.float32):
        x = np.array([number])
        assert difference(interpret(module, x), interpret(module, x[::-1])) is None


@pytest.mark.parametrize("dtype", [dtypes.f16, dtypes.f64, dtypes.c64, dtypes.c128])
@pytest.mark.parametrize("op", ["sum", "product"])
def test_a_reduction_of_one_element_is_that_element(op: str, dtype: DType) -> None:
    type_ = f"tensor<[6], {dtype}>"
    module = parse(
        f"func @f(%x: {type_}) -> {type_} {{\n"
        f"  %y = tensor.reduce_{op} %x {{axes = []}} : {type_}\n  return %y\n}}\n"
    )
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.5]
    x = np.array(numbers, dtype.storage)
    if dtype.kind is Kind.COMPLEX:
        x.imag = numbers[::-1]
    assert difference([x], interpret(module, x)) is None
