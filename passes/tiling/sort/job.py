"""What is sorted: columns, along lines.

Comes in: numbers of arrays, as `parts` counts them, and their dtypes. Goes out: a `Job`, which
begins and ends the stages of a sort.
Never: an order.
"""

from dataclasses import dataclass

from ....ir.attributes import Shape
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.func import Func
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
    schedule: Schedule

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

    def draft(self, name: str, params: list[Param], *counts: tuple[Size, int]) -> Draft:
        """A func for one stage, whose programs are for lines, and for what `counts` has."""
        draft = Draft(self.func, params, [*self.lines, *counts], self.schedule)
        draft.func.name = f"{self.name}_{name}"
        return draft

    def stage(self, draft: Draft) -> Stage:
        """The finished stage; the params are numbered as the arrays are."""
        return draft.stage([param.number for param in draft.params])
