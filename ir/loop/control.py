"""Control: structured loops and branches that carry values.

Comes in: scalars that decide, carried values, and regions, which may also read what stands outside.
Goes out: the carried values as the regions leave them.
Never: a jump, or a carried buffer: every op names the buffer that it touches.

An op with regions may read and write as the ops inside do.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..declare import Attr, Effect, Operand, Operands, Region, Results, among, same_as
from ..dtypes import boolean
from ..errors import require
from ..payloads import Array
from ..shared.regions import check_takes, check_yields, yielded
from ..types import Buffer, Scalar, Type
from ..values import Block
from .base import INDICES
from .lanes import Control, Lane, Steps, blamed

PREDICATE = Scalar(boolean)
READ_WRITE = (Effect.READ, Effect.WRITE)


class For(Control, name="loop.for", effects=READ_WRITE):
    """`body(index, carries)` for lower, lower + step, … below upper; each round yields the next
    one's carries. The step is positive.

    `unroll` rounds may be written out after each other, and `vectorise` rounds may be done at once,
    a lane each. The rounds of a `parallel` loop may run in any order or at once, so it carries
    nothing; here they run from the last to the first, which shows those that are in need of order.
    """

    lower: Operand[Scalar] = among(INDICES)
    upper: Operand[Scalar] = same_as("lower")
    step: Operand[Scalar] = same_as("lower")
    carries: Operands[Type]
    unroll: Attr[int] = 1
    parallel: Attr[bool] = False
    vectorise: Attr[int] = 1
    body: Region
    finals: Results[Type]

    @staticmethod
    def infer(carries: tuple[Type, ...]) -> tuple[Type, ...]:
        return _carried(carries)

    def check(self) -> None:
        carries = tuple([value.type for value in self.carries])
        check_takes("body", self.body, (self.lower.type, *carries))
        check_yields("body", self.body, carries)
        require(self.unroll >= 1, "a loop is unrolled at least once", self.unroll)
        require(self.vectorise >= 1, "a loop has at least one lane", self.vectorise)
        require(not (self.parallel and carries), "a parallel loop carries nothing", *carries)

    def steps(self, lane: Lane, lower: Array, upper: Array, step: Array, *carries: Any) -> Steps:
        with blamed(self):
            require(step > 0, "the step is not positive", step)
        rounds = range(int(lower), int(upper), int(step))
        for index in reversed(rounds) if self.parallel else rounds:
            arguments = (np.asarray(index, lower.dtype), *carries)
            carries = yield from turn(lane, rounds.index(index), self.body, arguments)
        return carries


class If(Control, name="loop.if", effects=READ_WRITE):
    """What `on_true(carries)` yields where the predicate holds, else what `on_false(carries)`."""

    predicate: Operand[Scalar] = among({boolean})
    carries: Operands[Type]
    on_true: Region
    on_false: Region
    finals: Results[Type]

    @staticmethod
    def infer(on_true: Block) -> tuple[Type, ...]:
        return _carried(yielded("on_true", on_true))

    def check(self) -> None:
        carries = _carried([value.type for value in self.carries])
        finals = [value.type for value in self.finals]
        for name, region in (("on_true", self.on_true), ("on_false", self.on_false)):
            check_takes(name, region, carries)
            check_yields(name, region, finals)

    def steps(self, lane: Lane, predicate: Array, *carries: Any) -> Steps:
        return (yield from lane.steps(self.on_true if predicate else self.on_false, carries))


class While(Control, name="loop.while", effects=READ_WRITE):
    """`body(carries)`, as long as `condition(carries)` yields true for what it would take."""

    carries: Operands[Type]
    condition: Region
    body: Region
    finals: Results[Type]

    @staticmethod
    def infer(carries: tuple[Type, ...]) -> tuple[Type, ...]:
        return _carried(carries)

    def check(self) -> None:
        carries = [value.type for value in self.carries]
        check_takes("condition", self.condition, carries)
        check_yields("condition", self.condition, [PREDICATE])
        check_takes("body", self.body, carries)
        check_yields("body", self.body, carries)

    def steps(self, lane: Lane, *carries: Any) -> Steps:
        count = 0
        while True:
            (more,) = yield from turn(lane, count, self.condition, carries)
            if not more:
                return carries
            carries = yield from turn(lane, count, self.body, carries)
            count += 1


def turn(lane: Lane, count: int, region: Block, arguments: Sequence[Any]) -> Steps:
    """Run the region of a loop that has turned `count` times before."""
    lane.turns.append(count)
    results = yield from lane.steps(region, arguments)
    lane.turns.pop()
    return results


def _carried(types: Sequence[Type]) -> tuple[Type, ...]:
    """The types of carries and results, if values of them can be carried."""
    for type_ in types:
        require(not isinstance(type_, Buffer), "a buffer is not carried", type_)
    return tuple(types)


__all__ = ["For", "If", "While"]
