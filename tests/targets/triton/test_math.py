"""Each kind of arithmetic and each cast, for each dtype: the source against the op itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import BITS, FLOATS, INTEGERS, ORDERED, DType, Kind, boolean, i64, u64
from brimstone.ir.func import Func, Return
from brimstone.ir.payloads import Number, payload
from brimstone.ir.shared.kinds import dtypes_of
from brimstone.ir.tile import BinaryKind, CompareKind, UnaryKind
from brimstone.ir.types import View
from brimstone.targets.triton import Refused, print_triton
from kit.interpret import run_triton

BY_NAME = sorted(FLOATS | BITS, key=lambda dtype: dtype.name)
KINDS = [*UnaryKind, *BinaryKind, *CompareKind]
SIZE = 128
REFUSED = {UnaryKind.DIGAMMA: FLOATS, BinaryKind.NEXT_AFTER: {d for d in FLOATS if d.bits < 32}}


def samples(dtype: DType) -> tuple[Any, Any]:
    """Two arrays that meet in many ways."""
    if dtype.kind is Kind.FLOAT:
        numbers = np.array([0.0, -0.0, 1.0, -1.5, 0.75, 3.0, 40.0, np.inf, -np.inf, np.nan, -2.0])
    else:
        numbers = np.array([0, 1, 2, 5, 77, -1, -3, -128, 100, 3, 7])
        numbers = numbers % 2 if dtype is boolean else numbers
    left, right = np.meshgrid(numbers, numbers)
    with np.errstate(all="ignore"):
        return tuple(
            np.append(each, np.ones(SIZE - each.size)).astype(numbers.dtype).astype(dtype.storage)
            for each in (left.ravel(), right.ravel())
        )  # pyright: ignore[reportReturnType]


def family(kind: Any) -> Any:
    if isinstance(kind, UnaryKind):
        return tile.Unary
    return tile.Binary if isinstance(kind, BinaryKind) else tile.Compare


class Chart:
    """A kernel that stores what each of many functions makes of the same tiles."""

    def __init__(self, sources: Sequence[DType], results: Sequence[DType]) -> None:
        types = [View(1, dtype, {"size": [SIZE]}) for dtype in (*sources, *results)]
        self.func = Func("chart", types, attributes={"grid": [1]})
        self.builder = Builder(self.func.body)
        self.zero = self.builder.emit(tile.Constant, Number(0, i64))
        self.reads = [
            self.builder.emit(
                tile.Load, view, [self.zero], shape=(SIZE,), padding=self.padding(view.dtype)
            )
            for view in self.func.arguments[: len(sources)]
        ]
        self.written = len(sources)

    def padding(self, dtype: DType) -> Number:
        zero = {Kind.BOOL: False, Kind.FLOAT: 0.0}.get(dtype.kind, 0)
        return Number(zero, dtype)

    def store(self, value: Any) -> None:
        view = self.func.arguments[self.written]
        self.written += 1
        self.builder.emit_all(tile.Store, view, value, [self.zero])

    def finish(self) -> Func:
        self.builder.emit_all(Return, [])
        return self.func


def compared(func: Func, arguments: list[Any], names: Sequence[Any]) -> None:
    """Run both, and compare the last arguments."""
    outputs = [np.zeros(SIZE, value.dtype.storage) for value in func.arguments[len(arguments) :]]
    expected, made = [[*arguments, *[each.copy() for each in outputs]] for _ in range(2)]
    tile.run_kernel(func, expected)
    run_triton(func, made)
    for name, wanted, found in zip(
        names, expected[-len(names) :], made[-len(names) :], strict=True
    ):
        exact = wanted.dtype.kind in "iub"
        numbers = [each if exact else each.astype(np.float64) for each in (found, wanted)]
        np.testing.assert_allclose(*numbers, rtol=0 if exact else 2e-6, err_msg=str(name))
        if not exact:
            finite = wanted == 0
            signs = [np.signbit(each.astype(np.float64))[finite] for each in (found, wanted)]
            if name not in (BinaryKind.MAXIMUM, BinaryKind.MINIMUM):  # numpy's zeros are equal
                np.testing.assert_array_equal(*signs, err_msg=str(name))


@pytest.mark.parametrize("dtype", BY_NAME)
def test_arithmetic(dtype: DType) -> None:
    kinds = [
        kind for kind in KINDS if dtype in dtypes_of(kind) and dtype not in REFUSED.get(kind, ())
    ]
    results = [boolean if isinstance(kind, CompareKind) else dtype for kind in kinds]
    chart = Chart([dtype, dtype], results)
    for kind in kinds:
        reads = chart.reads[:1] if isinstance(kind, UnaryKind) else chart.reads
        chart.store(chart.builder.emit(family(kind), *reads, kind=kind))
    compared(chart.finish(), list(samples(dtype)), kinds)


@pytest.mark.parametrize("dtype", BY_NAME)
def test_casts(dtype: DType) -> None:
    narrow = [each for each in FLOATS if each.bits < 32]
    targets = [each for each in BY_NAME if not (dtype in (i64, u64) and each in narrow)]
    chart = Chart([dtype], targets)
    for target in targets:
        chart.store(chart.builder.emit(tile.Cast, chart.reads[0], target))
    compared(chart.finish(), [edges(dtype)], targets)


@pytest.mark.parametrize("dtype", BY_NAME)
def test_constants(dtype: DType) -> None:
    """Also those whose sign or dtype some version of Triton forgets."""
    distinct = {each.tobytes(): each for each in edges(dtype)}
    numbers = [payload(each, dtype) for each in distinct.values()]
    chart = Chart([], [dtype] * len(numbers))
    for number in numbers:
        constant = chart.builder.emit(tile.Constant, number)
        chart.store(chart.builder.emit(tile.Full, constant, shape=(SIZE,)))
    compared(chart.finish(), [], numbers)


def edges(dtype: DType) -> Any:
    """Numbers at which casts round, saturate or overflow."""
    if dtype is boolean:
        return np.arange(SIZE) % 2 == 0
    if dtype in INTEGERS:
        info = np.iinfo(dtype.storage)
        listed = [0, 1, 2, 3, 100, 127, info.max, info.max - 1, info.min, info.min + 1, 65, 33]
        return np.resize(np.array(listed, dtype.storage), SIZE)
    listed = [
        0.0,
        -0.0,
        1.9,
        -1.9,
        127.5,
        128.0,
        -129.0,
        255.0,
        256.0,
        464.0,
        465.0,
        61439.0,
        61440.0,
    ]
    listed += [
        65519.0,
        65520.0,
        2147483520.0,
        2147483648.0,
        -2147483648.0,
        4294967296.0,
        1e19,
        -1e19,
    ]
    listed += [np.inf, -np.inf, np.nan, 1.00390625, 1.003906250001, 1.0000001, 3e-8, 1e-45, 9.3e18]
    with np.errstate(all="ignore"):
        return np.resize(np.array(listed).astype(dtype.storage), SIZE)


@pytest.mark.parametrize(
    ("kind", "dtype"), [(kind, dtype) for kind, all_ in REFUSED.items() for dtype in all_]
)
def test_what_no_library_has(kind: Any, dtype: DType) -> None:
    chart = Chart([dtype, dtype], [dtype])
    count = 1 if isinstance(kind, UnaryKind) else 2
    chart.store(chart.builder.emit(family(kind), *chart.reads[:count], kind=kind))
    with pytest.raises(Refused, match="libdevice"):
        print_triton(chart.finish())


@pytest.mark.parametrize("dtype", [each for each in FLOATS if each.bits < 32])
def test_an_integer_is_not_rounded_twice(dtype: DType) -> None:
    chart = Chart([i64], [dtype])
    chart.store(chart.builder.emit(tile.Cast, chart.reads[0], dtype))
    with pytest.raises(Refused, match="rounded twice"):
        print_triton(chart.finish())


def test_all_dtypes_are_here() -> None:
    assert set(BY_NAME) == ORDERED
