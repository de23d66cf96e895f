"""A case of every op of the tile floor: a kernel of 4 programs, each for 8 of 29 rows.

Comes in: nothing. Goes out: `CASES`, by the name of the op. A case's function is handed a tile of
those rows of each input that has so many, and returns the tile to store there, or stores by itself;
`meaning` says in numpy what a program makes of its rows.
Never: a test.
"""

from collections.abc import Callable

import ml_dtypes
import numpy as np

from brimstone.ir import tile
from brimstone.ir.dtypes import bf16, f32, i32, u8, u32
from brimstone.ir.func import Module, Yield
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.indexing import Combiner
from brimstone.ir.tensor.random import stream
from brimstone.ir.types import INDEX
from kit.kernels import PROGRAMS, ROWS, TILE, Array, Case, Kernel, Value, numbers, padded

CASES: dict[str, Case] = {}
BINARY = tile.BinaryKind
E4M3 = ml_dtypes.float8_e4m3fn


def case(
    name: str,
    *inputs: Array,
    meaning: Callable[..., Array] | None = None,
    whole: Array = None,
    padding: float = 0.0,
) -> Callable[[Callable[..., Value]], None]:
    """Enter the decorated function as the case of an op; `whole` is the result if it stores."""

    def enter(build: Callable[..., Value]) -> None:
        CASES[name] = Case(build, inputs, meaning, whole, padding)

    return enter


LINE, OTHER = numbers(ROWS), numbers(ROWS, 2)[:, 1]
PLANE, RIGHT = numbers(ROWS, 13), numbers(13, 11)
SCALE, RIGHT_SCALE = (numbers(*size, dtype=np.uint8, low=0) + 120 for size in ((ROWS, 4), (4, 11)))


@case("tile.program_id", meaning=lambda at: np.full(TILE, at))
def _(k: Kernel) -> Value:
    return k.full(k.program)


@case("tile.program_count", meaning=lambda at: np.full(TILE, PROGRAMS))
def _(k: Kernel) -> Value:
    return k.full(k(tile.ProgramCount, axis=0))


@case("tile.constant", meaning=lambda at: np.full(TILE, 2.5, ml_dtypes.bfloat16))
def _(k: Kernel) -> Value:
    return k.full(k.number(2.5, bf16))


@case("tile.full", meaning=lambda at: np.full(TILE, at * TILE))
def _(k: Kernel) -> Value:
    return k(tile.Full, k.row, shape=(TILE,))


@case("tile.iota", meaning=lambda at: np.arange(TILE, dtype=np.uint8))
def _(k: Kernel) -> Value:
    return k(tile.Iota, shape=(TILE,), axis=0, dtype=u8)


def of_part(at: int, _: Array) -> Array:
    shown = padded(PLANE[1:26, 2:11], (PROGRAMS * TILE, 16), 1.0)
    return shown[at * TILE :][:TILE].sum(1)


@case("tile.view", PLANE, meaning=of_part, padding=1.0)
def _(k: Kernel, _: Value) -> Value:
    (view,) = k.views
    offsets, sizes = [k.number(1), k.number(2)], [k.number(9), k.number(25)]
    part = k(tile.View, view, offsets, sizes, axes=(1, 0))
    at = [k.number(0), k.row]
    columns = k(tile.Load, part, at, shape=(16, TILE), padding=Number(1.0, f32))
    return k(tile.Reduce, columns, axis=0, kind=tile.ReduceKind.SUM)


def of_steps(at: int, _: Array) -> Array:
    shown = padded(PLANE[27:2:-1, 1:12:3], (PROGRAMS * TILE, 4), 1.0)
    return shown[at * TILE :][:TILE].sum(1)


@case("tile.view with steps", PLANE, meaning=of_steps, padding=1.0)
def _(k: Kernel, _: Value) -> Value:
    (view,) = k.views
    offsets, sizes = [k.number(27), k.number(1)], [k.number(4), k.number(25)]
    part = k(tile.View, view, offsets, sizes, axes=(1, 0), steps=(3, -1))
    at = [k.number(0), k.row]
    columns = k(tile.Load, part, at, shape=(4, TILE), padding=Number(1.0, f32))
    return k(tile.Reduce, columns, axis=0, kind=tile.ReduceKind.SUM)


@case("tile.scratch", LINE, meaning=lambda at, a: a[::-1])
def _(k: Kernel, a: Value) -> Value:
    kept, zero = k(tile.Scratch, shape=(TILE,), dtype=f32), k.number(0)
    k.do(tile.Store, kept, a, [zero])
    backwards = k(tile.View, kept, [k.number(TILE - 1)], [k.number(TILE)], axes=(0,), steps=(-1,))
    return k(tile.Load, backwards, [zero], shape=(TILE,), padding=Number(0.0, f32))


