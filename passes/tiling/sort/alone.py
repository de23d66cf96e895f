"""Lines that are sorted by a program each.

Comes in: a job. Goes out: its stage: a radix sort, from the arrays to memory of the program, to the
targets, and so on; all digits are counted at once.
Never: a line shared out among programs.
"""

from collections.abc import Sequence

from ....ir.dtypes import i64
from ....ir.values import AnyValue
from ..draft import Draft
from ..parts import Stage
from .digits import clear, count, digits_of, most_values, move, starts
from .job import Job
from .line import Line, copy, each_row, line_of, memory, row_of


def sort_alone(job: Job) -> Stage:
    """One stage, in which a program sorts a line."""
    kept = job.length if job.count is None else job.count
    draft = job.draft("lines", [*job.sources(), *job.results(kept)])
    width = job.schedule["n"]
    zero, length = draft.size(0), draft.size(job.length)
    views = [line_of(draft, job, view) for view in draft.views]
    source, finals = Line.of(job, views[: job.arrays], zero), views[job.arrays :]
    digits = digits_of(job, job.schedule["digit"])
    values = most_values(digits)
    every = memory(draft, i64, len(digits), values)
    each_row(draft, every, lambda row: clear(draft, row, values, width))
    tables = [
        (digit, row_of(draft, every, draft.size(number))) for number, digit in enumerate(digits)
    ]
    count(draft, job, source, length, tables)
    each_row(draft, every, lambda row: starts(draft, row, values, width))
    sides = _sides(draft, job, finals, len(tables))
    for table, target in zip(tables, sides, strict=True):
        move(draft, job, source, length, target, table)
        source = Line(target, source.dtypes, zero)
    for made, final in zip(sides[-1], finals, strict=True):
        if made is not final:
            copy(draft, made, final, kept, width)
    return job.stage(draft)


def _sides(
    draft: Draft, job: Job, finals: Sequence[AnyValue], passes: int
) -> list[Sequence[AnyValue]]:
    """Where each pass puts the columns: here and there, and at last where they belong."""

    def room() -> Sequence[AnyValue]:
        return [memory(draft, column.dtype, job.length) for column in job.columns]

    last = finals if job.count is None else room()
    other = room() if passes > 1 else last
    return [other if (passes - number) % 2 == 0 else last for number in range(passes)]
