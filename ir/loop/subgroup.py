"""What lanes do together: exchange registers, and wait for each other.

Comes in: the value that each lane holds. Goes out: a value for each lane.
Never: part of the lanes. An op here is reached by every lane of its scope in the same turn of the
loops around it; otherwise the program is wrong.

These ops do more than compute: they stay where they stand, which the effect says.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..declare import Attr, Effect, Operand, Result, among, same_as
from ..errors import require
from ..payloads import Array
from ..types import Scalar, Space
from .base import INDICES, VALUES, Register
from .kinds import ReduceKind, binary_of, check_kind
from .lanes import Meeting, Scope
from .tree import reduce_tree


class SubgroupReduce(Meeting, name="loop.subgroup_reduce", effects=(Effect.READ,)):
    """The values of all lanes combined in the order of `tree`, rounded once; for every lane."""

    x: Operand[Register] = among(VALUES)
    kind: Attr[ReduceKind]
    result: Result[Register] = same_as("x")

    def check(self) -> None:
        check_kind(binary_of(self.kind), self.x.type)

    def meet(self, operands: Sequence[Sequence[Any]]) -> Sequence[Array]:
        rows = np.stack([x for (x,) in operands])
        return [reduce_tree(self.kind, self.x.dtype, rows)] * len(operands)


class SubgroupShuffle(Meeting, name="loop.subgroup_shuffle", effects=(Effect.READ,)):
    """The value that lane `source` of the subgroup holds; each lane names its own source."""

    x: Operand[Register] = among(VALUES)
    source: Operand[Scalar] = among(INDICES)
    result: Result[Register] = same_as("x")

    def meet(self, operands: Sequence[Sequence[Any]]) -> Sequence[Array]:
        values = [x for x, _ in operands]
        return [values[_member(source, len(values))] for _, source in operands]


class SubgroupBroadcast(Meeting, name="loop.subgroup_broadcast", effects=(Effect.READ,)):
    """The value that one lane of the subgroup holds, for every lane."""

    x: Operand[Register] = among(VALUES)
    lane: Attr[int]
    result: Result[Register] = same_as("x")

    def check(self) -> None:
        require(self.lane >= 0, f"there is no lane {self.lane}")

    def meet(self, operands: Sequence[Sequence[Any]]) -> Sequence[Array]:
        values = [x for (x,) in operands]
        return [values[_member(self.lane, len(values))]] * len(values)


class Barrier(Meeting, name="loop.barrier", effects=(Effect.READ, Effect.WRITE)):
    """Wait for all lanes of the program; what they wrote in the space before is seen after."""

    space: Attr[Space]
    scope = Scope.GROUP

    def check(self) -> None:
        require(self.space is not Space.LOCAL, "no other lane can see local memory")

    def meet(self, operands: Sequence[Sequence[Any]]) -> Sequence[tuple[()]]:
        return [()] * len(operands)


def _member(lane: Any, lanes: int) -> int:
    require(0 <= lane < lanes, f"lane {lane} is outside a subgroup of {lanes} lanes")
    return int(lane)


__all__ = ["Barrier", "SubgroupBroadcast", "SubgroupReduce", "SubgroupShuffle"]
