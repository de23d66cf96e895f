"""Control: loops and branches that carry values, and what may be assumed.

Comes in: scalars that decide, and the values that are carried from round to round or into a branch;
a region may also read what stands outside it. Goes out: what the last round or the branch yields.
Never: a jump; a region ends in its yield.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..declare import Attr, Effect, Operand, Operands, Region, Results, among
from ..dtypes import boolean, i64
from ..errors import require
from ..payloads import Array
from ..shared.regions import check_takes, check_yields, yielded
from ..types import INDEX, Scalar, Tile, Type
from ..values import Block
from .base import TileOp, handed_back, types_of


class For(TileOp, name="tile.for", effects=(Effect.READ, Effect.WRITE)):
    """Run `body(index, carries)` for lower, lower + step, … below upper; what a round yields is
    carried into the next one. The step is positive. Schedules speak of the loop by its label."""

    lower: Operand[Scalar] = among({i64})
    upper: Operand[Scalar] = among({i64})
    step: Operand[Scalar] = among({i64})
    carries: Operands[Scalar | Tile]
    label: Attr[str | None] = None
    body: Region
    outputs: Results[Scalar | Tile]

    @staticmethod
    def infer(carries: tuple[Type, ...]) -> tuple[Type, ...]:
        return carries

    def check(self) -> None:
        carried = types_of(self.carries)
        check_takes("body", self.body, (INDEX, *carried))
        check_yields("body", self.body, carried)

    def run(self, frame: Any, lower: Array, upper: Array, step: Array, *carries: Array) -> Any:
        require(int(step) > 0, "the step is not positive", int(step))
        for index in range(int(lower), int(upper), int(step)):
            carries = frame.run(self.body, (np.asarray(index, np.int64), *carries))
        return handed_back(carries)


class If(TileOp, name="tile.if", effects=(Effect.READ, Effect.WRITE)):
    """What `on_true(carries)` yields where the predicate holds, else what `on_false` yields."""

    predicate: Operand[Scalar] = among({boolean})
    carries: Operands[Scalar | Tile]
    on_true: Region
    on_false: Region
    outputs: Results[Scalar | Tile]

    @staticmethod
    def infer(on_true: Block) -> tuple[Type, ...]:
        return yielded("on_true", on_true)

    def check(self) -> None:
        for name, region in (("on_true", self.on_true), ("on_false", self.on_false)):
            check_takes(name, region, types_of(self.carries))
            check_yields(name, region, types_of(self.outputs))
        check_values(types_of(self.outputs))

    def run(self, frame: Any, predicate: Array, *carries: Array) -> Any:
        return handed_back(frame.run(self.on_true if predicate else self.on_false, carries))


# To assume changes nothing, but without an effect nobody would need it and it would go.
class Assume(TileOp, name="tile.assume", effects=(Effect.READ,)):
    """From here on the predicate holds; a kernel for which it does not has no meaning."""

    predicate: Operand[Scalar] = among({boolean})

    def run(self, frame: Any, predicate: Array) -> tuple[()]:
        require(predicate, "what is assumed does not hold")
        return ()


def check_values(types: Sequence[Type]) -> None:
    """Refuse a branch that makes a view: which memory it shows must be known before."""
    for type_ in types:
        require(isinstance(type_, Scalar | Tile), "a branch yields scalars and tiles, not", type_)
