"""Attention: softmax of scaled scores, times values, with whatever changes the scores in between.

Comes in: queries, keys and values [..., length, width], a mask, a bias, a cap, a user's function.
Goes out: a tensor like the queries, as wide as the values. Keys and values may have fewer heads,
each shared by neighbouring heads of the queries.
Never: the scores in memory, once a target fuses the op; their changes are its region.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from numbers import Real
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.attributes import Double
from ...ir.dims import Size
from ...ir.facts import Facts
from ...ir.types import Tensor as TensorType
from ..dtypes import OF_IR
from ..errors import ArgumentError, DTypeError, ShapeError, expect_functions, fail, shown
from ..handle import wrap
from ..node import Node, record, record_parts
from ..unseen import differ
from .common import (
    as_node,
    broadcast_node,
    broadcast_shape,
    cast_node,
    refuse_dtype,
    to_common_dtype,
)
from .elementwise import add, divide, multiply, tanh
from .logic import greater_equal, where
from .manipulation import reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor

Change = Callable[..., Any]


def attention(  # noqa: PLR0913 (each is a choice of the user's)
    query: Any, key: Any, value: Any, /, *, mask: Any = None, bias: Any = None,
    causal: bool = False, scale: float | None = None, soft_cap: float | None = None,
    score: Change | None = None,
) -> Tensor:  # fmt: skip
    """softmax(scale * query @ keyᵀ) @ value, along the last two axes.

    `scale` is 1 / √width unless stated. `soft_cap` bounds the scores by cap * tanh(score / cap);
    `bias` is added to them; where `mask` is false, and with `causal` where a key comes after its
    query, they do not count; `score`, a function of them, changes them first. A query that may
    attend to nothing gives zeros.
    """
    if score is not None:
        expect_functions("attention", score)
    nodes = to_common_dtype("attention", query, key, value)
    _check(nodes, query, key, value)
    shape = nodes[0].type.shape
    folded = [_folded(node) for node in nodes]
    batch, heads, rows, width = folded[0].type.shape
    columns = folded[1].type.shape[2]
    scores = TensorType((batch, heads, rows, columns), folded[0].type.dtype.accumulator)
    given = [as_node(each, "attention") for each in (mask, bias) if each is not None]
    if mask is not None and given[0].type.dtype is not ir.boolean:
        problem = f"`mask` is of {OF_IR[given[0].type.dtype]}, and bools say what counts"
        fail(DTypeError, "attention", problem, mask, hint="what is added to scores is a `bias`")
    extra = [_aligned("attention", node, shape, scores) for node in given]
    traced = _traced(scores, extra, mask is not None, causal, soft_cap, score)
    factor = _factor(scale, width, query)
    output = folded[2].type.with_shape((batch, heads, rows, folded[2].type.shape[3]))
    row = scores.with_shape((batch, heads, rows))
    operands = (*folded, *extra, *traced.captures)
    types = output, row, row
    made = record_parts(ops.Attention, operands, (factor,), (traced.func,), types=types)
    return wrap(reshaped(made[0], (*shape[:-1], output.shape[3])))


def _traced(
    scores: TensorType,
    extra: list[Node],
    masked: bool,
    causal: bool,
    soft_cap: float | None,
    score: Change | None,
) -> Any:
    """The changes of the scores, as a func of these, the mask and the bias."""
    from ..function import StandIn, stand_in, trace

    def change(values: list[Any]) -> Any:
        changed, rest = values[0], values[1:]
        if score is not None:
            changed = _changed(score(changed), scores)
        if soft_cap is not None:
            changed = multiply(tanh(divide(changed, soft_cap)), soft_cap)
        if rest[masked:]:
            changed = add(changed, rest[-1].astype(changed.dtype))
        allowed = [rest[0]] if masked else []
        if causal:
            allowed.append(_not_after(scores))
        for each in allowed:
            changed = where(each, changed, float("-inf"))
        return changed

    return trace("attention", change, [StandIn(scores), *map(stand_in, extra)])


def _changed(made: Any, scores: TensorType) -> Tensor:
    """What a user's function makes of the scores: as many, of their dtype."""
    node = as_node(made, "attention")
    if differ(node.type.shape, scores.shape):
        problem = f"`score` makes {list(node.type.shape)} of {list(scores.shape)} scores"
        fail(ShapeError, "attention", problem)
    if node.type.dtype not in ir.FLOATS:
        fail(DTypeError, "attention", f"`score` makes {OF_IR[node.type.dtype]}, no floats")
    return wrap(cast_node(node, scores.dtype))


