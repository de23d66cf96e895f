"""What the ops of the `tensor` floor share: pure values, folding, and slots for their rules.

Comes in: a declaration of an op on `Tensor`s. Goes out: an op that folds when its operands are
small constants. Its `run` is its numpy meaning: arrays in, an array (or a tuple of them) out. The
rules `jvp`, `transpose` and `batching` of an op stand in its class.
Never: memory, devices, threads.
"""

from typing import Any

import numpy as np

from ..attributes import Shape
from ..builder import Builder
from ..declare import Op, operand_groups
from ..dims import Size
from ..errors import Unmet, require
from ..payloads import Payload, payload
from ..types import Tensor
from ..values import AnyValue

FOLD_AT_MOST = 64
"""Constants of more elements than this are computed when the program runs, not when it is built."""

Values = tuple[AnyValue, ...]
Tangents = tuple[AnyValue | None, ...]
"""Tangents or cotangents, where None is zero; or operands, where None is a linear one."""


class TensorOp(Op):
    """The base of the ops of this floor, each with the rules of three transformations."""

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """The rule of derivatives: how the results change when operands change by `tangents`.

        This op stands in the func being built, so its operands and results may be read. A tangent
        is given for each operand, None where it is zero, and at least one is not. The rule emits
        ops that are linear in the tangents, and returns a tangent for each result. Only floats and
        complex numbers have tangents. Ops with regions have their rules in the pass.
        """
        raise Unmet("has no derivative")

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        """The rule of gradients, for an op of a linear function: its transpose.

        `operands` has None where this op is linear, and the value in the func being built where it
        is not. A cotangent is given for each result, and at least one is not None; the rule returns
        one for each linear operand. Complex numbers are not conjugated: what is kept is Re Σ c·t.
        """
        raise Unmet("is not linear, or has no transpose")

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """The rule of `batch`: the results of this op in `size` lanes at once.

        `operands` stand in the func being built. One that is batched, and at least one is, has the
        lanes along a new axis, always axis 0. The rule emits what it needs, and returns all results
        with the lanes along axis 0, or as they are where they are the same in all lanes. Ops with
        regions have their rules in the pass, which batches regions.
        """
        raise Unmet("has no batching rule")

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


def rebuilt(op: TensorOp, builder: Builder, operands: Values, **changed: Any) -> Values:
    """The results of the same op without regions, of other operands, some attributes changed."""
    cls, rest = op.__class__, iter(operands)
    fields = zip(cls.attribute_fields, op.attributes, strict=False)  # lengths of lists come last
    given: dict[str, Any] = {field.name: value for field, value in fields}
    for field, values in operand_groups(op):
        taken = tuple([next(rest) for _ in values])
        given[field.name] = taken if field.many else taken[0]
    return builder.emit_all(cls, **given | changed)


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
