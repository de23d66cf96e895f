"""What the ops of the `loop` floor share: the types of their operands, and folding.

Comes in: declarations of ops on scalars, short vectors, buffers and matrix fragments.
Goes out: ops; one that only computes folds when its operands are constants.
Never: tensors; this floor knows what a machine has.
"""

import numpy as np

from ..declare import Op
from ..dtypes import ORDERED, DType, i32, i64
from ..payloads import Payload, payload
from ..types import Scalar, Vec

Register = Scalar | Vec
INDICES = frozenset({i32, i64})
VALUES = ORDERED
"""What registers and memory hold; complex numbers live on the tensor floor only."""

FOLD_AT_MOST = 64
"""Vectors of more lanes than this are computed when the program runs, not when it is built."""


class LoopOp(Op):
    """The base of the ops of this floor. To their `run` a scalar is an array of rank 0, a vector
    and a buffer one of rank 1, a fragment one of rank 2; a buffer's is changed in place."""


class Computation(LoopOp):
    """An op whose only result depends on the numbers in its operands, and on nothing else."""

    def fold(self) -> tuple[Payload, ...] | None:
        """The result as a constant, unless it has many lanes."""
        type_: Register = self.results[0].type
        if isinstance(type_, Vec) and type_.lanes > FOLD_AT_MOST:
            return None
        operands = [operand.owner.value.array for operand in self.operands]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        with np.errstate(all="ignore"):
            made = self.run(None, *operands)
        return (payload(made, type_.dtype),)


def with_dtype(type_: Register, dtype: DType) -> Register:
    """A type of as many lanes, of another dtype."""
    return Vec(type_.lanes, dtype) if isinstance(type_, Vec) else Scalar(dtype)