def _factor(scale: Any, width: Any, query: Any) -> Double:
    """What scores are multiplied by: what is stated, else 1 / √width."""
    if scale is None and isinstance(width, int):
        return Double(max(width, 1) ** -0.5)
    if isinstance(scale, Real):
        return Double(scale)
    if scale is None:
        problem, hint = f"the width, {width}, is not known, nor is 1 / √width", "say `scale`"
    else:
        problem, hint = (
            f"`scale` is {shown(scale, 40)}, no number",
            "multiply the queries by a tensor",
        )
    fail(ArgumentError, "attention", problem, query, hint=hint)


def _not_after(scores: TensorType) -> Tensor:
    """Whether a key stands at or before its query; both end together."""
    row, column = (wrap(record(ops.Iota, (), (scores.shape, axis, ir.i64))) for axis in (2, 3))
    return greater_equal(add(row, scores.shape[3] - scores.shape[2]), column)


def _check(nodes: list[Node], *given: Any) -> None:
    """Refuse what is no query, key and value that go together."""
    if nodes[0].type.dtype not in ir.FLOATS:
        refuse_dtype("attention", nodes[0].type.dtype, ir.FLOATS, *given)
    shapes = [node.type.shape for node in nodes]
    if min(map(len, shapes)) < 2 or len({len(shape) for shape in shapes}) != 1:
        fail(ShapeError, "attention", "takes three tensors [..., length, width]", *given)
    (_, width), (length, other), (values, _) = (shape[-2:] for shape in shapes)
    if differ((width, length), (other, values)):
        problem = f"keys are [{length}, {other}], queries are {width} wide, values {values} long"
        fail(ShapeError, "attention", problem, *given)
    ours, keys, theirs = (shape[-3] if len(shape) > 2 else 1 for shape in shapes)
    if keys != theirs or not _can_share(ours, keys):
        problem = f"{ours} heads of queries cannot share {keys} of keys, {theirs} of values"
        fail(ShapeError, "attention", problem, *given)
    if len({shape[:-3] for shape in shapes}) != 1:
        fail(ShapeError, "attention", "the axes before the heads differ", *given)


def _can_share(heads: Size, groups: Size) -> bool:
    """Whether each head of the keys certainly has as many of the queries."""
    if heads == groups:
        return True
    return isinstance(groups, int) and groups > 0 and Facts().divides(groups, heads)


def _folded(node: Node) -> Node:
    """The node with all axes before the heads as one."""
    shape = node.type.shape
    heads = shape[-3] if len(shape) > 2 else 1
    return reshaped(node, (prod(shape[:-3]), heads, *shape[-2:]))


def _aligned(name: str, node: Node, shape: Any, scores: TensorType) -> Node:
    """A mask or a bias with the axes of the scores; the region stretches those of size 1."""
    wanted = (*shape[:-2], *scores.shape[2:])
    if broadcast_shape(name, node.type.shape, wanted) != wanted:
        problem = f"{node.type} does not stretch to the scores, {list(wanted)}"
        fail(ShapeError, name, problem)
    own = (*[1] * (len(wanted) - len(node.type.shape)), *node.type.shape)
    batch = own[:-3]
    if any(size != 1 for size in batch) and batch != wanted[:-3]:
        own = (*wanted[:-3], *own[-3:])
        node = broadcast_node(node, own)
    heads = own[-3] if len(own) > 2 else 1
    return reshaped(node, (prod(own[:-3]), heads, *own[-2:]))
