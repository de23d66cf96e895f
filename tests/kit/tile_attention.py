"""Attention on the tile floor: the scores of a block of queries never reach memory.

Comes in: tile sizes, the width of a head. Goes out: the forward kernel, which goes over the keys
once and keeps the log-sum-exp, and the two backward ones, which make the scores anew from it.
Never: a mask; the length of the keys alone limits them.
"""

from collections.abc import Mapping

from brimstone.ir.dims import ceil_div
from brimstone.ir.dtypes import bf16, f16, f32
from brimstone.ir.func import Func
from kit.tile_builder import Sketch, Term

Schedule = Mapping[str, int]
BLOCKS = {"q": 128, "k": 64}
LOWEST = -1e30
"""Below any score; minus infinity less itself is NaN."""


def attention_forward(schedule: Schedule = BLOCKS, width: int = 64) -> Func:
    """softmax(q kᵀ / sqrt(width)) v, and the logarithm of each row's sum."""
    heads = {name: f"h {size} {width} f16" for name, size in zip("qkvo", "nlln", strict=True)}
    sketch = Sketch(
        "attention_forward", heads | {"lse": "h n f32"}, tile=schedule, warps=4, stages=3
    )
    rows, columns = schedule["q"], schedule["k"]
    grid = ceil_div(sketch.size("n"), rows), sketch.size("h")
    sketch.set_grid(*grid)
    head, row = sketch.program(1).named("head"), (sketch.program(0) * rows).named("row")
    for name in "qkvo":
        sketch.part(f"{name}_head", name, [head, 0, 0], 1, 2)
    sketch.part("lse_head", "lse", [head, 0], 1)
    queries = sketch.load("q_head", [row, 0], [rows, width]).named("queries")
    square, wide = (rows, columns), (rows, width)

    def body(at: Term, total: Term, largest: Term, norm: Term) -> list[Term]:
        keys = sketch.load("k_head", [at, 0], [columns, width]).named("keys")
        values = sketch.load("v_head", [at, 0], [columns, width]).named("values")
        scores = _scores(sketch, queries, keys, at, "k_head").named("scores")
        higher = largest.maximum(scores.reduce("maximum", 1)).named("higher")
        powers = (scores - higher.along(square, 0)).apply("exp").named("powers")
        shrink = (largest - higher).apply("exp").named("shrink")
        norm = norm * shrink + powers.reduce("sum", 1)
        total = powers.cast(f16).dot(values, total * shrink.along(wide, 0))
        return [total, higher, norm]

    start = [
        sketch.full(0.0, wide, f32).named("total"),
        sketch.full(LOWEST, [rows], f32).named("largest"),
        sketch.full(0.0, [rows], f32).named("norm"),
    ]
    total, largest, norm = sketch.loop((0, sketch.extent("k", 1), columns), start, body, "k")
    sketch.store("o_head", [row, 0], (total / norm.along(wide, 0)).cast(f16))
    sketch.store("lse_head", [row], largest + norm.apply("log"))
    return sketch.finish()


def _scores(sketch: Sketch, queries: Term, keys: Term, at: Term, view: str) -> Term:
    """q kᵀ / sqrt(width), where there are keys."""
    (rows, width), columns = queries.shape, keys.shape[0]
    square = (rows, columns)
    scores = queries.dot(keys.transposed(), sketch.full(0.0, square, f32)) * width**-0.5
    inside = sketch.iota(square, 1) + at < sketch.extent(view, 0)
    return inside.select(scores, LOWEST)


def _sketch(name: str, written: str, schedule: Schedule, width: int) -> Sketch:
    """What both backward kernels begin with."""
    sizes = dict(zip(("q", "k", "v", "do"), "nlln", strict=True))
    views = {view: f"h {size} {width} bf16" for view, size in sizes.items()}
    views |= {"lse": "h n f32", "delta": "h n f32"}
    lengths = {"dq": "n", "dk": "l", "dv": "l"}
    views |= {view: f"h {lengths[view]} {width} f32" for view in written.split()}
    sketch = Sketch(name, views, tile=schedule, warps=8, stages=2)
    head = sketch.program(1).named("head")
    for view in views:
        axes = range(1, sketch.views[view].type.rank)
        sketch.part(f"{view}_head", view, [head, *[0 for _ in axes]], *axes)
    return sketch


def _gradients(sketch: Sketch, row: Term, at: Term, blocks: list[Term]) -> tuple[Term, Term]:
    """The powers of a block of scores, and what the scores get."""
    queries, keys, values, d_out = blocks
    (rows, width), columns = queries.shape, keys.shape[0]
    square = (rows, columns)
    lse, delta = (
        sketch.load(f"{name}_head", [row], [rows]).along(square, 0) for name in ("lse", "delta")
    )
    scores = _scores(sketch, queries, keys, at, "k_head")
    there = sketch.iota(square, 0) + row < sketch.extent("q_head", 0)
    powers = there.select((scores - lse).apply("exp"), 0.0).named("powers")
    d_powers = d_out.dot(values.transposed(), sketch.full(0.0, square, f32))
    return powers, (powers * (d_powers - delta) * width**-0.5).named("d_scores")


def attention_backward_keys(schedule: Schedule = BLOCKS, width: int = 64) -> Func:
    """What keys and values get: for a block of them, over all queries."""
    sketch = _sketch("attention_backward_keys", "dk dv", schedule, width)
    rows, columns = schedule["q"], schedule["k"]
    grid = ceil_div(sketch.size("l"), columns), sketch.size("h")
    sketch.set_grid(*grid)
    at = (sketch.program(0) * columns).named("at")
    keys, values = (sketch.load(f"{name}_head", [at, 0], [columns, width]) for name in "kv")

    def body(row: Term, d_keys: Term, d_values: Term) -> list[Term]:
        queries, d_out = (
            sketch.load(f"{name}_head", [row, 0], [rows, width]) for name in ("q", "do")
        )
        powers, d_scores = _gradients(sketch, row, at, [queries, keys, values, d_out])
        d_values = powers.cast(bf16).transposed().dot(d_out, d_values)
        return [d_scores.cast(bf16).transposed().dot(queries, d_keys), d_values]

    zeros = sketch.full(0.0, [columns, width], f32)
    d_keys, d_values = sketch.loop((0, sketch.extent("q_head", 0), rows), [zeros, zeros], body, "q")
    sketch.store("dk_head", [at, 0], d_keys)
    sketch.store("dv_head", [at, 0], d_values)
    return sketch.finish()


def attention_backward_queries(schedule: Schedule = BLOCKS, width: int = 64) -> Func:
    """What queries get: for a block of them, over all keys."""
    sketch = _sketch("attention_backward_queries", "dq", schedule, width)
    rows, columns = schedule["q"], schedule["k"]
    grid = ceil_div(sketch.size("n"), rows), sketch.size("h")
    sketch.set_grid(*grid)
    row = (sketch.program(0) * rows).named("row")
    queries, d_out = (sketch.load(f"{name}_head", [row, 0], [rows, width]) for name in ("q", "do"))

    def body(at: Term, d_queries: Term) -> list[Term]:
        keys, values = (sketch.load(f"{name}_head", [at, 0], [columns, width]) for name in "kv")
        _, d_scores = _gradients(sketch, row, at, [queries, keys, values, d_out])
        return [d_scores.cast(bf16).dot(keys, d_queries)]

    zeros = sketch.full(0.0, [rows, width], f32)
    (d_queries,) = sketch.loop((0, sketch.extent("k_head", 0), columns), [zeros], body, "k")
    sketch.store("dq_head", [row, 0], d_queries)
    return sketch.finish()
