"""Reductions, scans, searches, sorts and random bits: as the tensor floor has them."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.builder import Builder
from brimstone.ir.declare import REGISTRY
from brimstone.ir.dtypes import BITS, FLOATS, DType, boolean, c64, f16, f32, i8, i32, i64, u32, u64
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.random import stream
from brimstone.ir.types import Scalar, Tensor, Tile, Type

Array = Any
DTYPES = sorted(BITS | FLOATS, key=lambda dtype: dtype.name)
RNG = np.random.default_rng(5)
PLANE = RNG.integers(-60, 60, (7, 6)) * 0.25


def emitted(cls: Any, types: list[Type], *arguments: Any, **attributes: Any) -> Any:
    func = Func("f", types)
    operands = arguments or func.arguments
    return Builder(func.body).emit_all(cls, *operands, **attributes)[0].op


def run(cls: Any, types: list[Type], *arrays: Array, **attributes: Any) -> Array:
    """The op's meaning, of the shape and dtype that it declares."""
    op = emitted(cls, types, **attributes)
    made = op.run(None, *arrays)
    assert (made.shape, made.dtype) == (op.results[0].type.shape, op.results[0].dtype.storage)
    return made


def both(
    cls: Any, name: str, x: Array, dtype: DType, here: dict[str, Any], there: dict[str, Any]
) -> tuple[bytes, bytes]:
    """The bits that the tile op and the tensor op make."""
    with np.errstate(all="ignore"):
        made = run(cls, [Tile(x.shape, dtype)], x, **here)
        expected = run(REGISTRY[f"tensor.{name}"], [Tensor(x.shape, dtype)], x, **there)
    return made.tobytes(), expected.tobytes()


def takes(name: str, dtype: DType) -> bool:
    accepted = REGISTRY[f"tensor.{name}"].operand_fields[0].rule.dtypes
    return accepted is None or dtype in accepted


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", tile.ReduceKind)
def test_a_reduction_is_the_tensor_floors(kind: tile.ReduceKind, dtype: DType) -> None:
    name = f"reduce_{kind.value}"
    if not takes(name, dtype):
        with pytest.raises(VerifyError, match=f"there is no {kind.value} of this dtype"):
            emitted(tile.Reduce, [Tile((2,), dtype)], axis=0, kind=kind)
        return
    for x in (PLANE, PLANE[:, :0]):
        stored = x.astype(dtype.storage)
        here = {"axis": 1, "kind": kind}
        made, expected = both(tile.Reduce, name, stored, dtype, here, {"axes": (1,)})
        assert made == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", tile.ScanKind)
def test_a_scan_is_the_tensor_floors(kind: tile.ScanKind, dtype: DType) -> None:
    name = f"cumulative_{kind.value}"
    if not takes(name, dtype):
        with pytest.raises(VerifyError, match=f"there is no {kind.value} of this dtype"):
            emitted(tile.Scan, [Tile((2,), dtype)], axis=0, kind=kind)
        return
    for reverse in (False, True):
        there = {"axis": 0, "reverse": reverse}
        x = PLANE.astype(dtype.storage)
        made, expected = both(tile.Scan, name, x, dtype, there | {"kind": kind}, there)
        assert made == expected


def test_sums_of_narrow_floats_round_once() -> None:
    x = np.array([2048, 1, 1], np.float16)
    assert run(tile.Reduce, [Tile((3,), f16)], x, axis=0, kind=tile.ReduceKind.SUM) == 2050
    scanned = run(tile.Scan, [Tile((3,), f16)], x, axis=0, kind=tile.ScanKind.SUM)
    assert scanned.tolist() == [2048, 2048, 2050]


def test_the_first_extreme_is_found_and_nan_before_all() -> None:
    x = np.array([[1, 3, 3], [2, np.nan, np.nan], [-0.0, 0.0, -1]], np.float32)
    types: list[Type] = [Tile((3, 3), f32)]
    for kind, expected in ((tile.ArgKind.MAXIMUM, [1, 1, 0]), (tile.ArgKind.MINIMUM, [0, 1, 2])):
        made = run(tile.ArgReduce, types, x, axis=1, kind=kind, dtype=i8)
        assert made.tolist() == expected


