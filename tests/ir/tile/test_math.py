"""Families of arithmetic: each kind is its tensor op, on tiles and on scalars."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.builder import Builder
from brimstone.ir.declare import REGISTRY
from brimstone.ir.dtypes import (
    BITS,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    DType,
    Kind,
    boolean,
    f16,
    f32,
    i64,
)
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func
from brimstone.ir.payloads import Number
from brimstone.ir.shared.kinds import dtypes_of, tensor_op
from brimstone.ir.types import Scalar, Tensor, Tile, Type, View

KINDS = [*tile.UnaryKind, *tile.BinaryKind, *tile.CompareKind]
BY_NAME = sorted(FLOATS | BITS, key=lambda dtype: dtype.name)


def emitted(cls: Any, types: list[Type], **attributes: Any) -> Any:
    func = Func("f", types)
    return Builder(func.body).emit(cls, *func.arguments, **attributes).op


def samples(dtype: DType) -> list[Any]:
    """Two arrays that meet in many ways."""
    if dtype.kind is Kind.FLOAT:
        numbers = np.array([0.0, -0.0, 1.0, -1.5, 0.75, 3.0, 40.0, np.inf, -np.inf, np.nan])
    else:
        numbers = np.array([0, 1, 2, 5, 77, -1, -3, -128, 100, 3]) * (dtype.kind is not Kind.BOOL)
        numbers[::2] |= dtype.kind is Kind.BOOL
    left, right = np.meshgrid(numbers, numbers)
    return [each.ravel().astype(dtype.storage) for each in (left, right)]


def family(kind: Any) -> Any:
    if isinstance(kind, tile.UnaryKind):
        return tile.Unary
    return tile.Binary if isinstance(kind, tile.BinaryKind) else tile.Compare


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_its_tensor_op(kind: Any) -> None:
    count = len(tensor_op(kind).operand_fields)
    assert dtypes_of(kind)
    for dtype in dtypes_of(kind):
        arrays = samples(dtype)[:count]
        (shape,) = {array.shape for array in arrays}
        tensor_types: list[Type] = [Tensor(shape, dtype)] * count
        expected = emitted(tensor_op(kind), tensor_types).run(None, *arrays)
        op = emitted(family(kind), [Tile(shape, dtype)] * count, kind=kind)
        made = op.run(None, *arrays)
        assert made.dtype == op.result.dtype.storage
        assert made.tobytes() == np.asarray(expected).tobytes()
        scalar = emitted(family(kind), [Scalar(dtype)] * count, kind=kind)
        one = scalar.run(None, *[array[2, ...] for array in arrays])
        assert (one.shape, one.tobytes()) == ((), made[2].tobytes())


def test_all_elementwise_ops_of_one_result_dtype_have_a_kind() -> None:
    """A function that the tensor floor has and this one has not could not be lowered."""
    elementwise = {
        name.removeprefix("tensor.")
        for name, op in REGISTRY.items()
        if name.startswith("tensor.") and hasattr(op, "meaning")
    }
    elsewhere = {"real", "imaginary", "conjugate", "is_nan", "is_finite", "stop_gradient"}
    assert elementwise - {kind.value for kind in KINDS} == elsewhere


@pytest.mark.parametrize("kind", KINDS)
def test_another_dtype_is_refused(kind: Any) -> None:
    count = len(tensor_op(kind).operand_fields)
    for dtype in {*BY_NAME, *COMPLEXES} - dtypes_of(kind):
        with pytest.raises(VerifyError, match=r"of this dtype|expected a dtype among"):
            emitted(family(kind), [Tile((4,), dtype)] * count, kind=kind)


@pytest.mark.parametrize("source", BY_NAME)
def test_casts_are_the_tensor_floors(source: DType) -> None:
    (x, _) = samples(source)
    with np.errstate(all="ignore"):
        for target in BY_NAME:
            op = emitted(tile.Cast, [Tile(x.shape, source)], dtype=target)
            same = emitted(REGISTRY["tensor.cast"], [Tensor(x.shape, source)], dtype=target)
            made, expected = (each.run(None, x) for each in (op, same))
            assert made.dtype == target.storage
            assert made.tobytes() == expected.tobytes()


def constant(builder: Builder, value: Any, dtype: DType) -> Any:
    return builder.emit(tile.Constant, Number(value, dtype))


def test_constants_are_folded() -> None:
    builder = Builder(Func("f").body)
    seven, two = constant(builder, 7, i64), constant(builder, 2, i64)
    product = builder.emit(tile.Binary, seven, two, kind=tile.BinaryKind.MULTIPLY)
    assert product is constant(builder, 14, i64)
    less = builder.emit(tile.Compare, two, product, kind=tile.CompareKind.LESS)
    assert less is constant(builder, True, boolean)
    assert builder.emit(tile.Select, less, seven, two) is seven
    narrow = builder.emit(tile.Cast, constant(builder, 0.1, f32), dtype=f16)
    assert narrow is constant(builder, 0.1, f16)
    assert builder.emit(tile.Bitcast, seven, dtype=i64) is seven
    assert all(op.name == "tile.constant" for op in builder.block)


def test_what_is_assumed_stays() -> None:
    builder = Builder(Func("f").body)
    false = constant(builder, False, boolean)
    builder.emit_all(tile.Assume, false)
    assert builder.block.last is not None
    assert builder.block.last.name == "tile.assume"


def test_equal_arithmetic_is_one_op_and_equal_loads_are_two() -> None:
    func = Func("f", [View(1, f32)])
    builder = Builder(func.body)
    zero = constant(builder, 0, i64)
    loads = [
        builder.emit(tile.Load, func.arguments[0], [zero], shape=(4,), padding=Number(0.0, f32))
        for _ in range(2)
    ]
    assert loads[0] is not loads[1]
    sums = [builder.emit(tile.Binary, *loads, kind=tile.BinaryKind.ADD) for _ in range(2)]
    assert sums[0] is sums[1]


def test_shifts_and_counts_take_integers_only() -> None:
    assert dtypes_of(tile.BinaryKind.SHIFT_LEFT) == INTEGERS
    assert dtypes_of(tile.UnaryKind.COUNT_ONES) == INTEGERS
