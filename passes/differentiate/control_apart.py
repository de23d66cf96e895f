"""Control flow with its tangents apart: the rules of `linearise` for ops with regions.

Comes in: an op with regions, some of whose operands or captured values have tangents. Goes out: two
ops: the first makes the values and what the second has to know of them, the second is linear, and
makes the tangents.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import INEXACT
from ...ir.errors import Unmet
from ...ir.tensor.base import Tangents
from ...ir.tensor.control import INDEX, types_of
from ...ir.tensor.rules import zeros
from ...ir.types import Type
from ...ir.values import AnyValue, Block, Op
from ..copying import Values, copy_ops
from ..dead import sweep
from .attention import attention
from .control_forward import changing_in, linear_call
from .expand import EXPANDED
from .forward import Forward, Rule
from .regions import Flags, Parts, apart, closed, filled_in, in_any, opened, some, spaced
from .softmax import SOFTMAX
from .split import Split


@dataclass
class Swept:
    """A region once swept: its builder and arguments, their tangents, what it yields of both."""

    inner: Builder
    own: Parts
    changes: Parts
    outputs: Parts
    made: Tangents
    split: Split

    def rebuilt(self, linear: Builder, values: Values) -> Tangents:
        """Take the linear ops out, make them in another block, and return the tangents there."""
        self.split.rebuild(linear, values)
        self.split.erase()
        return tuple([each and values.get(each, each) for each in self.made])


def cond(forward: Forward, op: tensor.Cond) -> None:
    """The regions of the first yield the residuals of both, with zeros for those of the other."""
    builder, count = forward.builder, len(op.results)
    (predicate,), arguments = forward.taken((op.predicate,)), forward.taken(op.arguments)
    tangents = forward.changes(op.arguments)
    sides = [_swept(forward, region, types_of(arguments), tangents) for region in op.regions]
    changed = in_any([side.made for side in sides])
    slots, places = _slots(sides)
    blocks = [
        closed(side.inner, side.outputs, _in_slots(side.inner, slots, at))
        for side, at in zip(sides, places, strict=True)
    ]
    results = builder.emit_all(tensor.Cond, predicate, arguments, *blocks)
    regions: list[Block] = []
    for side, at in zip(sides, places, strict=True):
        inner, (changes,) = opened(builder, types_of(side.changes))
        values = {value: results[count + slot] for value, slot in at.items()}
        values.update(zip((*side.own, *side.changes), (*arguments, *changes), strict=True))
        made = side.rebuilt(inner, values)
        regions.append(closed(inner, filled_in(inner, side.outputs, made, changed)))
    linear = builder.emit_all(tensor.Cond, predicate, some(tangents), *regions)
    forward.define(op, results[:count], spaced(linear, changed))


def loop(forward: Forward, op: tensor.Loop) -> None:
    """The first stacks the residuals of each step; the second reads them, step by step."""
    builder, count = forward.builder, len(op.carries)
    carries, inputs = forward.taken(op.carries), forward.taken(op.inputs)
    read, changing = forward.changes(op.inputs), changing_in(forward, op)
    started = filled_in(builder, carries, forward.changes(op.carries), changing)
    flags = False, *changing, *read
    body = _swept(forward, op.body, types_of(op.body.arguments), flags, loop=True)
    index, rows = body.own[0], body.own[1 + count :]
    residuals = body.split.residuals
    again = [place for place, row in enumerate(rows) if row in residuals]
    kept = [value for value in residuals if value is not index and value not in rows]
    first = closed(body.inner, body.outputs, kept)
    results = builder.emit_all(tensor.Loop, carries, inputs, op.trip, first, reverse=op.reverse)
    own, stacks = results[: len(op.results)], results[len(op.results) :]
    known = [*[rows[place] for place in again], *kept]
    inner, parts = opened(builder, [INDEX], types_of(body.changes), types_of(known))
    values = dict(zip((index, *body.changes, *known), chain(*parts), strict=True))
    made = body.rebuilt(inner, values)
    following = filled_in(inner, body.outputs[:count], made[:count], changing)
    second = closed(inner, following, some(made[count:]))
    taken = (*some(read), *[inputs[place] for place in again], *stacks)
    linear = builder.emit_all(tensor.Loop, started, taken, op.trip, second, reverse=op.reverse)
    forward.define(op, own, spaced(linear, (*changing, *made[count:])))


def refuse_while(forward: Forward, op: tensor.While) -> None:
    """How many residuals there are is not known before it has run."""
    if any(changing_in(forward, op)):
        raise Unmet(
            "runs for an unknown number of steps: to go backward through it, say max_steps="
        )
    forward.copy(op)


def checkpoint(forward: Forward, op: tensor.Checkpoint) -> None:
    """The second runs the body again, so only the arguments are its residuals."""
    forward.copy(op)
    results = forward.taken(op.results)
    arguments, tangents = forward.taken(op.arguments), forward.changes(op.arguments)
    types = types_of(arguments), types_of(some(tangents))
    inner, (own, changes) = apart(forward.builder, *types)
    forward.bind(own, spaced(changes, tangents))
    _, made = forward.region(op.body, inner, own)
    body = closed(inner, some(made))
    sweep(body)
    given = [*arguments, *some(tangents)]
    linear = forward.builder.emit_all(tensor.Checkpoint, given, again=True, body=body)
    forward.define(op, results, spaced(linear, made))


def custom_vjp(forward: Forward, op: tensor.CustomVjp) -> None:
    """The first is the region `forward`, the second known by its transpose, `backward`."""
    if forward.captured(op):
        raise Unmet("reads a differentiated value from outside: hand it over as an argument")
    arguments, tangents = forward.taken(op.arguments), forward.changes(op.arguments)
    forward.values.update(zip(op.forward.arguments, arguments, strict=True))
    ops = (each for each in op.forward if not each.terminator)
    copy_ops(ops, forward.builder, forward.values)
    made = forward.taken(op.forward.terminator.operands)
    outputs, residuals = made[: len(op.results)], made[len(op.results) :]
    changes = filled_in(forward.builder, arguments, tangents, _inexact(arguments))
    backward = forward.copied(op.backward)
    linear = forward.builder.emit_all(tensor.LinearCall, residuals, changes, backward)
    forward.define(op, outputs, spaced(linear, _inexact(outputs)))


CONTROL: Mapping[type[Op], Rule] = {
    **EXPANDED,
    **SOFTMAX,
    tensor.Attention: attention,
    tensor.Cond: cond,
    tensor.Loop: loop,
    tensor.While: refuse_while,
    tensor.Checkpoint: checkpoint,
    tensor.CustomVjp: custom_vjp,
    tensor.LinearCall: linear_call,
}

PUSHED: Mapping[type[Op], Rule] = {**CONTROL, **EXPANDED}
"""The same for linear functions that are to run: none that is known by its transpose alone, where
there is another."""


def _swept(
    forward: Forward, region: Block, types: Sequence[Type], flags: Flags, loop: bool = False
) -> Swept:
    """Sweep a region; its arguments with a flag have tangents, which stand in no block."""
    inner, (own,) = opened(forward.builder, types)
    changes = Block([type_ for type_, flag in zip(types, flags, strict=True) if flag]).arguments
    forward.bind(own, spaced(changes, flags))
    outputs, made = forward.region(region, inner, own)
    split = Split(inner.block, forward.linear, some(made), loop)
    return Swept(inner, own, changes, outputs, made, split)


def _slots(sides: Iterable[Swept]) -> tuple[list[Type], list[dict[AnyValue, int]]]:
    """The types of what the regions hand over, and which residual of each is handed over where."""
    slots: list[Type] = []
    places: list[dict[AnyValue, int]] = []
    for side in sides:
        free = list(range(len(slots)))
        taken: dict[AnyValue, int] = {}
        for value in side.split.residuals:
            if value.op is None:
                continue  # an argument, which both ops get from outside
            fitting = next((slot for slot in free if slots[slot] is value.type), None)
            if fitting is None:
                slots.append(value.type)
            else:
                free.remove(fitting)
            taken[value] = len(slots) - 1 if fitting is None else fitting
        places.append(taken)
    return slots, places


def _in_slots(builder: Builder, slots: list[Type], taken: dict[AnyValue, int]) -> list[AnyValue]:
    """A value for each slot: the residual that takes it, or zeros."""
    values = {slot: value for value, slot in taken.items()}
    return [values.get(slot) or zeros(builder, type_) for slot, type_ in enumerate(slots)]


def _inexact(values: Sequence[AnyValue]) -> list[bool]:
    return [value.dtype in INEXACT for value in values]
