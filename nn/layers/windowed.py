"""What convolutions of all kinds have: weights for the elements of a window that moves.

Comes in: how windows move, how many channels there are, initialisers, a key. Goes out: the module
on which convolutions stand.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...frontend.errors import ShapeError, fail
from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..functions.steps import Numbers, Steps
from ..initialisers import Initialiser, Keys, fans, inverse_root
from ..module import Module


class Windowed(Module):
    """Weights for each element of a window, and a bias for each output."""

    weight: Tensor  # [channels, channels of one group, window…]
    bias: Tensor | None  # [outputs]
    space: ClassVar[int]
    """How many axes of space there are."""

    def move(self, steps: Steps, channels: int, others: int, groups: int) -> Numbers:
        """Keep how windows move. Gives the shape of the weight: `channels`, and of the `others`
        those of one group."""
        self.stride, self.padding, self.dilation = steps.stride, steps.around, steps.dilation
        self.groups = groups
        for count in (channels, others):
            check_counts(steps.name, channels=count)
            if groups < 1 or count % groups:
                problem = f"{count} channels do not split into {groups} groups"
                fail(ShapeError, steps.name, problem, hint=f"`groups` divides {count}")
        return (channels, others // groups, *steps.window)

    def fill(
        self, shape: Numbers, outputs: int | None, initialiser: Initialiser | None, key: Any,
        dtype: Any,
    ) -> None:  # fmt: skip
        """Make the weight, and the bias if there is one."""
        default, keys = inverse_root(fans(shape)[0]), Keys(key)
        self.weight = (initialiser or default)(shape, keys.next(), dtype)
        self.bias = None if outputs is None else default((outputs,), keys.next(), dtype)
