"""Calls of Python functions by name, between kernels.

Comes in: arrays and sizes that the function reads, arrays for its results. Goes out: nothing.
Never: a Python object in the IR.
"""

from collections.abc import Sequence
from typing import Any

from .. import types
from ..declare import Attr, Effect, Operands
from ..errors import require
from ..payloads import Array
from ..shared.named import Name, arrays_from, called, check_name, read_only
from ..types import Scalar
from .allocations import check_writes
from .base import StepOp


class Host(StepOp, name="step.host", effects=(Effect.READ, Effect.WRITE, Effect.HOST)):
    """`function(*reads, *writes)`, a function "package.module:function" that returns None; or with
    `returns` `function(*reads)`, whose results are put into the writes."""

    reads: Operands[types.Array | Scalar]
    writes: Operands[types.Array]
    function: Attr[Name]
    returns: Attr[bool] = False

    def check(self) -> None:
        check_name(self.function)

    def act(self, frame: Any, *arrays: Array) -> None:
        count = len(self.reads)
        reads, writes = arrays[:count], arrays[count:]
        check_writes(reads, writes)
        self.call(reads, writes)

    def call(self, reads: Sequence[Array], writes: Sequence[Array]) -> None:
        """Call the function with arrays that do not overlap."""
        given = [read_only(array) for array in reads]
        if not self.returns:
            made = called(self.function, *given, *writes)
            require(made is None, f'"{self.function}" returned a value; results go into its writes')
            return
        forms = [(array.shape, array.dtype) for array in writes]
        for array, made in zip(writes, arrays_from(self.function, forms, *given), strict=True):
            array[...] = made
