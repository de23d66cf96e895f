"""The first few of long lines: of each chunk of a line, a program keeps what may be among them.

Comes in: a job that wants only so many elements of each line. Goes out: a stage that leaves as many
of each chunk, in the order in which they stand; and the job that is left, to sort those. A program
looks at tiles for keys within a limit and notes such elements; when there is no room for more, it
keeps the best, which lowers the limit.
Never: a sort.
"""

from collections.abc import Sequence
from dataclasses import replace

from ....ir import tile
from ....ir.dims import Size, ceil_div
from ....ir.tile import CompareKind
from ....ir.types import Tensor
from ....ir.values import AnyValue
from ..draft import Draft
from ..kernel import Param
from ..parts import Stage
from .job import Column, Job
from .keys import greatest_key, key_dtype, key_of, sorts_last
from .limit import Candidates
from .line import Line, chunk_of, line_of


def keep_candidates(job: Job) -> tuple[Stage, tuple[Tensor, ...], Job]:
    """A stage, the rooms that it fills, and the job that is left."""
    assert job.count is not None
    chunks = ceil_div(job.length, job.schedule["chunk"])
    shape = job.seen(chunks, job.count)
    numbers = range(job.rooms, job.rooms + len(job.columns))
    pairs = list(zip(numbers, [column.dtype for column in job.columns], strict=True))
    rooms = [Param(number, shape, dtype, written=True) for number, dtype in pairs]
    draft = job.draft("candidates", [*job.sources(), *rooms], (chunks, 1))
    Search(draft, job, job.count).run()
    before, _, after = job.shape
    left = replace(
        job,
        shape=(before, chunks * job.count, after),
        columns=tuple([Column(dtype, number) for number, dtype in pairs]),
        rooms=numbers.stop,
        name=f"{job.name}_few",
    )
    return job.stage(draft), tuple([Tensor(shape, dtype) for _, dtype in pairs]), left


class Search:
    """A program that looks through a chunk of a line."""

    def __init__(self, draft: Draft, job: Job, wanted: Size) -> None:
        self.draft, self.job, schedule = draft, job, job.schedule
        self.chunk = chunk = chunk_of(draft, job)
        parts = [chunk.part(draft, job, view) for view in draft.views[: job.arrays]]
        self.line = Line.of(job, parts, chunk.start)
        self.dtypes = [column.dtype for column in job.columns]
        self.width = schedule["n"]
        room = wanted + max(schedule["room"], self.width)
        self.kept = Candidates(draft, self.dtypes, wanted, room, self.width)
        self.nearly = draft.size(room - self.width)

    def run(self) -> None:
        """All of it: there is one round more than there are tiles, and in that one, there is room
        for no more than are wanted."""
        draft, job, dtype = self.draft, self.job, self.dtypes[0]
        rounds = draft.add(self.chunk.length, draft.size(self.width))
        zero, limit = draft.size(0), draft.number(greatest_key(dtype), key_dtype(dtype))
        count, _ = draft.tiles("tiles", rounds, self.width, self._tile, [zero, limit])
        for column, view in enumerate(draft.views[job.arrays :]):
            target = line_of(draft, job, view, self.chunk.place)
            last = sorts_last(self.dtypes[column], job.descending)
            self.kept.hand_over(column, target, count, last)

    def _tile(self, at: AnyValue, count: AnyValue, limit: AnyValue) -> Sequence[AnyValue]:
        """Note what is within the limit; where it becomes too much, keep the best."""
        draft = self.draft
        keys = key_of(draft, draft.load(self.line.key, [at], self.width), self.job.descending)
        least = draft.reduce(tile.ReduceKind.MINIMUM, keys)
        near = draft.compare(CompareKind.LESS_EQUAL, draft.emit(tile.Extract, least), limit)
        (count,) = draft.branch(near, [count], lambda: self._note(at, count, limit))
        more = draft.compare(CompareKind.LESS, at, self.chunk.length)
        most = draft.select(more, self.nearly, self.kept.wanted)
        full = draft.compare(CompareKind.LESS, most, count)
        return draft.branch(full, [count, limit], lambda: self.kept.keep_best(count))

    def _note(self, at: AnyValue, count: AnyValue, limit: AnyValue) -> Sequence[AnyValue]:
        """Note the elements of a tile that are within the limit."""
        draft, line = self.draft, self.line
        rest = draft.subtract(self.chunk.length, at)
        inside = draft.least(rest, draft.size(self.width))

        def body(step: AnyValue, noted: AnyValue) -> Sequence[AnyValue]:
            place = draft.add(at, step)
            key = key_of(draft, draft.element(line.key, place), self.job.descending)
            within = draft.compare(CompareKind.LESS_EQUAL, key, limit)

            def note() -> list[AnyValue]:
                values = [line.read(draft, column, place) for column in range(len(line.views))]
                return [self.kept.add(noted, key, values)]

            return draft.branch(within, [noted], note)

        return draft.tiles("elements", inside, 1, body, [count])
