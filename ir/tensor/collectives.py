"""Collectives: what the devices along a named axis of a mesh compute together.

Comes in: each device's tensor. Goes out: on each device its share of the common result. All devices
compute from the same parts in the same order, the order of the axis, so they get the same bits.
Never: a device, a link or a schedule; outside a mesh a named axis is an error.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..attributes import Shape
from ..builder import Builder
from ..declare import Attr, Op, Operand, Result, same_as
from ..dims import Size, ceil_div
from ..dtypes import NUMBERS, ORDERED, DType, i64
from ..errors import require
from ..facts import Facts
from ..interpreter.arrays import stored, widened
from ..interpreter.mesh import Group, group_of
from ..payloads import Array
from ..types import Shaped, Tensor
from . import order
from .base import Tangents, TensorOp, Values, rebuilt
from .rules import emit, no_tangent, same_op, terms

Pairs = tuple[tuple[int, int], ...]
"""Of each pair, the first device hands its tensor to the second."""


class Reduction(Enum):
    """How the parts of several devices become one."""

    SUM = "sum"
    PRODUCT = "product"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"


class CollectiveOp(TensorOp):
    """An op of all devices along an axis, which are unknown until it runs: it does not fold."""

    fold = Op.fold


class Exchange(CollectiveOp):
    """Each device brings a tensor, and makes its result of what all have brought."""

    x: Operand[Tensor]
    axis_name: Attr[str]
    result: Result[Tensor]

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands)

    def run(self, frame: Any, x: Array) -> Array:
        group = group_of(frame, self.axis_name)
        self.check_group(group)
        parts = group.exchange(self, x)
        check_equal_shapes(parts)
        return self.share(parts, group)

    def check_group(self, group: Group) -> None:
        """Refuse a mesh that the op was not made for."""

    def share(self, parts: Sequence[Array], group: Group) -> Array:
        """The result of the device that stands at `group.index`."""
        raise NotImplementedError(self.name)


class AllReduce(Exchange, name="tensor.all_reduce"):
    """The sum, product, maximum or minimum over all devices, on every device."""

    reduction: Attr[Reduction]
    result: Result[Tensor] = same_as("x")

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """Of extremes, the mean of the changes of all devices whose part it is."""
        if self.reduction is Reduction.SUM:
            return same_op(self, builder, tangents)
        require(self.reduction is not Reduction.PRODUCT, "of products has no derivative")
        x, y, change = terms(builder, self.x, self.result, tangents[0])
        found = x.apply("equal", y)
        count, total = (
            each.apply("all_reduce", axis_name=self.axis_name, reduction=Reduction.SUM)
            for each in (found.cast(self.x.dtype), change.where(found, 0))
        )
        return ((total / count.apply("maximum", count.number(1))).value,)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return same_op(self, builder, cotangents)

    def check(self) -> None:
        check_reduction(self.reduction, self.x.dtype)

    def share(self, parts: Sequence[Array], group: Group) -> Array:
        return reduced(parts, self.reduction, self.x.dtype)


class AllGather(Exchange, name="tensor.all_gather"):
    """The tensors of all devices, joined along `axis`, on every device."""

    axis: Attr[int]
    count: Attr[int]

    @staticmethod
    def infer(x: Tensor, axis: int, count: int) -> Tensor:
        return x.with_shape(gathered_shape(x, axis, count))

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axis=self.axis + 1)

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        named = {"axis": self.axis, "count": self.count, "reduction": Reduction.SUM}
        c = cotangents[0]
        return (emit(builder, "reduce_scatter", c, axis_name=self.axis_name, **named),)

    def share(self, parts: Sequence[Array], group: Group) -> Array:
        return np.concatenate(parts, self.axis)

    def check_group(self, group: Group) -> None:
        check_count(group, self.count)


class ReduceScatter(Exchange, name="tensor.reduce_scatter"):
    """Each device's part, along `axis`, of what `tensor.all_reduce` gives."""

    reduction: Attr[Reduction]
    axis: Attr[int]
    count: Attr[int]

    @staticmethod
    def infer(x: Tensor, reduction: Reduction, axis: int, count: int) -> Tensor:
        check_reduction(reduction, x.dtype)
        return x.with_shape(scattered_shape(x, axis, count))

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        summed = self.reduction is Reduction.SUM
        require(
            summed, f"of {self.reduction.value} has no derivative; all_reduce and slice instead"
        )
        return same_op(self, builder, tangents)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        named = {"axis": self.axis, "count": self.count}
        return (emit(builder, "all_gather", cotangents[0], axis_name=self.axis_name, **named),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axis=self.axis + 1)

    def share(self, parts: Sequence[Array], group: Group) -> Array:
        mine = [part_of(part, self.axis, group) for part in parts]
        return reduced(mine, self.reduction, self.x.dtype)

    def check_group(self, group: Group) -> None:
        check_count(group, self.count)


