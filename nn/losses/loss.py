"""What all losses share: wide floats, shapes that match, one number made of many, modules.

Comes in: predictions and targets, a loss for each element or example. Goes out: a loss of f32, or
of f64 where that came in.
Never: a shape stretched to another in silence: [N, 1] beside [N] would be N² losses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar, Literal

import numpy as np

from ...frontend.dtypes import bfloat16, float16, float32
from ...frontend.errors import ShapeError, fail, one_of
from ...frontend.functions.creation import asarray
from ...frontend.functions.logic import less, where
from ...frontend.functions.types import isdtype
from ...frontend.handle import Handle
from ...frontend.tensor import Tensor
from ...frontend.unseen import looked_at
from ..module import Buffer
from ..record import Record

Reduction = Literal["mean", "sum", "none"]
REDUCTIONS = ("mean", "sum", "none")


class Loss(Record):
    """A loss function as a module: its fields are the settings of the function.

    Tensors among them, such as the weights of classes, are no parameters.
    """

    function: ClassVar[Callable[..., Tensor]]
    """What a call computes of what it is given, with the settings."""

    reductions: ClassVar[tuple[str, ...]] = REDUCTIONS
    """What `reduction` may be."""

    def __post_init__(self) -> None:
        reduction = self._settings().get("reduction", self.reductions[0])
        one_of(type(self).__name__, "reduction", reduction, self.reductions)
        for name, value in self._settings().items():
            if isinstance(value, Handle | np.ndarray | list):
                setattr(self, name, Buffer(asarray(value)))

    def forward(self, *given: Any, **named: Any) -> Tensor:
        """The loss of predictions and targets, which are as those of the function."""
        return type(self).function(*given, **named, **self._settings())

    def _settings(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore[reportArgumentType]


ONE_SHAPE = "bring them to one shape, with `reshape` or `bs.broadcast_to`"


def wide(x: Any) -> Tensor:
    """A tensor of f32 or f64: losses are too small, and sums of them too large, for less."""
    x = asarray(x)
    narrow = not isdtype(x.dtype, "real floating") or x.dtype in (float16, bfloat16)
    return x.astype(float32) if narrow else x


def alike(operation: str, *given: Any, hint: str = ONE_SHAPE) -> list[Tensor]:
    """Wide tensors of one shape; plain numbers stretch."""
    tensors = [wide(each) for each in given]
    shapes = {made.node.type.shape for made in tensors if made.ndim}
    if len(shapes) > 1 and len({looked_at(shape) for shape in shapes}) > 1:
        fail(ShapeError, operation, "the shapes differ", *tensors, hint=hint)
    return tensors


def reduced(operation: str, losses: Tensor, reduction: Reduction) -> Tensor:
    """The mean of losses, their sum, or each of them."""
    one_of(operation, "reduction", reduction, REDUCTIONS)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


def hinge(x: Tensor) -> Tensor:
    """max(x, 0), whose derivative at 0 is 1: what is just on the margin is pushed away."""
    return where(less(x, 0), 0.0, x)
