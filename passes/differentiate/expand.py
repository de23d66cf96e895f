"""Ops that are differentiated as the simpler ops they stand for.

Comes in: an op that a sweep has come to, some of whose operands have tangents. Goes out: the
simpler ops, swept in its place.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import DType, i64
from ...ir.errors import Unmet
from ...ir.tensor.indexing import Combiner
from ...ir.tensor.rules import Term, emit, filled, with_axis
from ...ir.values import AnyValue, Block, Op
from ..copying import inline
from ..one_by_one import products_at_places
from .forward import Forward, Rule

Parts = tuple[AnyValue, ...]


def expand_attention(forward: Forward, op: tensor.Attention) -> None:
    """Two contractions, the region, and a softmax between them."""
    _sweep(forward, op, _attention)


def expand_attention_backward(forward: Forward, op: tensor.AttentionBackward) -> None:
    """The weights anew, and a contraction for each gradient."""
    _sweep(forward, op, _attention_backward)


def expand_scatter(forward: Forward, op: tensor.Scatter) -> None:
    """Products are made one update at a time; sums and what is set have a rule of their own, and
    so have extremes of several updates."""
    if op.combiner in _ONE_BY_ONE and op.has_one_place:
        _sweep(forward, op, _combined)
    elif op.combiner is Combiner.MULTIPLY:
        _sweep(forward, op, products_at_places)
    else:
        forward.plain(op, forward.changes(op.operands))


def refuse_call(forward: Forward, op: tensor.Call) -> None:
    """What is called stands in a module, which a sweep does not see."""
    raise Unmet("has no derivative; put the body of what it calls in its place first: inlined()")


EXPANDED: Mapping[type[Op], Rule] = {
    tensor.Attention: expand_attention,
    tensor.AttentionBackward: expand_attention_backward,
    tensor.Scatter: expand_scatter,
    tensor.Call: refuse_call,
}


_ONE_BY_ONE = Combiner.MULTIPLY, Combiner.MINIMUM, Combiner.MAXIMUM


def _sweep(forward: Forward, op: Any, expand: Callable[[Any, Builder, Parts], Parts]) -> None:
    """Write the simpler ops on a sheet of their own, sweep them, and throw the sheet away."""
    sheet = Builder(Block(), location=op.location)
    try:
        results = expand(op, sheet, forward.taken(op.operands))
        forward.run(sheet.block)
        forward.define(op, forward.taken(results), forward.changes(results))
    finally:
        for each in reversed(list(sheet.block)):
            each.detach()


def _attention(op: tensor.Attention, builder: Builder, operands: Parts) -> Parts:
    query, key, value, *captures = operands
    wide = op.log_sum_exp.dtype
    key, value = (_shared(builder, each, query) for each in (key, value))
    scores = Term(builder, _pairs(builder, query, key, 3, wide)) * op.scale
    (scored,) = inline(op.score, (scores.value, *captures), builder)
    weights, sums, *rows = _softmax(Term(builder, scored))
    value = emit(builder, "cast", value, wide)
    totals = Term(builder, _pairs(builder, weights.value, value, 2, wide))
    shape = totals.value.shape
    whole = sums.apply("broadcast", shape=shape, axes=(0, 1, 2))
    return (totals / whole).cast(op.value.dtype).value, *[row.value for row in rows]


def _attention_backward(op: tensor.AttentionBackward, builder: Builder, operands: Parts) -> Parts:
    query, key, value, log_sum_exp, rest, cotangent, delta, *captures = operands
    wide, groups = op.delta.dtype, key
    keys, values = (_shared(builder, each, query) for each in (key, value))
    scores = Term(builder, _pairs(builder, query, keys, 3, wide)) * op.scale
    (scored,) = inline(op.score, (scores.value, *captures), builder)
    lines = {"shape": scored.shape, "axes": (0, 1, 2)}
    sums = Term(builder, log_sum_exp)
    shift = sums.number(0).where(sums.apply("equal", sums.number(float("-inf"))), sums)
    less = Term(builder, scored) - shift.apply("broadcast", **lines)
    weights = (less - Term(builder, rest).apply("broadcast", **lines)).apply("exp")
    pulled = Term(builder, _pairs(builder, cotangent, values, 3, wide))
    change = weights * (pulled - Term(builder, delta).apply("broadcast", **lines))
    made, *others = inline(op.pull, (scores.value, *captures, change.value), builder)
    by_scores = (Term(builder, made) * op.scale).value
    queries, keys, cotangents = (_cast(builder, x, wide) for x in (query, keys, cotangent))
    by_query = _pairs(builder, by_scores, keys, 2, wide)
    by_key = _together(builder, _pairs(builder, by_scores, queries, 2, wide, 2), groups)
    by_value = _together(builder, _pairs(builder, weights.value, cotangents, 2, wide, 2), groups)
    pairs = zip((by_query, by_key, by_value), op.gradients, strict=False)
    return (*[_cast(builder, each, of.dtype) for each, of in pairs], *others)


def _pairs(
    builder: Builder, left: AnyValue, right: AnyValue, axis: int, wide: Any, last: int = 3
) -> AnyValue:
    """The contraction of the last axis of `left`, or another, with one of `right`, by head."""
    batch = (0, 1)
    return emit(builder, "contract", left, right, batch, batch, (last,), (axis,), wide)


def _shared(builder: Builder, x: AnyValue, query: AnyValue) -> AnyValue:
    """Keys or values, each head repeated for the heads of queries that share it."""
    heads, groups = query.shape[1], x.shape[1]
    if groups in (heads, 0):
        return x
    if isinstance(heads, int) and isinstance(groups, int):
        return _repeated(builder, x, heads // groups)
    moved = with_axis(builder, x, 1, 0)
    taken = emit(builder, "gather", moved, _sharing(builder, x, query), (0,))
    return with_axis(builder, taken, 0, 1)


def _sharing(builder: Builder, x: AnyValue, query: AnyValue) -> AnyValue:
    """Which head of x each head of the queries shares: i // (heads / groups), which is
    i * groups // heads."""
    heads = query.shape[1]
    head = Term(builder, emit(builder, "iota", (heads, 1), 0, i64))
    sizes = (emit(builder, "dim", each, 1) for each in (x, query))
    ours, theirs = (Term(builder, size).apply("broadcast", shape=(heads, 1)) for size in sizes)
    return (head * ours / theirs).value


