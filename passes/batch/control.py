"""The rules of ops with regions: what becomes of a choice, a loop or a score when lanes differ.

Comes in: an op with regions, and the batcher, which batches these. Goes out: what becomes of its
results.
Never: a region that one lane runs and another must not notice, without a mask.
"""

from collections.abc import Callable
from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.func import Yield
from ...ir.tensor.base import Values
from ...ir.tensor.batching import merged, parted
from ...ir.tensor.rules import with_axis
from ...ir.types import Tensor
from ...ir.values import AnyValue, Block, Op
from ..reads import captured
from .apart import apart, apart_from_none, moves
from .flow import everything
from .masks import Mask, both, chosen

if TYPE_CHECKING:
    from .batcher import Batcher


def cond(batcher: "Batcher", op: tensor.Cond, builder: Builder) -> Values:
    """One choice for all lanes stays one; else both regions run, and each lane chooses."""
    predicate = batcher.values[op.predicate]
    arguments = tuple([batcher.values[value] for value in op.arguments])
    if op.predicate not in batcher.varying:
        differ = batcher.differ(op.outputs)
        regions = [batcher.region(region, builder, differ) for region in op.regions]
        return builder.emit_all(tensor.Cond, predicate, arguments, *regions)
    made: list[Values] = []
    for region, wanted in ((op.on_true, True), (op.on_false, False)):
        mask = Mask(predicate, wanted, batcher.mask)
        with batcher.masked(mask):
            _inline_apart(batcher, region, arguments, builder, mask.active(builder))
        yielded = region.terminator.operands
        made.append(tuple([batcher.in_lanes(value, builder) for value in yielded]))
    return tuple([chosen(builder, predicate, *pair) for pair in zip(*made, strict=True)])


def loop(batcher: "Batcher", op: tensor.Loop, builder: Builder) -> Values:
    """All lanes take each step together; steps come first in what is read and stacked."""
    count = len(op.carries)
    differ = batcher.differ(op.outputs)
    carries = batcher.given(op.carries, differ[:count], builder)
    inputs = zip(op.inputs, batcher.differ(op.inputs), strict=True)
    read = [with_axis(builder, batcher.values[value], 0, int(each)) for value, each in inputs]
    body = batcher.region(op.body, builder, differ)
    made = builder.emit_all(tensor.Loop, carries, read, op.trip, body, reverse=op.reverse)
    stacked = zip(made[count:], differ[count:], strict=True)
    return (*made[:count], *[with_axis(builder, value, int(each), 0) for value, each in stacked])


def while_(batcher: "Batcher", op: tensor.While, builder: Builder) -> Values:
    """Lanes that agree when to stop stop together; else the last one stops the loop."""
    differ = batcher.differ(op.outputs)
    carries = batcher.given(op.carries, differ, builder)
    condition, body = op.condition, op.body
    if batcher.mask is not None or condition.terminator.operands[0] in batcher.varying:
        return _while_any(batcher, op, builder, carries)
    regions = (batcher.region(condition, builder, [False]), batcher.region(body, builder, differ))
    return builder.emit_all(tensor.While, carries, *regions)


def _while_any(batcher: "Batcher", op: tensor.While, builder: Builder, carries: Values) -> Values:
    """A boolean a lane is carried, true while the lane goes on; lanes that stop keep the rest."""
    running = batcher.mask.active(builder) if batcher.mask is not None else None
    going = _goes_on(batcher, op, builder, carries, running)
    types = [value.type for value in (going, *carries)]
    condition = builder.nest(types)
    condition.location = op.condition.terminator.location
    goes_on = condition.emit(tensor.ReduceOr, condition.block.arguments[0], axes=(0,))
    condition.emit_all(Yield, [goes_on])
    body = builder.nest(types)
    active, *before = body.block.arguments
    with batcher.masked(Mask(active, True, None)):
        _inline_apart(batcher, op.body, tuple(before), body, active)
        after = [batcher.in_lanes(value, body) for value in op.body.terminator.operands]
    body.location = op.body.terminator.location
    pairs = zip(after, before, strict=True)
    kept = tuple([chosen(body, active, new, old) for new, old in pairs])
    still = _goes_on(batcher, op, body, kept, active)
    body.emit_all(Yield, [still, *kept])
    return builder.emit_all(tensor.While, (going, *carries), condition.block, body.block)[1:]


def _inline_apart(
    batcher: "Batcher", region: Block, arguments: Values, builder: Builder, active: AnyValue
) -> None:
    """Put the ops of a region where the builder stands, so that no derivative goes through them to
    other lanes: there one may be infinite, or no number, and so would be 0 times that."""
    given = zip(region.arguments, arguments, strict=True)
    own = [_apart(batcher, inner, value, builder, active) for inner, value in given]
    outside = {each: batcher.values[each] for each in captured([region])}
    batcher.values.update(
        {each: _apart(batcher, each, made, builder, active) for each, made in outside.items()}
    )
    batcher.inline(region, tuple(own), builder)
    batcher.values.update(outside)


def _apart(
    batcher: "Batcher", value: AnyValue, made: AnyValue, builder: Builder, active: AnyValue
) -> AnyValue:
    """What stands for a value, as a constant for derivatives in the lanes that are not active."""
    if not moves(made):
        return made
    return (apart if value in batcher.varying else apart_from_none)(builder, active, made)


