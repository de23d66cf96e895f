"""What the ops of the `tensor` floor share: pure values, folding, and slots for their rules.

Comes in: a declaration of an op on `Tensor`s. Goes out: an op that folds when its operands are
small constants. Its `run` is its numpy meaning: arrays in, an array (or a tuple of them) out. The
rules `jvp`, `transpose` and `batching` of an op stand in its class.
Never: memory, devices, threads.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..attributes import Shape
from ..declare import Op
from ..dims import Size
from ..errors import Unmet, require
from ..payloads import Payload, payload
from ..types import Tensor

FOLD_AT_MOST = 64
"""Constants of more elements than this are computed when the program runs, not when it is built."""

Rule = Callable[..., Any]


class TensorOp(Op):
    """The base of the ops of this floor; the three rules are None where mathematics has none."""

    jvp: ClassVar[Rule | None] = None
    transpose: ClassVar[Rule | None] = None
    batching: ClassVar[Rule | None] = None

    def fold(self) -> tuple[Payload, ...] | None:
        """The results as constants, where they are small and the op's meaning is static."""
        types: list[Tensor] = [result.type for result in self.results]
        if not all(_is_small(value.type) for value in (*self.operands, *self.results)):
            return None
        operands = [operand.owner.value.array for operand in self.operands]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        try:
            with np.errstate(all="ignore"):
                made = self.run(None, *operands)
        except (Unmet, ValueError, IndexError, ArithmeticError):
            return None  # it fails when it runs, with its own error
        arrays: tuple[Any, ...] = made if isinstance(made, tuple) else (made,)  # pyright: ignore[reportUnknownVariableType]
        return tuple(
            payload(array, type_.dtype) for array, type_ in zip(arrays, types, strict=True)
        )


def size_of(frame: Any, size: Size) -> int:
    """What a size is when an op runs; without a frame, as in folding, only ints are known."""
    if isinstance(size, int):
        return size
    require(frame is not None, "the size is not known before the program runs", size)
    return frame.size(size)


def shape_of(frame: Any, shape: Shape) -> tuple[int, ...]:
    """What a shape is when an op runs."""
    return tuple([size_of(frame, size) for size in shape])


def check_axis(axis: int, type_: Tensor) -> None:
    """Refuse what is no axis of a tensor; axes count from 0, and never from the end."""
    if not 0 <= axis < type_.rank:
        known = f"0..{type_.rank - 1}, the axes" if type_.rank else "a tensor of rank 0"
        raise Unmet(f"axis {axis} is outside {known}: {type_}")


def check_axes(axes: tuple[int, ...], type_: Tensor) -> None:
    """Refuse axes that are outside a tensor, stand twice, or stand out of order."""
    for axis in axes:
        check_axis(axis, type_)
    require(list(axes) == sorted(set(axes)), "axes are distinct and in order, not", list(axes))


def _is_small(type_: Tensor) -> bool:
    elements = 1
    for size in type_.shape:
        if not isinstance(size, int):
            return False
        elements *= size
    return elements <= FOLD_AT_MOST
