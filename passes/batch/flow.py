"""How what differs from lane to lane flows into the regions of an op, and out of them.

Comes in: an op with regions, and the place of an operand, or of what a region yields. Goes out: the
values that differ because that one does.
Never: the condition of a while loop, nor that of a choice: they say which lanes run at all.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ...ir import tensor
from ...ir.values import AnyValue, Block, Op


class Flow(NamedTuple):
    """What differs because of an operand, by its place, and because of what a region yields."""

    into: Callable[[Any, int], Iterable[AnyValue]]
    out_of: Callable[[Any, Block, int], Iterable[AnyValue]]


def everything(op: Op, *_: object) -> list[AnyValue]:
    """All that regions take, and all results."""
    return [*op.results, *[value for region in op.regions for value in region.arguments]]


def output(op: Op, region: Block, place: int) -> list[AnyValue]:
    """The result at the same place."""
    return [op.results[place]]


def into_cond(op: tensor.Cond, place: int) -> list[AnyValue]:
    """An argument is handed to both regions; a predicate tells all results apart."""
    return [region.arguments[place - 1] for region in op.regions] if place else [*op.outputs]


def into_loop(op: tensor.Loop, place: int) -> list[AnyValue]:
    """A carry is also what comes out, after no steps."""
    carried = op.outputs[place : place + 1] if place < len(op.carries) else ()
    return [op.body.arguments[place + 1], *carried]


def out_of_loop(op: tensor.Loop, region: Block, place: int) -> list[AnyValue]:
    """A carry goes to the next step."""
    return into_loop(op, place) if place < len(op.carries) else [op.outputs[place]]


def carried(op: tensor.While, place: int) -> list[AnyValue]:
    """One carry of a while loop, wherever it is seen."""
    return [op.condition.arguments[place], op.body.arguments[place], op.outputs[place]]


def out_of_body(op: tensor.While, region: Block, place: int) -> list[AnyValue]:
    """A carry goes to the next step."""
    return carried(op, place)


def into_attention(op: tensor.Attention, place: int) -> list[AnyValue]:
    """The scores of all lanes are computed together, whatever it is that differs."""
    captured = op.score.arguments[place - 2 : place - 1] if place > 2 else ()
    return [op.score.arguments[0], *captured, *op.results]


def out_of_score(op: tensor.Attention, region: Block, place: int) -> list[AnyValue]:
    """The scores of all lanes are computed together, and so is the rest."""
    return [op.score.arguments[0], *op.results]


def into_checkpoint(op: tensor.Checkpoint, place: int) -> list[AnyValue]:
    """An argument is handed to the body."""
    return [op.body.arguments[place]]


FLOWS: dict[type[Op], Flow] = {
    tensor.Cond: Flow(into_cond, output),
    tensor.Loop: Flow(into_loop, out_of_loop),
    tensor.While: Flow(carried, out_of_body),
    tensor.Attention: Flow(into_attention, out_of_score),
    tensor.AttentionBackward: Flow(everything, everything),
    tensor.Checkpoint: Flow(into_checkpoint, output),
    tensor.CustomVjp: Flow(everything, everything),
    tensor.LinearCall: Flow(everything, everything),
}
