"""Which stages a sort has.

Comes in: a kernel of one `tensor.sort`. Goes out: its stages, or `Refused`.
Never: a size of a call; what depends on one is a `Choice`.
"""

from collections.abc import Callable, Sequence
from math import prod

from ....ir import tensor
from ....ir.dims import Size, ceil_div, interval
from ....ir.dtypes import COMPLEXES
from ....ir.func import Func
from ....ir.values import AnyValue
from ..parts import Choice, Stages
from ..schedule import Chooser, KernelShape, Schedule
from ..space import Refused
from .best import keep_candidates
from .few import sort_short
from .job import Column, Job
from .keys import key_dtype
from .line import sort_lines
from .long import sort_long

USUAL = {"n": 16, "digit": 8, "chunk": 1 << 18, "room": 512, "share": 8, "short": 0}
"""What a chooser says nothing about."""


def sort_of(func: Func) -> tensor.Sort | None:
    """The sort of a kernel that has nothing else but counters that are sorted along."""
    found = [op for op in func.body if not op.terminator and not isinstance(op, tensor.Iota)]
    for op in found:
        if isinstance(op, tensor.Sort) and len(found) == 1 and op.results == func.results:
            return op
    return None


def sort_stages(func: Func, op: tensor.Sort, choose: Chooser) -> Stages:
    """One stage for short lines; for long ones several."""
    columns = [_column(op, value) for value in op.values]
    if any(column.array is None for column in columns[: op.keys]):
        raise Refused("places are a key")
    wide = key_dtype(columns[0].dtype)
    schedule = {**USUAL, **choose(KernelShape("sort", wide, wide))}
    shape, axis, first = op.values[0].type.shape, op.axis, len(func.arguments)
    job = Job(
        func,
        (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])),
        tuple(columns),
        tuple(range(first, first + len(columns))),
        op.keys,
        op.descending,
        op.count,
        first + len(columns),
        func.name,
    )
    return _first_few(job, schedule) or _whole(job, schedule)


def _first_few(job: Job, schedule: Schedule) -> Stages | None:
    """Where few are wanted of long lines, what cannot be among them is left out before the sort."""
    count = job.count
    if count is None or job.keys > 1 or interval(count)[0] < 1:
        return None
    every, share = _whole(job, schedule), schedule["share"]

    def few() -> Stages:
        candidates, rooms, left = keep_candidates(job, schedule)
        return Stages(job.func, (candidates, sort_lines(left, schedule)), rooms)

    most = schedule["chunk"] // share
    parts = ceil_div(job.length, count)
    return _by(job, count, most, lambda: every, lambda: _by(job, parts, share, few, lambda: every))


def _whole(job: Job, schedule: Schedule) -> Stages:
    """All of each line: a short one is a tile, a long one has several programs."""

    def at_most(widths: Sequence[int]) -> Stages:
        if not widths:
            return Stages(job.func, (sort_lines(job, schedule),))
        width, *others = widths
        tiles = Stages(job.func, (sort_short(job, width, schedule),))
        return _by(job, job.length, width + 1, lambda: at_most(others), lambda: tiles)

    short = schedule["short"]
    widths = [short // 4, short] if short else []
    long = schedule["chunk"] + 1
    return _by(job, job.length, long, lambda: sort_long(job, schedule), lambda: at_most(widths))


def _by(
    job: Job, size: Size, at_least: int, enough: Callable[[], Stages], below: Callable[[], Stages]
) -> Stages:
    """One or the other, as a size says, now or when the step runs."""
    low, high = interval(size)
    if low >= at_least or high < at_least:
        return enough() if low >= at_least else below()
    return Stages(job.func, (Choice(size, at_least, enough(), below()),))


def _column(op: tensor.Sort, value: AnyValue) -> Column:
    if value.dtype in COMPLEXES:
        raise Refused("complex numbers")
    if value.op is None:
        return Column(value.dtype, value.index)
    assert isinstance(value.op, tensor.Iota)
    if value.op.axis != op.axis:
        raise Refused("places along another axis are sorted along")
    return Column(value.dtype, None)
