"""Control flow with its tangents beside its values: the rules of `jvp` for ops with regions.

Comes in: an op with regions, some of whose operands or captured values have tangents. Goes out: one
op of the same class, whose regions take, make and hand back values and tangents.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir import tensor
from ...ir.errors import Unmet
from ...ir.tensor.control import INDEX, types_of
from ...ir.values import AnyValue, Op
from .activity import changing_carries
from .expand import EXPANDED
from .forward import Forward, Rule
from .regions import Flags, apart, closed, filled_in, grouped, in_any, opened, some, spaced
from .softmax import SOFTMAX


def cond(forward: Forward, op: tensor.Cond) -> None:
    """Both regions take the tangents of their arguments, and yield those of their results."""
    builder = forward.builder
    (predicate,), arguments = forward.taken((op.predicate,)), forward.taken(op.arguments)
    tangents = forward.changes(op.arguments)
    sides: list[Any] = []
    for region in op.regions:
        inner, (own, changes) = opened(builder, types_of(arguments), types_of(some(tangents)))
        forward.bind(own, spaced(changes, tangents))
        sides.append((inner, *forward.region(region, inner, own)))
    changed = in_any([made for _, _, made in sides])
    blocks = [
        closed(inner, outputs, filled_in(inner, outputs, made, changed))
        for inner, outputs, made in sides
    ]
    given = [*arguments, *some(tangents)]
    results = builder.emit_all(tensor.Cond, predicate, given, *blocks)
    _define(forward, op, results, changed)


def loop(forward: Forward, op: tensor.Loop) -> None:
    """A carry that changes is carried with its tangent, an input is read with its own."""
    builder, count = forward.builder, len(op.carries)
    carries, inputs = forward.taken(op.carries), forward.taken(op.inputs)
    read = forward.changes(op.inputs)
    changing = changing_in(forward, op)
    started = filled_in(builder, carries, forward.changes(op.carries), changing)
    slices = types_of(op.body.arguments[1 + count :])
    sloped = [type_ for type_, tangent in zip(slices, read, strict=True) if tangent]
    inner, (index, own, own_changes, rows, row_changes) = opened(
        builder, [INDEX], types_of(carries), types_of(started), slices, sloped
    )
    forward.bind(own, spaced(own_changes, changing))
    forward.bind(rows, spaced(row_changes, read))
    outputs, made = forward.region(op.body, inner, (*index, *own, *rows))
    following = filled_in(inner, own, made[:count], changing)
    stacked = made[count:]
    body = closed(inner, outputs[:count], following, outputs[count:], some(stacked))
    operands = (*carries, *started), (*inputs, *some(read))
    results = builder.emit_all(tensor.Loop, *operands, op.trip, body, reverse=op.reverse)
    counts = count, len(started), len(stacked), len(some(stacked))
    last, last_changes, stacks, stack_changes = grouped(results, counts)
    tangents = *spaced(last_changes, changing), *spaced(stack_changes, stacked)
    forward.define(op, (*last, *stacks), tangents)


def repeat(forward: Forward, op: tensor.While) -> None:
    """The condition looks at the values alone."""
    builder, count = forward.builder, len(op.carries)
    carries, changing = forward.taken(op.carries), changing_in(forward, op)
    started = filled_in(builder, carries, forward.changes(op.carries), changing)
    types = types_of(carries), types_of(started)
    test, (tested, _) = opened(builder, *types)
    holds, _ = forward.region(op.condition, test, tested)
    inner, (own, changes) = opened(builder, *types)
    forward.bind(own, spaced(changes, changing))
    outputs, made = forward.region(op.body, inner, own)
    body = closed(inner, outputs, filled_in(inner, outputs, made, changing))
    condition = closed(test, holds)
    results = builder.emit_all(tensor.While, [*carries, *started], condition, body)
    forward.define(op, results[:count], spaced(results[count:], changing))


def checkpoint(forward: Forward, op: tensor.Checkpoint) -> None:
    """The body runs along with its tangents, still a body that may be run again."""
    arguments, tangents = forward.taken(op.arguments), forward.changes(op.arguments)
    types = types_of(arguments), types_of(some(tangents))
    inner, (own, changes) = apart(forward.builder, *types)
    forward.bind(own, spaced(changes, tangents))
    outputs, made = forward.region(op.body, inner, own)
    body = closed(inner, outputs, some(made))
    given = [*arguments, *some(tangents)]
    results = forward.builder.emit_all(tensor.Checkpoint, given, again=op.again, body=body)
    _define(forward, op, results, made)


def custom_vjp(forward: Forward, op: tensor.CustomVjp) -> None:
    """There is no rule for it forward."""
    raise Unmet("has a rule for gradients alone")


def linear_call(forward: Forward, op: tensor.LinearCall) -> None:
    """It is linear in its tangents; by its residuals nobody knows the derivative."""
    if any(forward.changes(op.residuals)) or forward.captured(op):
        raise Unmet("is known by its transpose alone, which gives no derivative by residuals")
    forward.copy(op)
    residuals, tangents = forward.taken(op.residuals), forward.taken(op.tangents)
    changes = filled_in(forward.builder, tangents, forward.changes(op.tangents), tangents)
    backward = forward.copied(op.backward)
    made = forward.builder.emit_all(tensor.LinearCall, residuals, changes, backward)
    forward.define(op, forward.taken(op.outputs), made)


def changing_in(forward: Forward, op: tensor.Loop | tensor.While) -> list[bool]:
    """Which carries of a loop have a tangent at some step."""
    count = len(op.carries)
    arguments = op.body.arguments[-len(op.operands) :] if op.operands else ()
    read = zip(arguments[count:], forward.changes(op.operands[count:]), strict=True)
    others = [slice_ for slice_, tangent in read if tangent]
    start = [tangent is not None for tangent in forward.changes(op.carries)]
    return changing_carries(op.body, arguments[:count], start, [*others, *forward.captured(op)])


def _define(forward: Forward, op: Op, results: Sequence[AnyValue], changed: Flags) -> None:
    """Results of an op whose tangents follow them."""
    count = len(op.results)
    forward.define(op, results[:count], spaced(results[count:], changed))


CONTROL: Mapping[type[Op], Rule] = {
    **EXPANDED,
    **SOFTMAX,
    tensor.Cond: cond,
    tensor.Loop: loop,
    tensor.While: repeat,
    tensor.Checkpoint: checkpoint,
    tensor.CustomVjp: custom_vjp,
    tensor.LinearCall: linear_call,
}
