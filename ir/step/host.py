"""Calls of Python functions by name, between kernels.

Comes in: arrays and sizes that the function reads, arrays that it writes. Goes out: nothing.
Never: a Python object in the IR.
"""

from typing import Any

from .. import types
from ..declare import Attr, Effect, Operands
from ..errors import require
from ..payloads import Array
from ..shared.named import called, check_name, read_only
from ..types import Scalar
from .allocations import check_writes
from .base import StepOp


class Host(StepOp, name="step.host", effects=(Effect.READ, Effect.WRITE, Effect.HOST)):
    """`function(*reads, *writes)`, a function "package.module:function" that returns None."""

    reads: Operands[types.Array | Scalar]
    writes: Operands[types.Array]
    function: Attr[str]

    def check(self) -> None:
        check_name(self.function)

    def act(self, frame: Any, *arrays: Array) -> None:
        count = len(self.reads)
        reads, writes = arrays[:count], arrays[count:]
        check_writes(reads, writes)
        made = called(self.function, *[read_only(array) for array in reads], *writes)
        require(made is None, f'"{self.function}" returned a value; results go into its writes')
