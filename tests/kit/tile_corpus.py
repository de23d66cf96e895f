"""Kernels that people write by hand for GPUs, on the tile floor: what every target must print well.

Comes in: dtypes and a schedule. Goes out: funcs; `CORPUS` lists each one with small arguments, the
last of which are written. (Attention stands in `tile_attention.py`.)
Never: a word of any target.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brimstone.ir import tile
from brimstone.ir.dims import ceil_div
from brimstone.ir.dtypes import DType, bf16, f16, f32
from brimstone.ir.func import Func
from brimstone.ir.tensor.indexing import Combiner
from kit.tile_attention import (
    attention_backward_keys,
    attention_backward_queries,
    attention_forward,
)
from kit.tile_builder import MOST, Sketch, Term

Schedule = Mapping[str, int]
MOST_OF_MATMUL = 1 << 17
"""With sizes up to this one, the number of tiles is counted in 32 bits."""
LANES = {"m": 1024}
ROW = {"n": 1024}
ROWS = {"m": 16, "n": 1024}
PIXELS = {"w": 32, "c": 32, "o": 32}
SQUARE = {"m": 128, "n": 128, "k": 64}
WIDE = {"m": 128, "n": 256, "k": 64}


@dataclass(frozen=True)
class Example:
    """A kernel, and small arguments: arrays, of which the last `writes` hold its results."""

    build: Callable[[], Func]
    shapes: Sequence[Sequence[int]]
    writes: int = 1
    scale: float = 1.0


def gelu(x: Term) -> Term:
    """x * (1 + erf(x / sqrt 2)) / 2"""
    return x * 0.5 * ((x * 0.7071067811865476).apply("erf") + 1.0)


def gelu_chain(schedule: Schedule = LANES, most: int = MOST) -> Func:
    """y = gelu(x)"""
    size = schedule["m"]
    sketch = Sketch("gelu", {"x": "N f32", "y": "N f32"}, most=most, tile=schedule, warps=4)
    sketch.set_grid(ceil_div(sketch.size("N"), size))
    at = (sketch.program() * size).named("at")
    sketch.store("y", [at], gelu(sketch.load("x", [at], [size]).named("a")))
    return sketch.finish()


def softmax(schedule: Schedule = ROW) -> Func:
    """Rows that fit a tile: exp(x - max) / sum."""
    width = schedule["n"]
    sketch = Sketch("softmax", {"x": "m n f32", "y": "m n f32"}, tile=schedule, warps=8)
    sketch.set_grid(sketch.size("m"))
    row = sketch.program().named("row")
    x = sketch.load("x", [row, 0], [1, width], -np.inf).named("x_row")
    shape = (1, width)
    largest = x.reduce("maximum", 1).along(shape, 0)
    powers = (x - largest).apply("exp").named("powers")
    total = powers.reduce("sum", 1).along(shape, 0)
    sketch.store("y", [row, 0], powers / total)
    return sketch.finish()


def layer_norm_backward(schedule: Schedule = ROWS) -> Func:
    """dx, and for each program the sums over its rows of what weight and bias get."""
    rows, width = schedule["m"], schedule["n"]
    sketch = Sketch(
        "layer_norm_backward",
        {
            "x": "m n bf16", "weight": "n f32", "mean": "m f32", "rstd": "m f32", "dy": "m n bf16",
            "dx": "m n bf16", "weight_parts": "p n f32", "bias_parts": "p n f32",
        },
        tile=schedule, warps=8,
    )  # fmt: skip
    sketch.set_grid(ceil_div(sketch.size("m"), rows))
    shape = (1, width)
    program = sketch.program().named("program")
    first = (program * rows).named("first")
    last = (first + rows).minimum(sketch.extent("x", 0)).named("last")
    weight = sketch.load("weight", [0], [width]).along(shape, 1).named("scale")
    count = sketch.extent("x", 1).cast(f32).named("count")

    def body(row: Term, d_weight: Term, d_bias: Term) -> list[Term]:
        x, dy = (sketch.load(name, [row, 0], shape).cast(f32) for name in ("x", "dy"))
        mean, rstd = (sketch.load(name, [row], [1]).along(shape, 0) for name in ("mean", "rstd"))
        inside = sketch.iota(shape, 1) < sketch.extent("x", 1)
        centred = inside.select((x - mean) * rstd, 0.0).named("centred")
        scaled = (weight * dy).named("scaled")
        one = (centred * scaled).reduce("sum", 1)
        other = scaled.reduce("sum", 1)
        shares = [(each / count).along(shape, 0) for each in (one, other)]
        mixed = (centred * shares[0] + shares[1]).named("mixed")
        sketch.store("dx", [row, 0], ((scaled - mixed) * rstd).cast(bf16))
        return [d_weight + dy * centred, d_bias + dy]

    zero = sketch.full(0.0, shape, f32).named("zeros")
    d_weight, d_bias = sketch.loop((first, last, 1), [zero, zero], body, "row")
    sketch.store("weight_parts", [program, 0], d_weight)
    sketch.store("bias_parts", [program, 0], d_bias)
    return sketch.finish()


def _product(
    sketch: Sketch, row: Term, column: Term, bounds: tuple[Any, Any], schedule: Schedule
) -> Term:
    """a @ b for one tile, over a part of the inner axis."""
    m, n, k = schedule["m"], schedule["n"], schedule["k"]

    def body(at: Term, total: Term) -> list[Term]:
        a = sketch.load("a", [row, at], [m, k]).named("a_tile")
        b = sketch.load("b", [at, column], [k, n]).named("b_tile")
        return [a.dot(b, total)]

    zeros = sketch.full(0.0, [m, n], f32).named("total")
    return sketch.loop((*bounds, k), [zeros], body, "k")[0]


def matmul_gelu(dtype: DType = bf16, schedule: Schedule = SQUARE) -> Func:
    """gelu(a @ b + bias)"""
    views = {"a": f"m k {dtype}", "b": f"k n {dtype}", "bias": "n f32", "c": f"m n {dtype}"}
    sketch = Sketch("matmul_gelu", views, tile=schedule, warps=8, stages=3)
    m, n = schedule["m"], schedule["n"]
    sketch.set_grid(ceil_div(sketch.size("m"), m), ceil_div(sketch.size("n"), n))
    row, column = (sketch.program(0) * m).named("row"), (sketch.program(1) * n).named("column")
    total = _product(sketch, row, column, (0, sketch.extent("a", 1)), schedule)
    bias = sketch.load("bias", [column], [n]).along((m, n), 1)
    sketch.store("c", [row, column], gelu(total + bias).cast(dtype))
    return sketch.finish()


def persistent_matmul(
    dtype: DType = bf16, schedule: Schedule = WIDE, programs: int = 132, group: int = 8
) -> Func:
    """a @ b, each program making many tiles; tiles of a few rows follow each other."""
    views = {"a": f"m k {dtype}", "b": f"k n {dtype}", "c": f"m n {dtype}"}
    sketch = Sketch(
        "persistent_matmul", views, most=MOST_OF_MATMUL, tile=schedule, warps=8, stages=3,
        descriptors=True, flatten=["turn"], grid=[programs],
    )  # fmt: skip
    m, n = schedule["m"], schedule["n"]
    down, across = (_tiles(sketch, "c", axis, schedule["mn"[axis]]) for axis in (0, 1))
    first = sketch.program().named("program")

    def body(turn: Term) -> list[Term]:
        row, column = _grouped(turn, down, across, group)
        row, column = (row * m).named("row"), (column * n).named("column")
        total = _product(sketch, row, column, (0, sketch.extent("a", 1)), schedule)
        sketch.store("c", [row, column], total.cast(dtype))
        return []

    sketch.loop((first, down * across, programs), [], body, "turn")
    return sketch.finish()


def _tiles(sketch: Sketch, view: str, axis: int, size: int) -> Term:
    """How many tiles cover an axis."""
    return ((sketch.extent(view, axis) + (size - 1)) / size).named("tiles")


def _grouped(turn: Term, down: Term, across: Term, group: int) -> tuple[Term, Term]:
    """Where the tile of a turn lies: `group` tiles down, then the next column of them."""
    in_group = (across * group).named("in_group")
    start = (turn / in_group * group).named("start")
    height = (down - start).minimum(group).named("height")
    within = (turn % in_group).named("within")
    row, column = (start + within % height).named("down"), (within / height).named("across")
    row.assume_below(down)
    column.assume_below(across)
    return row, column


def split_matmul(dtype: DType = f16, schedule: Schedule = SQUARE, split: int = 4) -> Func:
    """Each program sums a part of the inner axis; the parts are added in memory."""
    views = {"a": f"m k {dtype}", "b": f"k n {dtype}", "c": "m n f32"}
    sketch = Sketch("split_matmul", views, tile=schedule, warps=8, stages=3, split_k=split)
    m, n, k = (schedule[name] for name in "mnk")
    sketch.set_grid(ceil_div(sketch.size("m"), m), ceil_div(sketch.size("n"), n), split)
    row, column = (sketch.program(0) * m).named("row"), (sketch.program(1) * n).named("column")
    share = (_tiles(sketch, "a", 1, k * split) * k).named("share")
    first = (sketch.program(2) * share).named("first")
    last = (first + share).minimum(sketch.extent("a", 1)).named("last")
    total = _product(sketch, row, column, (first, last), schedule)
    view, offsets = sketch.views["c"], sketch.offsets([row, column])
    sketch.builder.emit_all(tile.Atomic, view, total.value, offsets, combiner=Combiner.ADD)
    return sketch.finish()


def convolution(dtype: DType = f16, schedule: Schedule = PIXELS) -> Func:
    """3 × 3, around each pixel: for each tap a product over channels; outside of the image, 0."""
    views = {"x": f"b h w c {dtype}", "taps": f"3 3 c o {dtype}", "y": f"b h w o {dtype}"}
    sketch = Sketch("convolution", views, tile=schedule, warps=4, stages=3)
    pixels, channels, filters = (schedule[name] for name in "wco")
    sizes = [sketch.size(name) for name in "hwob"]
    sketch.set_grid(sizes[3] * sizes[0], ceil_div(sizes[1], pixels), ceil_div(sizes[2], filters))
    place, height = sketch.program(0), sketch.extent("x", 1)
    image, line = (place / height).named("image"), (place % height).named("line")
    left = (sketch.program(1) * pixels).named("left")
    first = (sketch.program(2) * filters).named("first")

    def body(tap: Term, total: Term) -> list[Term]:
        down, right = (tap / 3).named("down"), (tap % 3).named("right")

        def inner(channel: Term, sums: Term) -> list[Term]:
            at = [image, line + down - 1, left + right - 1, channel]
            x = sketch.load("x", at, [1, 1, pixels, channels])
            w = sketch.load("taps", [down, right, channel, first], [1, 1, channels, filters])
            a, b = (each.emit(tile.Reshape, shape=each.shape[2:]) for each in (x, w))
            return [a.dot(b, sums)]

        return sketch.loop((0, sketch.extent("x", 3), channels), [total], inner, "c")

    zeros = sketch.full(0.0, [pixels, filters], f32).named("total")
    (total,) = sketch.loop((0, 9, 1), [zeros], body, "tap")
    made = total.cast(dtype).emit(tile.Reshape, shape=(1, 1, pixels, filters))
    sketch.store("y", [image, line, left, first], made)
    return sketch.finish()


SMALL = {"m": 32, "n": 32, "k": 32}
CORPUS: dict[str, Example] = {
    "gelu": Example(lambda: gelu_chain({"m": 64}), [(208,), (208,)]),
    "softmax": Example(lambda: softmax({"n": 48}), [(5, 40), (5, 40)]),
    "layer_norm_backward": Example(
        lambda: layer_norm_backward({"m": 4, "n": 64}),
        [(10, 40), (40,), (10,), (10,), (10, 40), (10, 40), (3, 40), (3, 40)],
        writes=3,
    ),
    "matmul_gelu": Example(lambda: matmul_gelu(bf16, SMALL), [(40, 72), (72, 40), (40,), (40, 40)]),
    "persistent_matmul": Example(
        lambda: persistent_matmul(bf16, SMALL, programs=3, group=2), [(72, 40), (40, 72), (72, 72)]
    ),
    "split_matmul": Example(lambda: split_matmul(f16, SMALL, 2), [(40, 80), (80, 40), (40, 40)]),
    "convolution": Example(
        lambda: convolution(f16, {"w": 16, "c": 16, "o": 16}),
        [(1, 3, 20, 24), (3, 3, 24, 24), (1, 3, 20, 24)],
    ),
    "attention_forward": Example(
        lambda: attention_forward({"q": 32, "k": 32}, width=32),
        [(2, 40, 32), (2, 40, 32), (2, 40, 32), (2, 40, 32), (2, 40)],
        writes=2,
    ),
    "attention_backward_keys": Example(
        lambda: attention_backward_keys({"q": 32, "k": 32}, width=32),
        [(2, 40, 32)] * 4 + [(2, 40)] * 2 + [(2, 40, 32)] * 2,
        writes=2,
        scale=0.5,
    ),
    "attention_backward_queries": Example(
        lambda: attention_backward_queries({"q": 32, "k": 32}, width=32),
        [(2, 40, 32)] * 4 + [(2, 40)] * 2 + [(2, 40, 32)],
        scale=0.5,
    ),
}


def arguments_for(example: Example, seed: int = 0) -> tuple[Func, list[Any]]:
    """The func, random arrays to read, and zeros to write."""
    func, generator = example.build(), np.random.default_rng(seed)
    made: list[Any] = []
    reads = len(func.arguments) - example.writes
    for place, (value, shape) in enumerate(zip(func.arguments, example.shapes, strict=True)):
        numbers = generator.standard_normal(shape) * example.scale * (place < reads)
        made.append(numbers.astype(value.dtype.storage))
    return func, made
