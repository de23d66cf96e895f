"""The memory that a program takes: what is planned, before anything runs.

Comes in: a program, and what its symbols are. Goes out: bytes, and the arrays that are alive where
they are most.
Never: machine code.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import NamedTuple

from ...ir import step
from ...ir.locations import UNKNOWN
from ...ir.types import Scalar
from ...ir.values import AnyValue, Block, Op
from ..account import Held, Memory
from .native import all_of
from .preparation import Preparation
from .program import Program


class Peak(NamedTuple):
    """What arrays in between take, packed; and those that are alive where they are most."""

    packed: int
    alive: tuple[Held, ...]


def memory_of(program: Program, sizes: Mapping[str, int]) -> Memory | None:
    """The memory that a program takes, where its symbols are these; None if one of them is not
    known before it runs."""
    func = program.main
    if any([symbol.name not in sizes for symbol in func.symbols]):
        return None
    known = {symbol: sizes[symbol.name] for symbol in func.symbols}
    preparation = Preparation(program, known)
    given, made = ({*each} for each in (func.arguments, func.results))
    return Memory(
        sum([_bytes(preparation, value) for value in given]),
        sum([_bytes(preparation, value) for value in made - given]),
        *_peak(preparation, func.body),
    )


def _peak(preparation: Preparation, block: Block) -> Peak:
    """That of a block, with what the regions of its loops and branches take while they run."""
    ops = [*all_of(preparation.flow, preparation.flat(block))]
    ends = {op.array: place for place, op in enumerate(ops) if isinstance(op, step.Free)}
    alive = [
        (place, ends[op.array], _bytes(preparation, op.array), op.array)
        for place, op in enumerate(ops)
        if isinstance(op, step.Allocate) and op.array in ends
    ]
    intervals = [each[:3] for each in alive]
    packed = preparation.host.pack(intervals)[1] if intervals else 0
    most = _fullest(len(ops), intervals)
    held = [
        _held(preparation, array, size, ops)
        for begin, end, size, array in alive
        if begin <= most <= end
    ]
    return Peak(packed, tuple(sorted(held, key=lambda each: -each.bytes)))


def _fullest(count: int, intervals: Sequence[tuple[int, int, int]]) -> int:
    """Where in a block of so many ops most bytes are alive."""
    changes = [0] * (count + 1)
    for begin, end, size in intervals:
        changes[begin] += size
        changes[end + 1] -= size
    sums = [*accumulate(changes)]
    return sums.index(max(sums))


def _held(preparation: Preparation, array: AnyValue, size: int, ops: Sequence[Op]) -> Held:
    """An array, as that which the first kernel makes that writes to it."""
    shape = ", ".join(map(str, preparation.shape(array)))
    type_ = f"{array.dtype}[{shape}]"
    for op in ops:
        if isinstance(op, step.Launch) and array in map(preparation.root, op.writes):
            return Held(op.kernel, type_, size, op.location)
    return Held("the host", type_, size, UNKNOWN)


def _bytes(preparation: Preparation, value: AnyValue) -> int:
    shape = () if isinstance(value.type, Scalar) else preparation.shape(value)
    return prod(shape) * value.dtype.storage.itemsize
