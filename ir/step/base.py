"""What the ops of the `step` floor share: they act on memory that must still be alive.

Comes in: declarations of ops on arrays and scalars. Goes out: ops whose meaning begins with the
check that none of their operands has been freed.
Never: what a kernel computes.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from ..declare import Op
from .allocations import allocations_of


class StepOp(Op):
    """The base of the ops of this floor: `act` is what one does with memory that is alive."""

    act: ClassVar[Callable[..., Any]]

    def run(self, frame: Any, *operands: Any) -> Any:
        """The numpy meaning: arrays are memory, which the op may write in place."""
        allocations = allocations_of(frame)
        for operand in operands:
            allocations.check_alive(operand)
        return self.act(frame, *operands)
