"""Bodies of loops that carry more than a user's carry: what their turns leave, and their count.

Comes in: bodies that were traced, and return what they leave. Goes out: bodies that take from each
turn to the next, for each place, the last value that was left; and what they begin with.
Never: a second run of a user's function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..ir import dtypes as ir
from ..ir.types import Tensor as TensorType
from .function import StandIn, Traced, stand_in, trace
from .left import Place, chosen
from .node import Node, constant
from .regions import Pair, blank, called, ever, no, on_tensors
from .trace import Trace

INDEX = TensorType((), ir.i64)


class Kept:
    """What a loop carries of what its turns leave: for each place the last value.

    `surely` says that there is a turn; else it is also carried whether there was one.
    """

    def __init__(self, places: Sequence[Place], left: Sequence[Pair], surely: bool) -> None:
        self.places = places
        start = [(value, None if surely and when is None else no()) for value, when in left]
        self.start, self._pairs = on_tensors(lambda pairs: pairs, (start,), {})

    def after(self, values: Sequence[Any], left: Sequence[Pair]) -> list[Pair]:
        """What is carried on after a turn, if these tensors came in."""
        rows = zip(self.places, self._pairs(values), left, strict=True)
        return [
            (chosen(place, when, value, old), None if was is None else ever(was, when))
            for place, (old, was), (value, when) in rows
        ]


class Turn(NamedTuple):
    """A body of a loop: what it takes, of which the first `split` are the loop's index and the
    user's carry; and what the loop begins with that is carried beside that."""

    traced: Traced
    like: Sequence[StandIn]
    split: int
    start: Sequence[Node] = ()


def keeping(turn: Turn, places: Sequence[Place], stacked: Sequence[bool], trip: Any) -> Turn:
    """A body of a scan that carries what its turns leave, but for what is stacked.

    It returns (carry, what is kept), (output, what is stacked); the one that is given stacks all.
    """
    lasting = [not each for each in stacked]
    left = _where(lasting, blank(turn.traced)[1][1])
    kept = Kept(_where(lasting, places), left, isinstance(trip, int) and trip > 0)
    split, end = turn.split, turn.split + len(kept.start)

    def run(values: list[Any]) -> Any:
        (carry, _), (output, left) = called(turn.traced, [*values[:split], *values[end:]])
        after = kept.after(values[split:end], _where(lasting, left))
        return (carry, after), (output, _where(stacked, left))

    like = [*turn.like[:split], *map(stand_in, kept.start), *turn.like[split:]]
    return Turn(trace("scan", run, like), like, split, kept.start)


def counted(condition: Turn, body: Turn, places: Sequence[Place]) -> tuple[Turn, Turn]:
    """The two halves of a `while_loop` that also carries what its turns leave and their count, if
    anything is left, or drawn by the count.

    The body returns (carry, what is kept, the count); the one that is given returns no count.
    """
    if not places and not any([_counts(each) for each in (condition, body)]):
        return condition, body
    kept = Kept(places, blank(body.traced)[1], surely=False)
    start = [*kept.start, constant(0, ir.i64)]
    split = body.split

    def holds(values: list[Any]) -> Any:
        return called(condition.traced, _own(condition, values))

    def run(values: list[Any]) -> Any:
        carry, left, _ = called(body.traced, _own(body, values))
        return carry, kept.after(values[split:-1], left), values[-1] + 1

    like = [*body.like, *map(stand_in, start)]
    return (
        Turn(trace("while_loop", holds, like), like, split, start),
        Turn(trace("while_loop", run, like), like, split, start),
    )


def count_turns(current: Trace, _: list[Node]) -> None:
    """Let random numbers differ from turn to turn: by one more argument, made when needed."""
    made: list[Node] = []

    def count() -> Node:
        if not made:
            made.append(current.add_argument(INDEX))
        return made[0]

    current.make_index = count


def _counts(turn: Turn) -> bool:
    """Whether a half of a `while_loop` has asked for the count of turns."""
    return len(turn.traced.func.arguments) > turn.split + len(turn.traced.captures)


def _own(turn: Turn, values: list[Any]) -> list[Any]:
    """What a half of a `while_loop` takes, of what the whole loop carries."""
    return [*values[: turn.split], *([values[-1]] if _counts(turn) else [])]


def in_order(stacked: Sequence[bool], kept: Sequence[Any], rows: Sequence[Any]) -> list[Any]:
    """What a loop has kept and what it has stacked, for all places in their order."""
    lasting, others = iter(kept), iter(rows)
    return [next(others) if each else next(lasting) for each in stacked]


def _where(flags: Sequence[bool], values: Sequence[Any]) -> list[Any]:
    return [value for flag, value in zip(flags, values, strict=True) if flag]
