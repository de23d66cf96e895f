"""The forward analysis: what is known of every value of a func, from the arguments on.

Comes in: a func. Goes out: a `Known`, filled in program order; what a loop carries is assumed to be
what it starts with, and where a step shows otherwise, less is assumed, until every step agrees.
Never: a fact that depends on a value, or on which way a condition goes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...ir import tensor
from ...ir.dtypes import BITS, FLOATS
from ...ir.func import Func
from ...ir.tensor import TensorOp
from ...ir.values import AnyValue, Block, Op
from .bounds import LIMITS, Range, below, least_of, most_of
from .comparisons import COMPARISONS
from .floats import FLOAT_RULES
from .integers import INTEGERS
from .known import Fact, Known, Rule, either, unknown
from .moves import MOVES

OF_INTEGERS: Mapping[type[Op], Rule] = {**MOVES, **INTEGERS, **COMPARISONS}
OF_FLOATS: Mapping[type[Op], Rule] = {**MOVES, **FLOAT_RULES}
RULES = {dtype: OF_INTEGERS for dtype in BITS} | {dtype: OF_FLOATS for dtype in FLOATS}
NO_RULES: Mapping[type[Op], Rule] = {}

Blocks = Iterator[Block]


def analysed(func: Func) -> Known:
    """What is known of every value."""
    known = Known(rule_of)
    learn(func.body, known)
    return known


def rule_of(op: TensorOp) -> Rule | None:
    """The rule that says what is known of an op's only result."""
    return RULES.get(op.results[0].type.dtype, NO_RULES).get(op.__class__)


def learn(block: Block, known: Known) -> None:
    """Note what is known of the results of a block's ops, given what is of its arguments."""
    # A stack instead of recursion, since regions may nest to any depth.
    learning = [_learn_ops(block, known)]
    while learning:
        inner = next(learning[-1], None)
        if inner is None:
            learning.pop()
        else:
            learning.append(_learn_ops(inner, known))


def _learn_ops(block: Block, known: Known) -> Blocks:
    for op in block:
        if op.regions:
            yield from CONTROL.get(op.__class__, learn_unknown)(op, known)
        elif isinstance(op, tensor.Sort):
            _pass_on(op.operands, op.results, known)
        else:
            for result in op.results:
                known.look_again(result)


def learn_unknown(op: Op, known: Known) -> Blocks:
    """Nothing of what an op hands to its regions, or makes of what they yield."""
    for region in op.regions:
        _forget(region.arguments, known)
        yield region
    _forget(op.results, known)


def learn_cond(op: tensor.Cond, known: Known) -> Blocks:
    """What both regions yield."""
    for region in op.regions:
        _pass_on(op.arguments, region.arguments, known)
        yield region
    sides = zip(*(region.terminator.operands for region in op.regions), strict=True)
    for result, (on_true, on_false) in zip(op.outputs, sides, strict=True):
        known[result] = either(known[on_true], known[on_false])


def learn_loop(op: tensor.Loop, known: Known) -> Blocks:
    """What the carries start with and every step yields; the index counts the steps."""
    count = len(op.carries)
    index, *arguments = op.body.arguments
    known[index] = below(op.trip, index.type.dtype)
    _pass_on(op.inputs, arguments[count:], known)
    carried = arguments[:count]
    yield from _learn_steps(op.body, op.carries, carried, known)
    _pass_on(carried, op.outputs[:count], known)
    _pass_on(op.body.terminator.operands[count:], op.outputs[count:], known)


def learn_while(op: tensor.While, known: Known) -> Blocks:
    """What the carries start with and every step yields."""
    carried = op.body.arguments
    yield from _learn_steps(op.body, op.carries, carried, known)
    _pass_on(carried, op.condition.arguments, known)
    yield op.condition
    _pass_on(carried, op.outputs, known)


def learn_attention(op: tensor.Attention, known: Known) -> Blocks:
    """Nothing of the scores, or of what comes of them."""
    scores, *captures = op.score.arguments
    known[scores] = unknown(scores.type)
    _pass_on(op.captures, captures, known)
    yield op.score
    _forget(op.results, known)


