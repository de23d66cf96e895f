"""The line that a program of a sort works on, or its part of one.

Comes in: a job, and a draft of one of its stages. Goes out: views of the columns of a line, as a
`Line`; the `Chunk` of a line that is a program's; and what is often done with such views.
Never: an order.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....ir import tile
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.values import AnyValue
from ..draft import Draft
from .job import Job


class Line(NamedTuple):
    """Views of the columns of a line; None where a column is the places, from `start` on."""

    views: Sequence[AnyValue | None]
    dtypes: Sequence[DType]
    start: AnyValue

    @classmethod
    def of(cls, job: Job, views: Iterable[AnyValue], start: AnyValue) -> "Line":
        """The columns of a job, with a view for each array."""
        given = iter(views)
        found = [None if column.array is None else next(given) for column in job.columns]
        return cls(found, [column.dtype for column in job.columns], start)

    @property
    def key(self) -> AnyValue:
        """The first column, which is no counter."""
        view = self.views[0]
        assert view is not None
        return view

    def read(self, draft: Draft, column: int, at: AnyValue) -> AnyValue:
        """One element of a column."""
        view = self.views[column]
        if view is not None:
            return draft.element(view, at)
        place = draft.add(self.start, at)
        return draft.cast(place, self.dtypes[column])

    def load(self, draft: Draft, column: int, at: AnyValue, width: int) -> AnyValue:
        """So many elements of a column that is an array."""
        view = self.views[column]
        assert view is not None
        return draft.load(view, [at], width)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Which part of a line the program has, where that starts, and how long it is."""

    place: AnyValue
    start: AnyValue
    length: AnyValue

    def part(self, draft: Draft, job: Job, view: AnyValue) -> AnyValue:
        """The part of an array."""
        return draft.part(line_of(draft, job, view), [self.start], [self.length])


def chunk_of(draft: Draft, job: Job) -> Chunk:
    """The part of a program whose place is along the last axis of the grid."""
    whole, place = draft.size(job.schedule["chunk"]), draft.starts[-1]
    start = draft.multiply(place, whole)
    rest = draft.subtract(draft.size(job.length), start)
    return Chunk(place, start, draft.least(rest, whole))


def line_of(draft: Draft, job: Job, view: AnyValue, *first: AnyValue, rank: int = 1) -> AnyValue:
    """The line of an array that the program works on, or all that it has of so many axes; `first`
    are places along the axes in front of these."""
    before, _, after = job.shape
    zero, places = draft.size(0), iter(draft.starts)
    row = zero if before == 1 else next(places)
    rest = [] if after == 1 else [next(places)]
    axes = tuple(range(1 + len(first), 1 + len(first) + rank))
    sizes = [draft.extent(view, axis) for axis in axes]
    return draft.emit(tile.View, view, [row, *first, *[zero] * rank, *rest], sizes, axes=axes)


def memory(draft: Draft, dtype: DType, *sizes: Size) -> AnyValue:
    """Memory of the program for so many elements."""
    return draft.scratch(dtype, *map(draft.names.of, sizes))


def row_of(draft: Draft, table: AnyValue, row: AnyValue) -> AnyValue:
    """A row of memory of rank 2."""
    extent = draft.extent(table, 1)
    return draft.part(table, [row, draft.size(0)], [extent])


def each_row(draft: Draft, table: AnyValue, write: Callable[[AnyValue], None]) -> None:
    """Do something with each row."""

    def body(at: AnyValue) -> None:
        write(row_of(draft, table, at))

    draft.tiles("rows", draft.extent(table, 0), 1, body)


def copy(
    draft: Draft, source: AnyValue, target: AnyValue, size: Size | AnyValue, width: int
) -> None:
    """Copy so many elements, in tiles."""

    def body(at: AnyValue) -> None:
        draft.store(target, draft.load(source, [at], width), [at])

    draft.tiles("copy", size, width, body)
