"""Memory changed by many lanes and programs at once.

Comes in: a buffer, an index, a number. Goes out: the number that stood there before.
Never: an order between lanes; whoever needs one uses a barrier.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Effect, Operand, Result, among
from ..dtypes import REALS
from ..errors import require
from ..payloads import Array
from ..types import Buffer, Scalar, Space
from .base import INDICES, VALUES, LoopOp
from .bounds import checked
from .kinds import AtomicKind, binary_of, check_kind, evaluate
from .memory import require_element


class Atomic(LoopOp, name="loop.atomic", effects=(Effect.READ, Effect.WRITE)):
    """Combine a number into the one at an index, in one indivisible step; return the old one."""

    buffer: Operand[Buffer] = among(REALS)
    index: Operand[Scalar] = among(INDICES)
    value: Operand[Scalar] = among(VALUES)
    kind: Attr[AtomicKind]
    result: Result[Scalar]

    @staticmethod
    def infer(buffer: Buffer) -> Scalar:
        return Scalar(buffer.dtype)

    def check(self) -> None:
        require_element(self.buffer.type, self.value.type)
        if self.kind is not AtomicKind.EXCHANGE:
            check_kind(binary_of(self.kind), self.value.type)
        local = self.buffer.type.space is Space.LOCAL
        require(not local, "no other lane can see local memory; load and store it")

    def run(self, frame: Any, buffer: Array, index: Array, value: Array) -> Array:
        place = checked(self, buffer, index)
        old = np.array(buffer[place])
        buffer[place] = value if self.kind is AtomicKind.EXCHANGE else self._combined(old, value)
        return old

    def _combined(self, old: Array, value: Array) -> Array:
        return evaluate(binary_of(self.kind), self.value.dtype, self.value.dtype, old, value)


__all__ = ["Atomic"]
