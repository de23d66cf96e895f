"""Collectives on memory: what the devices along a named axis of a mesh do together.

Comes in: arrays to read, of which each has one to write. Goes out: nothing; each device's arrays
hold its share. The meanings are those of the collectives on tensors.
Never: a device, a link or a schedule; outside a mesh a named axis is an error.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from .. import types
from ..attributes import Shape
from ..declare import Attr, Effect, Operands
from ..dtypes import DType
from ..errors import require
from ..interpreter.mesh import Group, group_of
from ..payloads import Array
from ..tensor.collectives import (
    Pairs,
    Reduction,
    check_count,
    check_equal_shapes,
    check_pairs,
    check_places,
    check_reduction,
    gathered_shape,
    part_of,
    permuted,
    reduced,
    scattered_shape,
)
from .allocations import check_writes
from .base import StepOp

T = TypeVar("T")


class CollectiveKind(Enum):
    """Which of the collectives."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"
    COLLECTIVE_PERMUTE = "collective_permute"


class Collective(StepOp, name="step.collective", effects=(Effect.READ, Effect.WRITE)):
    """What `tensor.all_reduce` and the like mean, for many arrays at once, and in place where an
    array is read and written. Each kind states the attributes that it needs, and no others."""

    reads: Operands[types.Array]
    writes: Operands[types.Array]
    kind: Attr[CollectiveKind]
    axis_name: Attr[str]
    reduction: Attr[Reduction | None] = None
    axis: Attr[int | None] = None
    concat_axis: Attr[int | None] = None
    count: Attr[int | None] = None
    pairs: Attr[Pairs | None] = None

    def check(self) -> None:
        meaning = MEANINGS[self.kind]
        settings = {
            "reduction": self.reduction,
            "axis": self.axis,
            "concat_axis": self.concat_axis,
            "count": self.count,
            "pairs": self.pairs,
        }
        stated = frozenset(name for name, value in settings.items() if value is not None)
        require(
            stated == meaning.needs,
            f"{self.kind.value} needs {_listed(meaning.needs)}, and is given {_listed(stated)}",
        )
        if self.pairs is not None:
            check_pairs(self.pairs)
        counts = len(self.reads), len(self.writes)
        require(counts[0] == counts[1], "an array is written for each that is read", *counts)
        for read, write in zip(self.reads, self.writes, strict=True):
            self._check_written(meaning, read.type, write.type)

    def _check_written(self, meaning: "Meaning", read: types.Array, write: types.Array) -> None:
        if self.reduction is not None:
            check_reduction(self.reduction, read.dtype)
        expected = read.with_shape(meaning.shape(self, read))
        require(write is expected, f"{read} gives {expected}, which is not written into {write}")

    def act(self, frame: Any, *arrays: Array) -> None:
        group = group_of(frame, self.axis_name)
        if self.count is not None:
            check_count(group, self.count)
        check_places(self.pairs or (), group)
        reads, writes = arrays[: len(self.reads)], arrays[len(self.reads) :]
        check_writes(reads, writes)
        # Copies, since the next device may write in place before another one has read.
        brought = group.exchange(self, [read.copy() for read in reads])
        for read, write, *parts in zip(self.reads, writes, *brought, strict=True):
            check_equal_shapes(parts)
            write[...] = MEANINGS[self.kind].share(self, read.dtype, parts, group)


@dataclass(frozen=True)
class Meaning:
    """Of one kind: the attributes it needs, the shape it gives, and what a device gets."""

    needs: frozenset[str]
    shape: Callable[[Collective, types.Array], Shape]
    share: Callable[[Collective, DType, Sequence[Array], Group], Array]


def _same_shape(op: Collective, read: types.Array) -> Shape:
    return read.shape


def _gathered_shape(op: Collective, read: types.Array) -> Shape:
    return gathered_shape(read, _stated(op.axis), _stated(op.count))


def _scattered_shape(op: Collective, read: types.Array) -> Shape:
    return scattered_shape(read, _stated(op.axis), _stated(op.count))


def _exchanged_shape(op: Collective, read: types.Array) -> Shape:
    part = read.with_shape(_scattered_shape(op, read))
    return gathered_shape(part, _stated(op.concat_axis), _stated(op.count))


def _reduce(op: Collective, dtype: DType, parts: Sequence[Array], group: Group) -> Array:
    return reduced(parts, _stated(op.reduction), dtype)


def _gather(op: Collective, dtype: DType, parts: Sequence[Array], group: Group) -> Array:
    return np.concatenate(parts, _stated(op.axis))


def _scatter(op: Collective, dtype: DType, parts: Sequence[Array], group: Group) -> Array:
    return _reduce(op, dtype, [part_of(part, _stated(op.axis), group) for part in parts], group)


def _exchange(op: Collective, dtype: DType, parts: Sequence[Array], group: Group) -> Array:
    mine = [part_of(part, _stated(op.axis), group) for part in parts]
    return np.concatenate(mine, _stated(op.concat_axis))


def _permute(op: Collective, dtype: DType, parts: Sequence[Array], group: Group) -> Array:
    return permuted(parts, _stated(op.pairs), group)


MEANINGS: dict[CollectiveKind, Meaning] = {
    CollectiveKind.ALL_REDUCE: Meaning(frozenset({"reduction"}), _same_shape, _reduce),
    CollectiveKind.ALL_GATHER: Meaning(frozenset({"axis", "count"}), _gathered_shape, _gather),
    CollectiveKind.REDUCE_SCATTER: Meaning(
        frozenset({"reduction", "axis", "count"}), _scattered_shape, _scatter
    ),
    CollectiveKind.ALL_TO_ALL: Meaning(
        frozenset({"axis", "concat_axis", "count"}), _exchanged_shape, _exchange
    ),
    CollectiveKind.COLLECTIVE_PERMUTE: Meaning(frozenset({"pairs"}), _same_shape, _permute),
}


def _stated(setting: T | None) -> T:
    """An attribute that the kind needs, and that `check` has therefore found."""
    assert setting is not None
    return setting


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
