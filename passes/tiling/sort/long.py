"""Long lines, each shared out among programs that have a part of it each.

Comes in: a job. Goes out: for each digit three stages: programs count the digits of their parts; a
program for each line turns counts into places; and programs put their parts where they belong.
Never: parts that depend on anything but sizes.
"""

from collections.abc import Sequence
from dataclasses import replace

from ....ir.attributes import Shape
from ....ir.dims import ceil_div
from ....ir.dtypes import DType, i64
from ....ir.types import Tensor
from ....ir.values import AnyValue
from ..kernel import Param
from ..parts import Stage, Stages
from .digits import Digit, clear, count, digits_of, most_values, move
from .job import Column, Job
from .line import Line, chunk_of, copy, line_of, memory


def sort_long(job: Job) -> Stages:
    """All stages, with rooms for counts, for places, and for the columns between passes."""
    return _Passes(job).stages()


class _Passes:
    """A pass for each digit; they take turns in where they put the columns."""

    def __init__(self, job: Job) -> None:
        self.job, schedule = job, job.schedule
        self.width, self.digits = schedule["n"], digits_of(job, schedule["long_digit"])
        self.values = most_values(self.digits)
        self.chunks = ceil_div(job.length, schedule["chunk"])
        self.rooms: list[Tensor] = []
        shape = job.seen(self.chunks, self.values)
        self.counts, self.places = (Param(self._room(shape, i64), shape, i64) for _ in range(2))

    def stages(self) -> Stages:
        """All of them."""
        job, digits, made = self.job, self.digits, list[Stage]()
        last = job.targets if job.count is None else self._columns()
        other = self._columns() if len(digits) > 1 else last
        starts, columns = self._starts(), job.columns
        for number, digit in enumerate(digits):
            targets = last if (len(digits) - number) % 2 else other
            name = f"{self.job.name}_{number}"
            job = replace(self.job, columns=columns, targets=targets, count=None, name=name)
            made += [self._count(job, digit), starts, self._move(job, digit)]
            pairs = zip(columns, targets, strict=True)
            columns = tuple([Column(column.dtype, target) for column, target in pairs])
        if self.job.count is not None:
            made.append(self._cut(replace(self.job, columns=columns)))
        return Stages(self.job.func, tuple(made), tuple(self.rooms))

    def _room(self, shape: Shape, dtype: DType) -> int:
        """The number of a new array."""
        self.rooms.append(Tensor(shape, dtype))
        return self.job.rooms + len(self.rooms) - 1

    def _columns(self) -> tuple[int, ...]:
        """Rooms for all columns."""
        shape = self.job.seen(self.job.length)
        return tuple([self._room(shape, column.dtype) for column in self.job.columns])

    def _count(self, job: Job, digit: Digit) -> Stage:
        """How many of each digit there are in each part."""
        alone = replace(job, columns=(job.columns[digit.column],))
        params = [*alone.sources(), replace(self.counts, written=True)]
        draft = job.draft("count", params, (self.chunks, 1))
        chunk = chunk_of(draft, job)
        source, target = draft.views
        line = Line.of(alone, [chunk.part(draft, job, source)], chunk.start)
        table = memory(draft, i64, self.values)
        clear(draft, table, self.values, self.width)
        count(draft, alone, line, chunk.length, [(digit._replace(column=0), table)])
        counts = line_of(draft, job, target, chunk.place)
        copy(draft, table, counts, self.values, self.width)
        return job.stage(draft)

    def _starts(self) -> Stage:
        """Where the first of each digit of each part belongs."""
        job, params = self.job, [self.counts, replace(self.places, written=True)]
        draft = job.draft("starts", params)
        counts, places = (line_of(draft, job, view, rank=2) for view in draft.views)

        def of_digit(digit: AnyValue, so_far: AnyValue) -> Sequence[AnyValue]:
            def of_chunk(chunk: AnyValue, before: AnyValue) -> list[AnyValue]:
                draft.put(places, before, chunk, digit)
                return [draft.add(before, draft.element(counts, chunk, digit))]

            return draft.tiles("chunks", self.chunks, 1, of_chunk, [so_far])

        zero = draft.size(0)
        draft.tiles("digits", self.values, 1, of_digit, [zero])
        return job.stage(draft)

    def _move(self, job: Job, digit: Digit) -> Stage:
        """The elements of each part to their places."""
        params = [*job.sources(), self.places, *job.results(job.length)]
        draft = job.draft("move", params, (self.chunks, 1))
        chunk = chunk_of(draft, job)
        views = [chunk.part(draft, job, view) for view in draft.views[: job.arrays]]
        places, *targets = draft.views[job.arrays :]
        table = memory(draft, i64, self.values)
        found = line_of(draft, job, places, chunk.place)
        copy(draft, found, table, self.values, self.width)
        lines = [line_of(draft, job, target) for target in targets]
        line = Line.of(job, views, chunk.start)
        move(draft, job, line, chunk.length, lines, (digit, table))
        return job.stage(draft)

    def _cut(self, job: Job) -> Stage:
        """The first few of each line."""
        assert job.count is not None
        draft = job.draft("cut", [*job.sources(), *job.results(job.count)])
        lines = [line_of(draft, job, view) for view in draft.views]
        for source, target in zip(lines[: job.arrays], lines[job.arrays :], strict=True):
            copy(draft, source, target, job.count, self.width)
        return job.stage(draft)