def learn_attention_backward(op: tensor.AttentionBackward, known: Known) -> Blocks:
    """Nothing of the scores, or of gradients."""
    for region in op.regions:
        scores, *captures = region.arguments[: len(op.captures) + 1]
        for value in (scores, *region.arguments[len(op.captures) + 1 :]):
            known[value] = unknown(value.type)
        _pass_on(op.captures, captures, known)
        yield region
    _forget(op.results, known)


def learn_checkpoint(op: tensor.Checkpoint, known: Known) -> Blocks:
    """What the body yields."""
    _pass_on(op.arguments, op.body.arguments, known)
    yield op.body
    _pass_on(op.body.terminator.operands, op.outputs, known)


def learn_custom_vjp(op: tensor.CustomVjp, known: Known) -> Blocks:
    """What `primal` yields; of cotangents nothing is known."""
    for region in (op.primal, op.forward):
        _pass_on(op.arguments, region.arguments, known)
        yield region
    _forget(op.backward.arguments, known)
    yield op.backward
    _pass_on(op.primal.terminator.operands, op.outputs, known)


def _learn_steps(
    body: Block, starts: Sequence[AnyValue], carried: Sequence[AnyValue], known: Known
) -> Blocks:
    """Find what holds of the carries before the first step and after each.

    What was assumed in an earlier round of a loop around this one stays the least that is assumed,
    so loops in loops take few rounds in all.
    """
    for start, argument in zip(starts, carried, strict=True):
        before = known.get(argument)
        known[argument] = known[start] if before is None else either(before, known[start])
    for loosen in (_loosened, _forgotten):
        yield body
        grown = list(_grown(body, carried, known))
        if not grown:
            return
        for argument, fact in grown:
            known[argument] = loosen(argument, known[argument], fact)
    yield body
    if any(_grown(body, carried, known)):
        for argument in carried:
            known[argument] = unknown(argument.type)
        yield body


def _grown(
    body: Block, carried: Sequence[AnyValue], known: Known
) -> Iterable[tuple[AnyValue, Fact]]:
    """The carries of which a step yields more than was assumed, and what to assume to hold both."""
    for argument, following in zip(carried, body.terminator.operands, strict=False):
        fact = either(known[argument], known[following])
        if fact != known[argument]:
            yield argument, fact


def _loosened(argument: AnyValue, old: Fact, new: Fact) -> Fact:
    """A range that grew at one end, which may grow for ever, up to 0 or the limit of its dtype."""
    if isinstance(old, int) or isinstance(new, int):
        return new
    least, most = LIMITS[argument.type.dtype]
    low = 0 if least_of(new.low) >= 0 else least
    high = 0 if most_of(new.high) <= 0 else most
    return Range(old.low if new.low == old.low else low, old.high if new.high == old.high else high)


def _forgotten(argument: AnyValue, old: Fact, new: Fact) -> Fact:
    return unknown(argument.type)


def _forget(values: Iterable[AnyValue], known: Known) -> None:
    """Of each, nothing is known but what its op says."""
    for value in values:
        known.look_again(value)


def _pass_on(sources: Sequence[AnyValue], targets: Sequence[AnyValue], known: Known) -> None:
    """Each target is what its source is."""
    for source, target in zip(sources, targets, strict=True):
        known[target] = known[source]


CONTROL: Mapping[type[Op], Callable[[Any, Known], Blocks]] = {
    tensor.Cond: learn_cond,
    tensor.Loop: learn_loop,
    tensor.While: learn_while,
    tensor.Attention: learn_attention,
    tensor.AttentionBackward: learn_attention_backward,
    tensor.Checkpoint: learn_checkpoint,
    tensor.CustomVjp: learn_custom_vjp,
}
"""How an op with regions is learned: each block that is yielded is looked through then and there,
with what is known of its arguments by that time."""
