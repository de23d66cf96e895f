"""Which accesses must be compared with the sizes of views, and what is known of them where.

Comes in: loads, stores, and comparisons in the form in which tiling writes them,
`compare less(iota + offset, extent)`. Goes out: `Check`s: some are proved, the others must be seen
to when the kernel runs.
Never: an op.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...ir import tile
from ...ir.dims import Size
from ...ir.dtypes import i64
from ...ir.tile import BinaryKind, CompareKind
from ...ir.types import Tile
from ...ir.values import AnyValue, Op, walk
from ..ranges import Ranges
from .registers import Shape, shape_of

Key = tuple[object, int, object]


@dataclass(frozen=True, slots=True)
class Check:
    """`count` elements from `offset` on lie inside of what `source` is: along its `axis`, if it is
    a view, else below the number that it is. `place` and `size` are the dims of the offset and of
    the extent, where they are dims."""

    offset: AnyValue
    count: int
    source: AnyValue
    axis: int
    place: Size | None
    size: Size | None

    @property
    def key(self) -> Key:
        """Equal for checks that say the same."""
        place = self.offset if self.place is None else self.place
        return (place, self.count, self.source if self.size is None else self.size)


class Comparison(NamedTuple):
    """`iota + offset < extent` along an axis of a tile of `shape`."""

    shape: Shape
    axis: int
    offset: AnyValue
    extent: AnyValue


def check_axis(ranges: Ranges, view: AnyValue, axis: int, offset: AnyValue, count: int) -> Check:
    """The check of an access along an axis of a view."""
    return Check(offset, count, view, axis, ranges.of(offset), ranges.sizes_of(view)[axis])


def check_comparison(ranges: Ranges, found: Comparison) -> Check:
    """The check that holds where a comparison is true of all places."""
    offset, extent = found.offset, found.extent
    count = found.shape[found.axis]
    return Check(offset, count, extent, 0, ranges.of(offset), ranges.of(extent))


def comparison_of(op: Op) -> Comparison | None:
    """What a comparison in tiling's form compares."""
    if not isinstance(op, tile.Compare) or op.kind is not CompareKind.LESS:
        return None
    places, extents = op.left.owner, op.right.owner
    if not isinstance(op.left.type, Tile) or op.left.dtype is not i64:
        return None
    if not isinstance(places, tile.Binary) or places.kind is not BinaryKind.ADD:
        return None
    counted, start = sorted([places.left.owner, places.right.owner], key=_is_full)
    if not (isinstance(counted, tile.Iota) and isinstance(start, tile.Full)):
        return None
    if not isinstance(extents, tile.Full):
        return None
    return Comparison(shape_of(op.left.type), counted.axis, start.x, extents.x)


def open_checks(ops: Iterable[Op], ranges: Ranges) -> list[Check]:
    """The checks of these ops, and of those in their regions, of which nothing is proved; each
    once."""
    found = {check.key: check for op in walk(ops) for check in checks_of(op, ranges)}
    return [each for each in found.values() if not (holds(each, ranges) or fails(each, ranges))]


def checks_of(op: Op, ranges: Ranges) -> Iterator[Check]:
    """What must hold for an op to be free of masks."""
    compared = comparison_of(op)
    if compared is not None:
        yield check_comparison(ranges, compared)
    elif isinstance(op, tile.Load | tile.Store | tile.Atomic):
        shape = op.shape if isinstance(op, tile.Load) else shape_of(op.value.type)
        for axis, (offset, count) in enumerate(zip(op.offsets, shape, strict=True)):
            yield check_axis(ranges, op.view, axis, offset, count)


def holds(check: Check, ranges: Ranges) -> bool:
    """Whether a check is proved."""
    return not_negative(check, ranges) and not_beyond(check, ranges)


def fails(check: Check, ranges: Ranges) -> bool:
    """Whether it is proved that some place lies behind the last."""
    place, size = check.place, check.size
    return place is not None and size is not None and ranges.proves(size + 1, place + check.count)


def not_negative(check: Check, ranges: Ranges) -> bool:
    """Whether it is proved that no place lies before the first."""
    return check.place is not None and ranges.proves(0, check.place)


def not_beyond(check: Check, ranges: Ranges) -> bool:
    """Whether it is proved that no place lies behind the last."""
    place, size = check.place, check.size
    return place is not None and size is not None and ranges.proves(place + check.count, size)


def _is_full(op: object) -> bool:
    return isinstance(op, tile.Full)
