"""Views: windows on memory whose sizes and strides are known only when the kernel runs.

Comes in: a view. Goes out: a part of it, or its size along an axis; or a view of memory that one
program has to itself.
Never: an access to memory; and no view shows more than the one that it was made from.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import types
from ..attributes import Frozen, Shape
from ..declare import Attr, Effect, Operand, Operands, Result, among
from ..dtypes import DType, i64
from ..errors import require
from ..payloads import Array
from ..types import INDEX, Scalar
from .base import VALUES, TileOp, one_an_axis
from .facts import check_facts, facts_of_part
from .poison import unwritten
from .window import Window


class View(TileOp, name="tile.view"):
    """The part of `view` that begins at `offsets` and shows only `axes`, in this order and `sizes`
    long, elements `steps` apart (1 where none are given, below 0 backwards); an axis that is not
    named stays at its offset. The part must lie inside of `view`."""

    view: Operand[types.View] = among(VALUES)
    offsets: Operands[Scalar] = among({i64})
    sizes: Operands[Scalar] = among({i64})
    axes: Attr[tuple[int, ...]]
    steps: Attr[tuple[int, ...] | None] = None
    result: Result[types.View]

    @staticmethod
    def infer(
        view: types.View,
        offsets: Sequence[Scalar],
        sizes: Sequence[Scalar],
        axes: tuple[int, ...],
        steps: tuple[int, ...] | None,
    ) -> types.View:
        check_facts(view)
        one_an_axis("offsets", offsets, view.rank)
        distinct = len(set(axes)) == len(axes) and all(0 <= axis < view.rank for axis in axes)
        require(distinct, f"axes are not distinct axes of a view of rank {view.rank}", list(axes))
        require(len(sizes) == len(axes), f"{len(sizes)} sizes for {len(axes)} axes")
        by = (1,) * len(axes) if steps is None else steps
        require(len(by) == len(axes), f"{len(by)} steps for {len(axes)} axes")
        return types.View(len(axes), view.dtype, facts_of_part(view, axes, by))

    def run(self, frame: Any, view: Window, *numbers: Array) -> Window:
        rank = len(view.sizes)
        offsets = [int(number) for number in numbers[:rank]]
        shown = dict(zip(self.axes, [int(number) for number in numbers[rank:]], strict=True))
        steps = dict(zip(self.axes, self.steps or (1,) * len(self.axes), strict=True))
        for axis, offset in enumerate(offsets):
            _check_inside(axis, view.sizes[axis], offset, shown.get(axis, 1), steps.get(axis, 1))
        moved = sum(at * stride for at, stride in zip(offsets, view.strides, strict=True))
        return Window(
            view.memory,
            view.offset + moved,
            tuple(shown.values()),
            tuple([view.strides[axis] * step for axis, step in steps.items()]),
        )


def _check_inside(axis: int, extent: int, offset: int, size: int, step: int) -> None:
    """Refuse elements that are not all there."""
    last = offset + (size - 1) * step
    inside = size == 0 or (size > 0 and min(offset, last) >= 0 and max(offset, last) < extent)
    by = f", {step} apart," if step != 1 else ""
    require(
        inside,
        f"{size} elements from {offset} on{by} do not lie inside axis {axis}, which has {extent}",
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


class Scratch(TileOp, name="tile.scratch", effects=(Effect.WRITE,)):
    """Memory of this program alone, row-major, of which nothing may be read before it is
    written; its sizes are in the func's symbols."""

    shape: Attr[Shape]
    dtype: Attr[DType]
    result: Result[types.View]

    @staticmethod
    def infer(shape: Shape, dtype: DType) -> types.View:
        require(dtype in VALUES, "complex numbers live on the tensor floor only", dtype)
        last = {"unit_stride": len(shape) - 1} if shape else {}
        return types.View(len(shape), dtype, Frozen({"size": shape, **last}))

    def run(self, frame: Any) -> Window:
        return unwritten(frame.shape(self.shape), self.dtype.storage)