def _goes_on(
    batcher: "Batcher", op: tensor.While, builder: Builder, carries: Values, active: AnyValue | None
) -> AnyValue:
    """Which of the active lanes take a step more; the others have carries that were seen before."""
    batcher.inline(op.condition, carries, builder)
    going = batcher.in_lanes(op.condition.terminator.operands[0], builder)
    return going if active is None else both(builder, active, going)


def attention(batcher: "Batcher", op: tensor.Attention, builder: Builder) -> Values:
    """Lanes are the outer part of the batch axis."""
    tensors = op.query, op.key, op.value
    captures = tuple([batcher.values[value] for value in op.captures])
    if op.output not in batcher.varying:
        score = batcher.region(op.score, builder, [False])
        given = [batcher.values[value] for value in tensors]
        return builder.emit_all(tensor.Attention, *given, captures, op.scale, score)
    folded = [merged(builder, batcher.in_lanes(value, builder), 0) for value in tensors]
    score = _score(batcher, op.score, builder, captures)
    made = builder.emit_all(tensor.Attention, *folded, captures, op.scale, score)
    sizes = batcher.size, op.query.shape[0]
    return tuple([parted(builder, each, 0, sizes) for each in made])


def attention_backward(
    batcher: "Batcher", op: tensor.AttentionBackward, builder: Builder
) -> Values:
    """Lanes are the outer part of the batch axis, also of other gradients that are scores; the rest
    has them in front."""
    count = len(op.operands) - len(op.captures)
    lanes = [batcher.in_lanes(value, builder) for value in op.operands]
    if not any(batcher.differ(everything(op))):
        regions = [batcher.region(each, builder, [False] * len(each.terminator.operands))
                   for each in op.regions]  # fmt: skip
        given = [batcher.values[value] for value in op.operands]
        return builder.emit_all(
            tensor.AttentionBackward, *given[:count], given[count:], op.scale, *regions
        )
    folded = [merged(builder, value, 0) for value in lanes[:count]]
    captures = tuple(lanes[count:])
    regions = [_score(batcher, each, builder, captures) for each in op.regions]
    made = builder.emit_all(tensor.AttentionBackward, *folded, captures, op.scale, *regions)
    sizes, scores = (batcher.size, op.query.shape[0]), op.score.arguments[0].type
    others = zip(made[3:], op.gradients[3:], strict=True)
    return (
        *[parted(builder, each, 0, sizes) for each in made[:3]],
        *[parted(builder, each, 0, sizes) if of.type is scores else each for each, of in others],
    )


def _score(batcher: "Batcher", score: Block, builder: Builder, captures: Values) -> Block:
    """A region of scores, inside of which lanes have their axis back; what it takes, and what it
    yields besides scores, has it outside too."""
    scores: Tensor = score.arguments[0].type
    batch, *rest = scores.shape
    sizes, count = (batcher.size, batch), len(captures) + 1
    folded = scores.with_shape((product(sizes), *rest))
    more = [folded for _ in score.arguments[count:]]
    inner = builder.nest([folded, *[value.type for value in captures], *more])
    first, *others = inner.block.arguments
    taken = [parted(inner, each, 0, sizes) for each in (first, *others[count - 1 :])]
    batcher.inline(score, (taken[0], *others[: count - 1], *taken[1:]), inner)
    inner.location = score.terminator.location
    yielded = [(each.type, batcher.in_lanes(each, inner)) for each in score.terminator.operands]
    made = [merged(inner, each, 0) if type_ is scores else each for type_, each in yielded]
    inner.emit_all(Yield, made)
    return inner.block


def checkpoint(batcher: "Batcher", op: tensor.Checkpoint, builder: Builder) -> Values:
    """The body of all lanes is what is run again."""
    arguments = [batcher.values[value] for value in op.arguments]
    body = batcher.region(op.body, builder, batcher.differ(op.outputs))
    return builder.emit_all(tensor.Checkpoint, arguments, again=op.again, body=body)


def custom_vjp(batcher: "Batcher", op: tensor.CustomVjp, builder: Builder) -> Values:
    """Each lane has its own gradients, of all arguments."""
    arguments, regions = _all_alike(batcher, op, builder)
    return builder.emit_all(tensor.CustomVjp, arguments, *regions)


def linear_call(batcher: "Batcher", op: tensor.LinearCall, builder: Builder) -> Values:
    """Each lane has its own cotangents, of all tangents."""
    operands, regions = _all_alike(batcher, op, builder)
    count = len(op.residuals)
    return builder.emit_all(tensor.LinearCall, operands[:count], operands[count:], *regions)


def _all_alike(batcher: "Batcher", op: Op, builder: Builder) -> tuple[Values, list[Block]]:
    """The operands and regions of an op: if anything differs, all that it takes and yields does."""
    differs = any(batcher.differ(everything(op)))
    operands = batcher.given(op.operands, [differs] * len(op.operands), builder)
    counts = [len(region.terminator.operands) for region in op.regions]
    pairs = zip(op.regions, counts, strict=True)
    return operands, [batcher.region(each, builder, [differs] * count) for each, count in pairs]


RULES: dict[type[Op], Callable[["Batcher", Any, Builder], Values]] = {
    tensor.Cond: cond,
    tensor.Loop: loop,
    tensor.While: while_,
    tensor.Attention: attention,
    tensor.AttentionBackward: attention_backward,
    tensor.Checkpoint: checkpoint,
    tensor.CustomVjp: custom_vjp,
    tensor.LinearCall: linear_call,
}
