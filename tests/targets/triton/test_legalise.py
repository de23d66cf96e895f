"""Tiles of odd sizes: rounded up, they do the same, amid poison and in Triton's own interpreter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile, verify
from brimstone.ir.dtypes import DType, bf16, boolean, f8e4m3, f32, i8, i32, i64, u8, u32
from brimstone.ir.func import Func, Module
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.indexing import Combiner
from brimstone.ir.tile import ArgKind, ReduceKind, ScanKind
from brimstone.ir.types import Tile
from brimstone.targets.triton import Refused, legalise
from brimstone.targets.triton.legalise import rounded_up
from kit.interpret import run_triton
from kit.kernels import window_on
from kit.tile_builder import Sketch, Term

ROWS, COLUMNS = 5, 11
Build = Callable[[Sketch, Term], Term]


def kernel(build: Build, dtype: DType, result: str, shape: tuple[int, ...] = (3, 7)) -> Func:
    """Programs that load tiles of `shape`, beyond both ends, and store what is made of them."""
    sketch = Sketch("odd", {"x": f"m n {dtype}", "y": result}, facts=False, grid=[3])
    at = sketch.program() * shape[0] - 1
    x = sketch.load("x", [at, -2], shape, padding=1)
    made = build(sketch, x)
    rank = len(made.shape)
    sketch.store("y", [at, -2][:rank] if rank < 3 else [0, 0, 0], made)
    return sketch.finish()


def checked(func: Func, arrays: list[Any]) -> None:
    """The func, the legal one and its source store the same, and nothing else."""
    legal = legalise(func)
    verify(Module([legal]))
    tiles = [value for op in legal.walk() for value in op.results if isinstance(value.type, Tile)]
    assert all(rounded_up(value.type.shape) == value.type.shape for value in tiles)
    expected, made, printed = [
        [window_on(array, place) for place, array in enumerate(arrays)] for _ in range(3)
    ]
    tile.run_kernel(func, expected)
    tile.run_kernel(legal, made)
    run_triton(func, printed)
    for windows in (made, printed):
        assert all(tile.is_intact(window) for window in windows)
        for found, wanted in zip(windows, expected, strict=True):
            np.testing.assert_array_equal(plain(found.array()), plain(wanted.array()))


def plain(array: Any) -> Any:
    """Numbers that numpy itself knows, and among them NaN."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def numbers(dtype: DType, *shape: int) -> Any:
    """Small numbers, special ones among them."""
    made = np.random.default_rng(len(dtype.name)).integers(-4, 5, shape)
    array = made.astype(dtype.storage) if dtype is not boolean else made > 0
    if dtype in (f32, bf16):
        array[0, 1], array[1, 2], array[2, 3] = np.nan, np.inf, -np.inf
    return array


REDUCED = [(kind, dtype) for kind in ReduceKind for dtype in (f32, bf16, i8, u32, boolean, f8e4m3)]
FLOATING = (f32, bf16, f8e4m3)


def taken(kind: Any, dtype: DType) -> bool:
    if kind.value in ("and", "or"):
        return dtype not in FLOATING
    return dtype is not boolean or kind.value in ("maximum", "minimum")


@pytest.mark.parametrize(
    ("kind", "dtype"), [(kind, dtype) for kind, dtype in REDUCED if taken(kind, dtype)]
)
def test_reductions(kind: ReduceKind, dtype: DType) -> None:
    func = kernel(lambda _, x: x.reduce(kind.value, 1), dtype, f"m {dtype}")
    checked(func, [numbers(dtype, ROWS, COLUMNS), np.zeros(ROWS, dtype.storage)])


@pytest.mark.parametrize("dtype", [f32, bf16, i8, u8, boolean])
@pytest.mark.parametrize("kind", ArgKind)
def test_places_of_extremes(kind: ArgKind, dtype: DType) -> None:
    def build(_: Sketch, x: Term) -> Term:
        return x.emit(tile.ArgReduce, axis=1, kind=kind, dtype=i32)

    checked(
        kernel(build, dtype, "m i32"), [numbers(dtype, ROWS, COLUMNS), np.zeros(ROWS, np.int32)]
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ScanKind)
def test_scans(kind: ScanKind, reverse: bool) -> None:
    def build(_: Sketch, x: Term) -> Term:
        return x.emit(tile.Scan, axis=1, kind=kind, reverse=reverse)

    checked(kernel(build, f32, "m n f32"), [numbers(f32, ROWS, COLUMNS)] * 2)


