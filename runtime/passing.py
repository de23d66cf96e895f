"""Steps that pass: of a loop that computes something else in each turn, such as a search that
writes at other places of a small table. To compile them takes longer than all that they do.

Comes in: a step that is new, and who reads it. Goes out: whether the interpreter is to run it, this
time.
Never: a clock, for a program does the same each time; nor a step that has come before, time and
again, or has much to do. Nor are those of most loops new for long.
"""

import os
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from math import prod
from typing import NamedTuple, cast

from ..ir.dims import Dim
from ..ir.func import Func
from ..ir.locations import Location
from ..ir.shared.cache import Cache
from ..ir.tensor import Attention, AttentionBackward, Contract, Convolve, Custom, HostCall
from ..ir.types import Tensor
from ..ir.values import AnyValue, Op

STEPS, OPS = 3, 512
"""A line passes through steps when so many have been new in a row, of so many ops together: to
compile these has taken half a second or more."""
SHARE = 16
"""They are in a row when one part in so many of all that is recorded between them is new."""
TIMES = 8
"""A step that comes once more than this is compiled: to look through it and to run it op by op has
taken a part of the time that a compiler takes."""
LINES = 4096
"""So many are known."""
LITTLE = 1 << 16
"""So many elements each op may read and make, on average: numpy takes a tenth of a millisecond, and
a compiler one."""

_LONG = (Custom, HostCall)
_PRODUCTS = (Attention, AttentionBackward, Contract, Convolve)


class Reading(NamedTuple):
    """At which line values are wanted, and the serial numbers of the first and the last node that
    was recorded for them."""

    line: Location
    first: int
    last: int


class _Row(NamedTuple):
    """How many steps have been new in a row, of how many ops, and the last one's last node."""

    steps: int = 0
    ops: int = 0
    last: int = 0


class Passing:
    """What is known of lines, and of steps that were not compiled."""

    def __init__(self) -> None:
        self.wanted = os.environ.get("BRIMSTONE_INTERPRET") != "0"
        self._rows: dict[Location, _Row] = {}  # the line that came last is last
        self._times: Cache[int, Iterator[int]] = Cache(4096)

    def passes(self, func: Func, key: Hashable, reading: Reading) -> bool:
        """Whether a new step, which is known by its key, is not to be compiled."""
        ops = [*func.walk()]
        row = self._rows.get(reading.line, _Row())
        if reading.first - row.last > SHARE * len(ops):
            row = _Row()
        self._rows.pop(reading.line, None)
        while len(self._rows) >= LINES:
            self._rows.pop(next(iter(self._rows)), None)
        self._rows[reading.line] = _Row(row.steps + 1, row.ops + len(ops), reading.last)
        if not self.wanted or row.steps < STEPS or row.ops < OPS or not _are_little(ops):
            return False
        known = hash(key)  # of two with one hash the second is compiled a little early
        times = self._times.get(known) or self._times.put(known, count())
        return next(times) < TIMES


def _are_little(ops: Sequence[Op]) -> bool:
    """Whether all that ops do is known to be little."""
    work = [*map(_work, ops)]
    known = [each for each in work if each is not None]
    return known == work and sum(known) <= LITTLE * len(ops)


def _work(op: Op) -> int | None:
    """How many elements an op reads and makes at the most; None where that is not known."""
    if op.regions or isinstance(op, _LONG):
        return None
    read, made = _sizes(op.operands), _sizes(op.results)
    if read is None or made is None:
        return None
    return (prod(read) if isinstance(op, _PRODUCTS) else sum(read)) + sum(made)


def _sizes(values: Sequence[AnyValue]) -> list[int] | None:
    """How many elements each has; None if one has a dim among its sizes."""
    shapes = [value.type.shape for value in values if isinstance(value.type, Tensor)]
    if any([isinstance(size, Dim) for shape in shapes for size in shape]):
        return None
    return [prod(cast("tuple[int, ...]", shape)) for shape in shapes]
