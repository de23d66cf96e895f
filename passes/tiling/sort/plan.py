"""Which stages a sort has.

Comes in: a kernel of one `tensor.sort`. Goes out: its stages, or `Refused`:

    few of a long line are wanted ─▶ best, then alone
    a line is a tile              ─▶ short
    a line is a program's         ─▶ alone
    a line is longer              ─▶ long

Never: a size of a call; what depends on one is a `Choice`.
"""

from collections.abc import Sequence
from functools import partial
from math import prod

from ....ir import tensor
from ....ir.dims import ceil_div, interval
from ....ir.dtypes import COMPLEXES
from ....ir.func import Func
from ....ir.values import AnyValue
from ..parts import Stages
from ..schedule import Chooser, KernelShape
from ..space import Refused
from ..staging import by_size
from .alone import sort_alone
from .best import keep_candidates
from .job import Column, Job
from .keys import key_dtype
from .long import sort_long
from .short import sort_short

USUAL = {
    "n": 16,
    "digit": 8,
    "long_digit": 8,
    "chunk": 1 << 18,
    "room": 512,
    "share": 8,
    "short": 0,
}
"""The schedule, where a chooser says nothing: elements of a vector, bits of a digit at most, and of
one where programs share a line, elements of a line that are a program's, candidates that are noted
before the best are kept, how many times fewer than a line has are few, and the widest tile that is
sorted."""


def sort_of(func: Func) -> tensor.Sort | None:
    """The sort of a kernel that has nothing else but counters that are sorted along."""
    found = [op for op in func.body if not op.terminator and not isinstance(op, tensor.Iota)]
    op = found[0] if len(found) == 1 else None
    return op if isinstance(op, tensor.Sort) and op.results == func.results else None


def sort_stages(func: Func, op: tensor.Sort, choose: Chooser) -> Stages:
    """One stage for short lines; for long ones several."""
    columns = [_column(op, value) for value in op.values]
    if any(column.array is None for column in columns[: op.keys]):
        raise Refused("places are a key")
    wide = key_dtype(columns[0].dtype)
    shape, axis, first = op.values[0].type.shape, op.axis, len(func.arguments)
    job = Job(
        func,
        shape=(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])),
        columns=tuple(columns),
        targets=tuple(range(first, first + len(columns))),
        keys=op.keys,
        descending=op.descending,
        count=op.count,
        rooms=first + len(columns),
        name=func.name,
        schedule={**USUAL, **choose(KernelShape("sort", wide, wide))},
    )
    return _first_few(job) or _whole(job)


def _first_few(job: Job) -> Stages | None:
    """Where few are wanted of long lines, what cannot be among them is left out before the sort."""
    count, share = job.count, job.schedule["share"]
    if count is None or job.keys > 1 or interval(count)[0] < 1:
        return None
    every = _whole(job)

    def few() -> Stages:
        candidates, rooms, left = keep_candidates(job)
        return Stages(job.func, (candidates, sort_alone(left)), rooms)

    def small_part() -> Stages:
        parts = ceil_div(job.length, count)
        return by_size(job.func, parts, share, few, lambda: every)

    return by_size(job.func, count, job.schedule["chunk"] // share, lambda: every, small_part)


def _whole(job: Job) -> Stages:
    """All of each line: a short one is a tile, a long one has several programs."""

    def at_most(widths: Sequence[int]) -> Stages:
        if not widths:
            return Stages(job.func, (sort_alone(job),))
        width, *others = widths
        tiles = Stages(job.func, (sort_short(job, width),))
        return by_size(job.func, job.length, width + 1, lambda: at_most(others), lambda: tiles)

    short, longest = job.schedule["short"], job.schedule["chunk"]
    widths = [short // 4, short] if short else []
    long = partial(sort_long, job)
    return by_size(job.func, job.length, longest + 1, long, lambda: at_most(widths))


def _column(op: tensor.Sort, value: AnyValue) -> Column:
    if value.dtype in COMPLEXES:
        raise Refused("complex numbers")
    if value.op is None:
        return Column(value.dtype, value.index)
    assert isinstance(value.op, tensor.Iota)
    if value.op.axis != op.axis:
        raise Refused("places along another axis are sorted along")
    return Column(value.dtype, None)