def _together(builder: Builder, gradient: AnyValue, x: AnyValue) -> AnyValue:
    """The gradients of the heads that share a head of x, added up."""
    (batch, heads, *rest), groups = gradient.shape, x.shape[1]
    if groups == heads:
        return gradient
    if isinstance(heads, int) and isinstance(groups, int):
        shape = (batch, groups, heads // max(groups, 1), *rest)
        return emit(builder, "reduce_sum", emit(builder, "reshape", gradient, shape), axes=(2,))
    moved = with_axis(builder, gradient, 1, 0)
    none = filled(builder, 0, moved.type.with_shape((groups, batch, *rest)))
    places = _sharing(builder, x, gradient)
    added = emit(builder, "scatter", none, places, moved, combiner=Combiner.ADD, axes=(0,))
    return with_axis(builder, added, 0, 1)


def _repeated(builder: Builder, x: AnyValue, times: int) -> AnyValue:
    """Each head of x, so many times."""
    batch, groups, *rest = x.shape
    repeated = emit(builder, "broadcast", x, shape=(batch, groups, times, *rest), axes=(0, 1, 3, 4))
    return emit(builder, "reshape", repeated, (batch, groups * times, *rest))


def _softmax(scores: Term) -> tuple[Term, ...]:
    """exp(score - largest), their sums with 1 for 0, and the log-sum-exp with its rest.

    Nothing depends on the largest, so it has no tangent; nor has the rest, which is 0 unrounded.
    """
    shape = scores.value.shape
    peak = scores.apply("stop_gradient").apply("reduce_maximum", axes=(3,))
    shift = peak.number(0).where(peak.apply("equal", peak.number(float("-inf"))), peak)
    weights = (scores - shift.apply("broadcast", shape=shape, axes=(0, 1, 2))).apply("exp")
    sums = weights.apply("reduce_sum", axes=(3,))
    some = sums.apply("equal", sums.number(0)).apply("bit_not")
    whole = sums.where(some, 1)
    logarithm = whole.apply("log")
    log_sum_exp = shift + logarithm
    rest = ((shift - log_sum_exp) + logarithm).apply("stop_gradient")
    return weights, whole, log_sum_exp.where(some, float("-inf")), rest


def _combined(op: tensor.Scatter, builder: Builder, operands: Parts) -> Parts:
    """What stands at the only place is read, combined with the update, and set."""
    x, indices, update = operands
    named = {"axes": op.axes, "batch": op.batch, "outside": op.outside}
    old = emit(builder, "gather", x, indices, **named)
    new = emit(builder, op.combiner.value, old, update)
    return (emit(builder, "scatter", x, indices, new, **named),)


def _cast(builder: Builder, x: AnyValue, dtype: DType) -> AnyValue:
    return x if x.dtype is dtype else emit(builder, "cast", x, dtype)