class AllToAll(Exchange, name="tensor.all_to_all"):
    """The parts, along `split_axis`, that all devices have for this one, joined along
    `concat_axis`."""

    split_axis: Attr[int]
    concat_axis: Attr[int]
    count: Attr[int]

    @staticmethod
    def infer(x: Tensor, split_axis: int, concat_axis: int, count: int) -> Tensor:
        part = x.with_shape(scattered_shape(x, split_axis, count))
        return x.with_shape(gathered_shape(part, concat_axis, count))

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        back = self.concat_axis, self.split_axis, self.count
        return (emit(builder, "all_to_all", cotangents[0], self.axis_name, *back),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        axes = {"split_axis": self.split_axis + 1, "concat_axis": self.concat_axis + 1}
        return rebuilt(self, builder, operands, **axes)

    def share(self, parts: Sequence[Array], group: Group) -> Array:
        mine = [part_of(part, self.split_axis, group) for part in parts]
        return np.concatenate(mine, self.concat_axis)

    def check_group(self, group: Group) -> None:
        check_count(group, self.count)


class CollectivePermute(Exchange, name="tensor.collective_permute"):
    """The tensor of the device that is paired with this one as its source; zeros if none is."""

    pairs: Attr[Pairs]
    result: Result[Tensor] = same_as("x")

    jvp = same_op

    def check(self) -> None:
        check_pairs(self.pairs)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        back = tuple((target, source) for source, target in self.pairs)
        return (emit(builder, "collective_permute", cotangents[0], self.axis_name, back),)

    def share(self, parts: Sequence[Array], group: Group) -> Array:
        return permuted(parts, self.pairs, group)

    def check_group(self, group: Group) -> None:
        check_places(self.pairs, group)


class AxisIndex(CollectiveOp, name="tensor.axis_index"):
    """Where this device stands along the axis."""

    axis_name: Attr[str]
    result: Result[Tensor]

    jvp = no_tangent

    @staticmethod
    def infer() -> Tensor:
        return Tensor((), i64)

    def run(self, frame: Any) -> Array:
        return np.asarray(group_of(frame, self.axis_name).index, np.int64)


# The rules and meanings below are also those of collectives on memory.


def check_reduction(reduction: Reduction, dtype: DType) -> None:
    """Refuse to add what is no number, or to compare what has no order."""
    accepted = NUMBERS if reduction in (Reduction.SUM, Reduction.PRODUCT) else ORDERED
    require(dtype in accepted, f"there is no {reduction.value} of this dtype", dtype)


def check_pairs(pairs: Pairs) -> None:
    """Refuse a permutation that hands two tensors to one device, or one to two."""
    require(
        all(len(pair) == 2 and min(pair) >= 0 for pair in pairs),
        "a pair is [source, target], each at least 0",
        [list(pair) for pair in pairs],
    )
    for side, what in enumerate(("source", "target")):
        places = [pair[side] for pair in pairs]
        require(len(set(places)) == len(places), f"a device is the {what} of two pairs", places)


def check_places(pairs: Pairs, group: Group) -> None:
    """Refuse to run where a pair names a device that the axis does not have."""
    largest = max((place for pair in pairs for place in pair), default=0)
    require(largest < group.size, f"no device {largest}: '{group.axis_name}' has {group.size}")


def check_count(group: Group, count: int) -> None:
    """Refuse to run where the axis is of another size than the op was made for."""
    require(
        count == group.size,
        f"this is for {count} devices along '{group.axis_name}', and the mesh has {group.size}",
    )


def check_equal_shapes(parts: Sequence[Array]) -> None:
    """Refuse parts of different shapes, which devices may have where sizes are symbolic."""
    shapes = [list(part.shape) for part in parts]
    require(all(shape == shapes[0] for shape in shapes), "devices bring different shapes", *shapes)


def gathered_shape(x: Shaped, axis: int, count: int) -> Shape:
    """The shape of `count` arrays joined along an axis."""
    _check_axis(x, axis, count)
    return _with_size(x.shape, axis, x.shape[axis] * count)


def scattered_shape(x: Shaped, axis: int, count: int) -> Shape:
    """The shape of one of `count` equal parts along an axis."""
    _check_axis(x, axis, count)
    whole = Facts().divides(count, x.shape[axis])
    require(whole, f"axis {axis} of {x} is not known to have {count} equal parts")
    return _with_size(x.shape, axis, ceil_div(x.shape[axis], count))


def reduced(parts: Sequence[Array], reduction: Reduction, dtype: DType) -> Array:
    """The parts combined in their order, in the accumulator of `dtype`, and rounded once."""
    total = widened(parts[0], dtype)
    for part in parts[1:]:
        total = _COMBINE[reduction](total, widened(part, dtype))
    return stored(total, dtype)


def part_of(array: Array, axis: int, group: Group) -> Array:
    """The device's own of as many equal parts along an axis as there are devices."""
    return np.split(array, group.size, axis)[group.index]


def permuted(parts: Sequence[Array], pairs: Pairs, group: Group) -> Array:
    """What the device's source in `pairs` brings, or zeros."""
    source = {target: source for source, target in pairs}.get(group.index)
    return np.zeros_like(parts[0]) if source is None else parts[source]


def _check_axis(x: Shaped, axis: int, count: int) -> None:
    require(0 <= axis < x.rank, "the tensor has no such axis", axis, x)
    require(count >= 1, "an axis of a mesh has at least one device", count)


def _with_size(shape: Shape, axis: int, size: Size) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


_COMBINE: dict[Reduction, Callable[[Array, Array], Array]] = {
    Reduction.SUM: np.add,
    Reduction.PRODUCT: np.multiply,
    Reduction.MAXIMUM: order.MAXIMUM,
    Reduction.MINIMUM: order.MINIMUM,
}