@case("tile.extent", PLANE, meaning=lambda at, a: np.full(TILE, 13))
def _(k: Kernel, _: Value) -> Value:
    return k.full(k(tile.Extent, k.views[0], axis=1))


@case(
    "tile.load", LINE, meaning=lambda at, a: np.pad(LINE, (3, 8), constant_values=7)[8 * at :][:8]
)
def _(k: Kernel, _: Value) -> Value:
    back = k(tile.Binary, k.row, k.number(3), kind=BINARY.SUBTRACT)
    return k(tile.Load, k.views[0], [back], shape=(TILE,), padding=Number(7.0, f32))


@case("tile.store", LINE, whole=np.append(LINE[3:], np.zeros(3, np.float32)))
def _(k: Kernel, a: Value) -> None:
    back = k(tile.Binary, k.row, k.number(3), kind=BINARY.SUBTRACT)
    k.do(tile.Store, k.out, a, [back])


@case("tile.atomic", LINE, whole=padded(LINE, (32,)).reshape(4, 8).sum(0)[:5])
def _(k: Kernel, a: Value) -> None:
    k.do(tile.Atomic, k.out, a, [k.number(0)], combiner=Combiner.ADD)


@case(
    "tile.gather",
    LINE,
    meaning=lambda at, a: np.array(
        [LINE[2 * row - 5] if 0 <= 2 * row - 5 < ROWS else 9 for row in range(8 * at, 8 * at + 8)],
        np.float32,
    ),
)
def _(k: Kernel, _: Value) -> Value:
    return k(tile.Gather, k.views[0], [k.places()], padding=Number(9.0, f32))


