"""What is sorted, and how a program of tiles sees it: lines of columns.

Comes in: numbers of arrays, as `parts` counts them, and their dtypes. Goes out: a `Job`; of a draft
of it, the `Line` that a program works on.
Never: an order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.func import Func
from ....ir.tile import BinaryKind
from ....ir.values import AnyValue
from ..draft import Draft
from ..kernel import Param
from ..parts import Stage
from ..schedule import Schedule


@dataclass(frozen=True, slots=True)
class Column:
    """An array that is put in order; or, without one, the places of the elements."""

    dtype: DType
    array: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """Columns, of which the first `keys` decide, along the middle axis of `shape`; to the arrays
    `targets`, one a column, go the first `count` of each line, or all. `rooms` is the number of the
    next array."""

    func: Func
    shape: tuple[Size, Size, Size]
    columns: tuple[Column, ...]
    targets: tuple[int, ...]
    keys: int
    descending: bool
    count: Size | None
    rooms: int
    name: str

    @property
    def length(self) -> Size:
        """How many elements a line has."""
        return self.shape[1]

    @property
    def arrays(self) -> int:
        """How many columns are arrays."""
        return sum(column.array is not None for column in self.columns)

    @property
    def lines(self) -> list[tuple[Size, int]]:
        """The axes of the grid that number lines, if there may be several."""
        before, _, after = self.shape
        return [(size, 1) for size in (before, after) if size != 1]

    def seen(self, *along: Size) -> Shape:
        """Arrays in which each line has these sizes."""
        before, _, after = self.shape
        return (before, *along) if after == 1 else (before, *along, after)

    def sources(self) -> list[Param]:
        """A param for each array among the columns."""
        return [
            Param(column.array, self.seen(self.length), column.dtype)
            for column in self.columns
            if column.array is not None
        ]

    def results(self, *along: Size) -> list[Param]:
        """A param for each target."""
        pairs = zip(self.targets, self.columns, strict=True)
        return [Param(to, self.seen(*along), each.dtype, written=True) for to, each in pairs]

    def draft(
        self, name: str, params: list[Param], schedule: Schedule, *counts: tuple[Size, int]
    ) -> Draft:
        """A func for one stage, whose programs are for lines, and for what `counts` has."""
        draft = Draft(self.func, params, [*self.lines, *counts], schedule)
        draft.func.name = f"{self.name}_{name}"
        return draft

    def stage(self, draft: Draft) -> Stage:
        """The finished stage; the params are numbered as the arrays are."""
        return draft.stage([param.number for param in draft.params])


@dataclass(frozen=True, slots=True)
class Chunk:
    """Which part of a line the program has, where that starts, and how long it is."""

    place: AnyValue
    start: AnyValue
    length: AnyValue

    def part(self, draft: Draft, job: Job, view: AnyValue) -> AnyValue:
        """The part of an array."""
        return part_of(draft, line_of(draft, job, view), self.start, self.length)


def chunk_of(draft: Draft, job: Job, schedule: Schedule) -> Chunk:
    """The part of a program whose place is along the last axis of the grid."""
    whole, place = draft.sizes.number(schedule["chunk"]), draft.starts[-1]
    start = draft.binary(BinaryKind.MULTIPLY, place, whole)
    rest = draft.binary(BinaryKind.SUBTRACT, draft.sizes.scalar(job.length), start)
    return Chunk(place, start, draft.binary(BinaryKind.MINIMUM, rest, whole))


def line_of(draft: Draft, job: Job, view: AnyValue, *first: AnyValue, rank: int = 1) -> AnyValue:
    """The line of an array that the program works on, or all that it has of so many axes; `first`
    are places along the axes in front of these."""
    before, _, after = job.shape
    zero, places = draft.sizes.number(0), iter(draft.starts)
    row = zero if before == 1 else next(places)
    rest = [] if after == 1 else [next(places)]
    axes = tuple(range(1 + len(first), 1 + len(first) + rank))
    sizes = [draft.emit(tile.Extent, view, axis=axis) for axis in axes]
    return draft.emit(tile.View, view, [row, *first, *[zero] * rank, *rest], sizes, axes=axes)


def memory(draft: Draft, dtype: DType, *sizes: Size) -> AnyValue:
    """Memory of the program for so many elements."""
    shape = tuple(map(draft.opening.names.of, sizes))
    return draft.emit(tile.Scratch, shape=shape, dtype=dtype)


def row_of(draft: Draft, table: AnyValue, row: AnyValue) -> AnyValue:
    """A row of memory of rank 2."""
    extent = draft.emit(tile.Extent, table, axis=1)
    return draft.emit(tile.View, table, [row, draft.sizes.number(0)], [extent], axes=(1,))


def of_each(draft: Draft, table: AnyValue, write: Callable[[AnyValue], None]) -> None:
    """Do something with each row."""

    def body(at: AnyValue, _: Sequence[AnyValue]) -> list[AnyValue]:
        write(row_of(draft, table, at))
        return []

    draft.loop(draft.emit(tile.Extent, table, axis=0), 1, [], body, "rows")


def copied(
    draft: Draft, source: AnyValue, target: AnyValue, size: Size | AnyValue, width: int
) -> None:
    """Copy so many elements, in tiles."""

    def body(at: AnyValue, _: Sequence[AnyValue]) -> list[AnyValue]:
        draft.store(target, draft.load(source, [at], width), [at])
        return []

    draft.loop(size, width, [], body, "copy")


def part_of(draft: Draft, line: AnyValue, start: AnyValue, count: AnyValue) -> AnyValue:
    """A part of a line."""
    return draft.emit(tile.View, line, [start], [count], axes=(0,))


def element(draft: Draft, view: AnyValue, *at: AnyValue) -> AnyValue:
    """One element of a view."""
    return draft.emit(tile.Extract, draft.load(view, at, *(1,) * len(at)))


def put(draft: Draft, view: AnyValue, value: AnyValue, *at: AnyValue) -> None:
    """Store one element."""
    draft.store(view, draft.emit(tile.Full, value, shape=(1,) * len(at)), at)