@pytest.mark.parametrize("dtype", [f32, bf16, i8, u8, boolean])
@pytest.mark.parametrize("descending", [False, True])
def test_sorts_of_two_keys(descending: bool, dtype: DType) -> None:
    def build(sketch: Sketch, x: Term) -> Term:
        half = x.emit(tile.Compare, x, kind=tile.CompareKind.NOT_EQUAL)  # where there is NaN
        values = [half.value, x.value, sketch.iota((3, 7), 1, i32).value]
        ordered = sketch.builder.emit_all(tile.Sort, values, axis=1, keys=2, descending=descending)
        return Term(sketch, ordered[2])

    arrays = [numbers(dtype, ROWS, COLUMNS), np.zeros((ROWS, COLUMNS), np.int32)]
    checked(kernel(build, dtype, "m n i32"), arrays)


def test_products() -> None:
    """What lies beyond the inner size may be NaN or infinite."""

    def build(sketch: Sketch, x: Term) -> Term:
        other = sketch.load("x", [0, 1], (7, 6))
        return x.dot(other, sketch.full(1.0, (3, 6), f32))

    array = numbers(f32, ROWS, COLUMNS)
    array[:3, :4] = 1.0
    checked(kernel(build, f32, "m n f32"), [array, np.zeros_like(array)])


@pytest.mark.parametrize("combiner", [Combiner.SET, Combiner.ADD])
def test_scatters(combiner: Combiner) -> None:
    def build(sketch: Sketch, x: Term) -> Term:
        places = sketch.iota((3, 7), 1) % 4
        rows = sketch.iota((3, 7), 0) + sketch.program() * 3
        view = sketch.views["y"]
        operands = (view, x.value, [rows.value, places.value])
        sketch.builder.emit_all(tile.Scatter, *operands, combiner=combiner)
        return sketch.load("x", [100, 0], (1, 1), 0)

    func = kernel(build, i32, "m n i32")
    checked(func, [numbers(i32, ROWS, COLUMNS), np.zeros((ROWS, COLUMNS), np.int32)])


def test_loops_and_gathers() -> None:
    def build(sketch: Sketch, x: Term) -> Term:
        def body(at: Term, total: Term) -> list[Term]:
            places = [sketch.iota((3, 7), axis) * 2 + at for axis in (0, 1)]
            view, values = sketch.views["x"], [each.value for each in places]
            found = sketch.builder.emit(tile.Gather, view, values, padding=Number(2, i64))
            return [total + Term(sketch, found)]

        return sketch.loop((0, 3, 1), [x], body)[0]

    checked(kernel(build, i64, "m n i64"), [numbers(i64, ROWS, COLUMNS)] * 2)


def test_only_axes_of_one_come_and_go() -> None:
    func = kernel(lambda _, x: x.emit(tile.Reshape, shape=(3, 1, 7)), i32, "m k n i32")
    checked(func, [numbers(i32, ROWS, COLUMNS), np.zeros((ROWS, 2, COLUMNS), np.int32)])


REFUSALS: dict[str, tuple[Build, str]] = {
    "reshape": (lambda _, x: x.emit(tile.Reshape, shape=(7, 3)), "cuts lines of odd sizes"),
    "concat": (
        lambda sketch, x: sketch.emit(tile.Concat, [x.value, x.value], axis=1),
        "no power of two",
    ),
    "empty": (lambda sketch, _: sketch.load("x", [0, 0], (0, 4)), "has no elements"),
    "large": (lambda sketch, _: sketch.load("x", [0, 0], (1025, 1025)), "more than 1048576"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    build, reason = REFUSALS[name]
    with pytest.raises(Refused, match=reason):
        legalise(kernel(build, f32, "m n f32"))


def test_what_is_legal_stays() -> None:
    func = kernel(lambda _, x: x, f32, "m n f32", shape=(2, 8))
    assert legalise(func) is func
