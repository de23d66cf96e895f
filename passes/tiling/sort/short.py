"""Short lines, each of which is one tile.

Comes in: a job whose lines have at most so many elements. Goes out: its stage: keys, which are
integers, are sorted by `tile.sort`, and the columns with them.
Never: a line that is longer than the tile.
"""

from ....ir import tile
from ....ir.payloads import Number
from ..emit import nothing
from ..parts import Stage
from .job import Job
from .keys import key_of, sorts_last
from .line import Line, line_of


def sort_short(job: Job, width: int) -> Stage:
    """One stage, for lines of at most `width` elements."""
    kept = job.length if job.count is None else job.count
    draft = job.draft(f"short_{width}", [*job.sources(), *job.results(kept)])
    zero = draft.size(0)
    views = [line_of(draft, job, view) for view in draft.views]
    line = Line.of(job, views[: job.arrays], zero)
    tiles = [
        draft.iota(dtype, 0, width)
        if view is None
        else draft.emit(tile.Load, view, [zero], shape=(width,), padding=_last(job, column))
        for column, (view, dtype) in enumerate(zip(line.views, line.dtypes, strict=True))
    ]
    keys = [key_of(draft, each, job.descending) for each in tiles[: job.keys]]
    ordered = draft.builders[-1].emit_all(tile.Sort, [*keys, *tiles], axis=0, keys=job.keys)
    for target, made in zip(views[job.arrays :], ordered[job.keys :], strict=True):
        draft.store(target, made, [zero])
    return job.stage(draft)


def _last(job: Job, column: int) -> Number:
    """What stands for elements behind the end: they are sorted behind all others."""
    dtype = job.columns[column].dtype
    return sorts_last(dtype, job.descending) if column < job.keys else nothing(dtype)
