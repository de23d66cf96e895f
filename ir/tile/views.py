"""Views: windows on memory whose sizes and strides are known only when the kernel runs.

Comes in: a view. Goes out: a part of it, or its size along an axis.
Never: an access to memory; and no view shows more than the one that it was made from.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import types
from ..declare import Attr, Operand, Operands, Result, among
from ..dtypes import i64
from ..errors import require
from ..payloads import Array
from ..types import INDEX, Scalar
from .base import VALUES, TileOp, one_an_axis
from .facts import check_facts, facts_of_part
from .window import Window


class View(TileOp, name="tile.view"):
    """The part of `view` that begins at `offsets` and shows only `axes`, in this order and `sizes`
    long; an axis that is not named stays at its offset. The part must lie inside of `view`."""

    view: Operand[types.View] = among(VALUES)
    offsets: Operands[Scalar] = among({i64})
    sizes: Operands[Scalar] = among({i64})
    axes: Attr[tuple[int, ...]]
    result: Result[types.View]

    @staticmethod
    def infer(
        view: types.View, offsets: Sequence[Scalar], sizes: Sequence[Scalar], axes: tuple[int, ...]
    ) -> types.View:
        check_facts(view)
        one_an_axis("offsets", offsets, view.rank)
        distinct = len(set(axes)) == len(axes) and all(0 <= axis < view.rank for axis in axes)
        require(distinct, f"axes are not distinct axes of a view of rank {view.rank}", list(axes))
        require(len(sizes) == len(axes), f"{len(sizes)} sizes for {len(axes)} axes")
        return types.View(len(axes), view.dtype, facts_of_part(view, axes))

    def run(self, frame: Any, view: Window, *numbers: Array) -> Window:
        rank = len(view.sizes)
        offsets = [int(number) for number in numbers[:rank]]
        sizes = [1] * rank
        for axis, size in zip(self.axes, numbers[rank:], strict=True):
            sizes[axis] = int(size)
        for axis, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            inside = min(offset, size) >= 0 and offset + size <= view.sizes[axis]
            require(
                inside,
                f"{size} elements from {offset} on do not lie inside axis {axis}, "
                f"which has {view.sizes[axis]}",
            )
        moved = sum(at * stride for at, stride in zip(offsets, view.strides, strict=True))
        return Window(
            view.memory,
            view.offset + moved,
            tuple([sizes[axis] for axis in self.axes]),
            tuple([view.strides[axis] for axis in self.axes]),
        )


class Extent(TileOp, name="tile.extent"):
    """The size of a view along an axis."""

    view: Operand[types.View]
    axis: Attr[int]
    result: Result[Scalar]

    @staticmethod
    def infer(view: types.View, axis: int) -> Scalar:
        check_facts(view)
        require(0 <= axis < view.rank, "the view has no such axis", axis, view)
        return INDEX

    def run(self, frame: Any, view: Window) -> Array:
        return np.asarray(view.sizes[self.axis], np.int64)
