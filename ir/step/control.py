"""Control flow of the host: regions that run in order, again and again, or not at all.

Comes in: a trip count, a size, or a predicate in memory. Goes out: nothing; what the regions do to
memory stays done.
Never: a value carried from one step to the next, other than in memory.
"""

from typing import Any

import numpy as np

from .. import types
from ..declare import Attr, Effect, Operand, Region, among
from ..dims import Size, check_size
from ..dtypes import boolean
from ..errors import require
from ..payloads import Array
from ..shared.regions import check_takes, check_yields
from ..types import INDEX
from .allocations import allocations_of
from .base import StepOp

EFFECTS = (Effect.READ, Effect.WRITE, Effect.HOST)
PREDICATE = types.Array((), boolean)


class Loop(StepOp, name="step.loop", effects=EFFECTS):
    """The body, `trip` times, with the index of each; `reverse` begins with the last."""

    trip: Attr[Size]
    reverse: Attr[bool] = False
    body: Region

    def check(self) -> None:
        check_size(self.trip)
        check_takes("body", self.body, (INDEX,))
        check_yields("body", self.body, ())

    def act(self, frame: Any) -> None:
        trip = frame.size(self.trip)
        require(trip >= 0, f"the trip count {self.trip} is {trip}")
        for index in reversed(range(trip)) if self.reverse else range(trip):
            frame.run(self.body, (np.asarray(index, np.int64),))


class While(StepOp, name="step.while", effects=EFFECTS):
    """The body, as long as the predicate, as it then is in memory, holds."""

    predicate: Operand[types.Array] = among({boolean})
    body: Region

    def check(self) -> None:
        require(self.predicate.type is PREDICATE, "the predicate has rank 0", self.predicate.type)
        check_takes("body", self.body, ())
        check_yields("body", self.body, ())

    def act(self, frame: Any, predicate: Array) -> None:
        alive = allocations_of(frame).check_alive
        while predicate:
            frame.run(self.body, ())
            alive(predicate)


class Branch(StepOp, name="step.branch", effects=EFFECTS):
    """`on_true` where the predicate, as it then is in memory, holds; else `on_false`."""

    predicate: Operand[types.Array] = among({boolean})
    on_true: Region
    on_false: Region

    def check(self) -> None:
        require(self.predicate.type is PREDICATE, "the predicate has rank 0", self.predicate.type)
        for name, region in (("on_true", self.on_true), ("on_false", self.on_false)):
            check_takes(name, region, ())
            check_yields(name, region, ())

    def act(self, frame: Any, predicate: Array) -> None:
        frame.run(self.on_true if predicate else self.on_false, ())


class When(StepOp, name="step.when", effects=EFFECTS):
    """`enough` where the size is `at_least` so much; else `below`. What it will be is known as soon
    as sizes are, before anything runs."""

    size: Attr[Size]
    at_least: Attr[int]
    enough: Region
    below: Region

    def check(self) -> None:
        check_size(self.size)
        for name, region in (("enough", self.enough), ("below", self.below)):
            check_takes(name, region, ())
            check_yields(name, region, ())

    def act(self, frame: Any) -> None:
        frame.run(self.enough if frame.size(self.size) >= self.at_least else self.below, ())