@case(
    "tile.scatter",
    LINE,
    whole=np.array([LINE[(at + 5) // 2] if at % 2 else 0 for at in range(ROWS)], np.float32),
)
def _(k: Kernel, a: Value) -> None:
    k.do(tile.Scatter, k.out, a, [k.places()])


@case("tile.broadcast", LINE, PLANE, meaning=lambda at, a, c: a[:, None] + 0 * c)
def _(k: Kernel, a: Value, c: Value) -> Value:
    return k(tile.Broadcast, a, shape=(TILE, 16), axes=(0,))


@case("tile.reshape", PLANE, meaning=lambda at, a: a.reshape(TILE, 4, 4).sum(1).max(1), padding=-1)
def _(k: Kernel, a: Value) -> Value:
    split = k(tile.Reshape, a, shape=(TILE, 4, 4))
    summed = k(tile.Reduce, split, axis=1, kind=tile.ReduceKind.SUM)
    return k(tile.Reduce, summed, axis=1, kind=tile.ReduceKind.MAXIMUM)


@case("tile.permute", PLANE, meaning=lambda at, a: a.sum(1))
def _(k: Kernel, a: Value) -> Value:
    turned = k(tile.Permute, a, axes=(1, 0))
    return k(tile.Reduce, turned, axis=0, kind=tile.ReduceKind.SUM)


@case("tile.concat", LINE, OTHER, meaning=lambda at, a, b: np.append(a, b)[1::2])
def _(k: Kernel, a: Value, b: Value) -> Value:
    pairs = k(tile.Reshape, k(tile.Concat, [a, b], axis=0), shape=(TILE, 2))
    last = k(tile.Iota, shape=(TILE, 2), axis=1, dtype=f32)
    chosen = k(tile.Binary, pairs, last, kind=BINARY.MULTIPLY)
    return k(tile.Reduce, chosen, axis=1, kind=tile.ReduceKind.SUM)


@case("tile.extract", LINE, meaning=lambda at, a: np.full(TILE, a.max()))
def _(k: Kernel, a: Value) -> Value:
    return k.full(k(tile.Extract, k(tile.Reduce, a, axis=0, kind=tile.ReduceKind.MAXIMUM)))


@case("tile.unary", LINE, meaning=lambda at, a: np.abs(a))
def _(k: Kernel, a: Value) -> Value:
    return k(tile.Unary, a, kind=tile.UnaryKind.ABSOLUTE)


@case("tile.binary", LINE, OTHER, meaning=lambda at, a, b: a - b)
def _(k: Kernel, a: Value, b: Value) -> Value:
    return k(tile.Binary, a, b, kind=BINARY.SUBTRACT)


@case("tile.compare", LINE, OTHER, meaning=lambda at, a, b: a < b)
def _(k: Kernel, a: Value, b: Value) -> Value:
    return k(tile.Compare, a, b, kind=tile.CompareKind.LESS)


@case("tile.select", LINE, OTHER, meaning=lambda at, a, b: np.where(a < b, a, b))
def _(k: Kernel, a: Value, b: Value) -> Value:
    return k(tile.Select, k(tile.Compare, a, b, kind=tile.CompareKind.LESS), a, b)


@case("tile.cast", LINE, meaning=lambda at, a: a.astype(np.int32))
def _(k: Kernel, a: Value) -> Value:
    return k(tile.Cast, a, dtype=i32)


@case("tile.bitcast", LINE, meaning=lambda at, a: a.view(np.uint32))
def _(k: Kernel, a: Value) -> Value:
    return k(tile.Bitcast, a, dtype=u32)


@case("tile.dot", PLANE, RIGHT, meaning=lambda at, a, b: a @ padded(b, (16, 16)))
def _(k: Kernel, a: Value) -> Value:
    zeros = k(tile.Full, k.number(0.0, f32), shape=(TILE, 16))
    return k(tile.Dot, a, k.whole(k.views[1], 16, 16), zeros)


def scaled(at: int, a: Array, a_scale: Array, b: Array, b_scale: Array) -> Array:
    left, right = a.astype(np.float64), padded(b, (16, 16)).astype(np.float64)
    powers = 2.0 ** (a_scale.astype(float) - 127), 2.0 ** (padded(b_scale, (4, 16)) - 127.0)
    product = (left * np.repeat(powers[0], 4, 1)) @ (right * np.repeat(powers[1], 4, 0))
    return product.astype(np.float32)


@case("tile.scaled_dot", PLANE.astype(E4M3), SCALE, RIGHT.astype(E4M3), RIGHT_SCALE, meaning=scaled)
def _(k: Kernel, a: Value, a_scale: Value) -> Value:
    zeros = k(tile.Full, k.number(0.0, f32), shape=(TILE, 16))
    b, b_scale = k.whole(k.views[2], 16, 16), k.whole(k.views[3], 4, 16)
    return k(tile.ScaledDot, a, a_scale, b, b_scale, zeros)


@case("tile.reduce", PLANE, meaning=lambda at, a: a.max(1), padding=-np.inf)
def _(k: Kernel, a: Value) -> Value:
    return k(tile.Reduce, a, axis=1, kind=tile.ReduceKind.MAXIMUM)


@case("tile.arg_reduce", PLANE, meaning=lambda at, a: a.argmin(1).astype(np.int32), padding=np.inf)
def _(k: Kernel, a: Value) -> Value:
    return k(tile.ArgReduce, a, axis=1, kind=tile.ArgKind.MINIMUM, dtype=i32)


@case("tile.scan", PLANE, meaning=lambda at, a: np.cumsum(a[:, ::-1], 1)[:, ::-1])
def _(k: Kernel, a: Value) -> Value:
    return k(tile.Scan, a, axis=1, kind=tile.ScanKind.SUM, reverse=True)


@case("tile.sort", PLANE, meaning=lambda at, a: np.sort(a, 1), padding=np.inf)
def _(k: Kernel, a: Value) -> Value:
    return k(tile.Sort, [a], axis=1)


@case("tile.for", PLANE, meaning=lambda at, a: a.sum(1))
def _(k: Kernel, _: Value) -> Value:
    """Over 13 columns in steps of 4."""
    view, zeros = k.views[0], k.full(k.number(0.0, f32))
    width = k(tile.Extent, view, axis=1)
    body = k.builder.nest([INDEX, zeros.type])
    column, total = body.block.arguments
    part = body.emit(tile.Load, view, [k.row, column], shape=(TILE, 4), padding=Number(0.0, f32))
    summed = body.emit(tile.Reduce, part, axis=1, kind=tile.ReduceKind.SUM)
    body.emit_all(Yield, [body.emit(tile.Binary, total, summed, kind=BINARY.ADD)])
    bounds = (k.number(0), width, k.number(4))
    return k(tile.For, *bounds, [zeros], body.block, label="columns")


@case("tile.if", LINE, meaning=lambda at, a: -a if at < 2 else a)
def _(k: Kernel, a: Value) -> Value:
    early = k(tile.Compare, k.program, k.number(2), kind=tile.CompareKind.LESS)
    yes, no = k.builder.nest([a.type]), k.builder.nest([a.type])
    (carried,) = yes.block.arguments
    yes.emit_all(Yield, [yes.emit(tile.Unary, carried, kind=tile.UnaryKind.NEGATE)])
    no.emit_all(Yield, no.block.arguments)
    return k(tile.If, early, [a], yes.block, no.block)


@case("tile.assume", LINE, meaning=lambda at, a: a)
def _(k: Kernel, a: Value) -> Value:
    few = k(tile.Compare, k.program, k.number(PROGRAMS), kind=tile.CompareKind.LESS)
    k.do(tile.Assume, few)
    return a


KEY = np.array([7, 11], np.uint32)


@case("tile.random_bits", meaning=lambda at: stream(KEY, at * TILE, TILE))
def _(k: Kernel) -> Value:
    return k(tile.RandomBits, k.number(7, u32), k.number(11, u32), k.rows())


def built(name: str) -> Module:
    """The kernel of a case."""
    case = CASES[name]
    kernel = Kernel(case)
    return kernel.finish(case.build(kernel, *kernel.loaded(case)))
