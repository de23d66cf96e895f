"""Errors of kernels, which have none of their own: what one has found, it writes as a flag.

Comes in: flags. Goes out: nothing, or the error of the op of the tensor floor that the kernel
stands for.
Never: a word of what was computed.
"""

from typing import Any

from .. import types
from ..declare import Attr, Effect, Operand, among
from ..dtypes import INTEGERS
from ..errors import ExecutionError
from ..payloads import Array
from .base import StepOp


class Expect(StepOp, name="step.expect", effects=(Effect.READ, Effect.HOST)):
    """An error of the op called `by`, unless all flags are 0."""

    flags: Operand[types.Array] = among(INTEGERS)
    by: Attr[str]
    problem: Attr[str]

    def act(self, frame: Any, flags: Array) -> None:
        if flags.any():
            raise self.error

    @property
    def error(self) -> ExecutionError:
        """What is raised."""
        return ExecutionError(f"{self.by}: {self.problem}", self.location)
