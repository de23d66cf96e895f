"""Attention, linearised: what is kept is its output and its log-sum-exp, and no score.

Comes in: an attention that a sweep has come to, its tangents apart. Goes out: its copy, and a
linear call whose transpose is one `tensor.attention_backward`:

    output, log_sum_exp, rest = attention(query, key, value, captures) {score}
    linear_call(tangents) {attention_backward(residuals, cotangents) {score, pull}}

`pull` is the transpose of what `score` does to tangents, of scores and of all that moves beside.
Never: a sum over scores in a region: the gradient of what a capture is spread to over the scores is
handed out as it is, and summed outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.tensor.base import Tangents
from ...ir.tensor.control import types_of
from ...ir.tensor.rules import Term, present
from ...ir.types import Type
from ...ir.values import AnyValue, Block, Op
from ..copying import copy_ops
from ..dead import sweep
from ..reads import captured, depends, needed, reads
from .backward import Backward
from .control_backward import CONTROL
from .forward import Forward
from .regions import Parts, apart, closed, some


def attention(forward: Forward, op: tensor.Attention) -> None:
    """The op, and the linear function of its tangents, known by its transpose."""
    forward.copy(op)
    region, results = op.score, forward.taken(op.results)
    forward.values.update(zip(region.arguments[1:], forward.taken(op.captures), strict=True))
    early = _early(forward, region)
    wanted = needed(region, [result for each in early for result in each.results])
    first = [each for each in region if not wanted.isdisjoint(each.results)]
    forward.run(first)
    score = _Score.of(forward, region)
    pull, moved = score.pull(first, early)
    operands = op.query, op.key, op.value
    tangents, changes = forward.changes(operands), forward.changes(moved)
    given = some((*tangents, *changes))
    if not given:
        forward.define(op, results, (None,) * len(results))
        return
    residuals = (*forward.taken(operands), *forward.taken(score.handed), *results)
    body = _backward(forward, op, (score.copied(), pull), residuals, tangents)
    made = forward.builder.emit_all(tensor.LinearCall, residuals, given, body)
    forward.define(op, results, (*made, None))


def _early(forward: Forward, region: Block) -> list[Op]:
    """What changes with the captures alone, and is smaller than the scores or spread over them."""
    scores, *captures = region.arguments
    found: list[Op] = []
    inside = {scores}
    moving = {each for each in (*captures, *captured([region])) if _moves(forward, each)}
    for op in region:
        if depends(op, inside):
            inside.update(op.results)
        elif depends(op, moving):
            smaller = any(result.type.shape != scores.type.shape for result in op.results)
            spreads = smaller or isinstance(op, tensor.Broadcast)
            found += [op] if spreads else []
            (moving if spreads else inside).update(op.results)
    return found


def _moves(forward: Forward, value: AnyValue) -> bool:
    return forward.changes((value,))[0] is not None


@dataclass(frozen=True, slots=True)
class _Score:
    """The region of an attention; besides the scores, it is `handed` captures and all that moves
    outside."""

    forward: Forward
    region: Block
    handed: Parts

    @classmethod
    def of(cls, forward: Forward, region: Block) -> "_Score":
        """A region, of which the sweep has done what changes without scores."""
        outside = [value for value in captured([region]) if _moves(forward, value)]
        return cls(forward, region, (*region.arguments[1:], *outside))

    def copied(self) -> Block:
        """The region, which is handed all that moves."""
        inner, _, values = self._opened()
        copy_ops((op for op in self.region if not op.terminator), inner, values)
        return closed(inner, [values[value] for value in self.region.terminator.operands])

    def pull(self, first: Sequence[Op], early: Sequence[Op]) -> tuple[Block, Parts]:
        """The transpose of the derivative of all ops but the early ones, by the scores and by what
        else moves, which is told, too; `first` is what the early ones need, and only computed."""
        scores, region = self.region.arguments[0], self.region
        inner, given, values = self._opened(types_of((scores,)))
        copy_ops(first, inner, values)
        rest = [op for op in region if op not in early]
        made = {result for op in rest for result in op.results}
        outside = dict.fromkeys(value for op in rest for value in reads(op) if value not in made)
        moving = {values[value]: value for value in outside if _moves(self.forward, value)}
        own = (values[scores], *moving)
        tangents = Block(types_of(own)).arguments
        pushed = Forward(inner, self.forward.rules)
        pushed.values = values
        pushed.bind(own, tangents)
        pushed.run(rest)
        found = _transposed(pushed, pushed.changes(region.terminator.operands), given, tangents)
        pairs = zip(found, own, strict=True)
        block = closed(inner, [present(inner, gradient, like) for gradient, like in pairs])
        sweep(block)
        return block, tuple(moving.values())

    def _opened(self, more: Sequence[Type] = ()) -> tuple[Builder, Parts, dict[AnyValue, AnyValue]]:
        """A builder for a region that takes the scores, what is handed, and more; what it is given
        of that last; and what stands in it for the values that this one reads."""
        forward, scores = self.forward, self.region.arguments[0]
        inner, (own, given) = apart(forward.builder, types_of((scores, *self.handed)), more)
        values = {value: forward.values.get(value, value) for value in captured([self.region])}
        values.update(zip((scores, *self.handed), own, strict=True))
        return inner, given, values


def _transposed(
    pushed: Forward, changes: Tangents, given: Parts, tangents: Parts
) -> Sequence[AnyValue | None]:
    """The gradients of tangents, from those that are given of changes; linear ops are taken out."""
    linear = [op for op in pushed.builder.block if depends(op, pushed.linear)]
    backward = Backward(pushed.builder, CONTROL, pushed.linear, {})
    backward.add(some(changes), given if any(changes) else ())
    backward.run(reversed(linear))
    found = backward.found(tangents)
    for op in reversed(linear):
        op.detach()
    return found


def _backward(
    forward: Forward,
    op: tensor.Attention,
    regions: tuple[Block, Block],
    residuals: Parts,
    tangents: Tangents,
) -> Block:
    """The transpose: from cotangents of output and log-sum-exp to gradients of what moves."""
    moving = types_of((op.output, op.log_sum_exp))
    inner, (known, given) = apart(forward.builder, types_of(residuals), moving)
    query, key, value, *captures, output, log_sum_exp, rest = known
    wide = log_sum_exp.dtype
    products = Term(inner, given[0]).cast(wide) * Term(inner, output).cast(wide)
    delta = products.apply("reduce_sum", axes=(3,)) - Term(inner, given[1])
    operands = query, key, value, log_sum_exp, rest, given[0], delta.value
    made = inner.emit_all(tensor.AttentionBackward, *operands, captures, op.scale, *regions)
    moved = [each for each, tangent in zip(made[:3], tangents, strict=True) if tangent]
    return closed(inner, moved, made[3:])