def test_a_sort_carries_values_along() -> None:
    keys, more = np.array([2, 1, np.nan, 2, -0.0, 0.0], np.float32), np.array([1, 9, 9, 0, 7, 7])
    places = np.arange(6)
    types: list[Type] = [Tile((6,), f32), Tile((6,), i64), Tile((6,), i64)]
    func = Func("f", types)
    for descending, expected in ((False, [4, 5, 1, 3, 0, 2]), (True, [0, 3, 1, 4, 5, 2])):
        op = emitted(tile.Sort, types, func.arguments, axis=0, keys=2, descending=descending)
        assert op.run(None, keys, more, places)[2].tolist() == expected


@pytest.mark.parametrize("index", [u32, i32, i64, u64])
def test_random_words_are_those_of_the_stream(index: DType) -> None:
    start = 37
    where = (np.arange(20) + start).reshape(4, 5).astype(index.storage)
    key = np.array([123, 0xFFFFFFFF], np.uint32)
    types: list[Type] = [Scalar(u32), Scalar(u32), Tile((4, 5), index)]
    made = run(tile.RandomBits, types, *[word.reshape(()) for word in key], where)
    assert made.ravel().tolist() == stream(key, start, 20).tolist()


def test_random_words_far_along_the_stream() -> None:
    start = 2**35 + 3
    types: list[Type] = [Scalar(u32), Scalar(u32), Tile((6,), i64)]
    key = np.array([1, 2], np.uint32)
    made = run(tile.RandomBits, types, *[word.reshape(()) for word in key], np.arange(6) + start)
    assert made.tolist() == stream(key, start, 6).tolist()


@pytest.mark.parametrize(
    ("cls", "shape", "dtype", "attributes", "problem"),
    [
        (tile.Reduce, (2,), f32, {"axis": 1, "kind": tile.ReduceKind.SUM}, "no such axis"),
        (tile.Reduce, (2,), c64, {"axis": 0, "kind": tile.ReduceKind.SUM}, "a dtype among"),
        (tile.Scan, (2,), f32, {"axis": -1, "kind": tile.ScanKind.SUM}, "no such axis"),
        (
            tile.ArgReduce,
            (2, 0),
            f32,
            {"axis": 1, "kind": tile.ArgKind.MAXIMUM, "dtype": i32},
            "the axis is empty",
        ),
        (
            tile.ArgReduce,
            (2,),
            f32,
            {"axis": 0, "kind": tile.ArgKind.MAXIMUM, "dtype": f32},
            "places are integers",
        ),
        (
            tile.ArgReduce,
            (200,),
            boolean,
            {"axis": 0, "kind": tile.ArgKind.MAXIMUM, "dtype": i8},
            "200 places",
        ),
    ],
)
def test_what_does_not_fit(
    cls: Any, shape: tuple[int, ...], dtype: DType, attributes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(VerifyError, match=problem):
        emitted(cls, [Tile(shape, dtype)], **attributes)


@pytest.mark.parametrize(
    ("types", "keys", "problem"),
    [
        ([], 1, "expected 1 to 0"),
        ([Tile((3,), f32)], 2, "expected 1 to 1"),
        ([Tile((3,), f32), Tile((4,), f32)], 1, "the shapes differ"),
    ],
)
def test_sorts_that_do_not_fit(types: list[Type], keys: int, problem: str) -> None:
    func = Func("f", types)
    with pytest.raises(VerifyError, match=problem):
        Builder(func.body).emit(tile.Sort, func.arguments, axis=0, keys=keys)


def test_a_constant_is_one_number() -> None:
    builder = Builder(Func("f").body)
    with pytest.raises(VerifyError, match="complex numbers live on the tensor floor only"):
        builder.emit(tile.Constant, Number(1j, c64))
