"""Masks: which lanes of a vector stand for something.

Comes in: how many places of a block are left, as i64, and the place of a vector's first lane. Goes
out: a boolean vector, or for one lane a scalar.
Never: a comparison of 64-bit lanes, of which a register holds half as many.
"""

from ...ir import loop
from ...ir.dtypes import i32
from ...ir.loop import BinaryKind, CompareKind
from ...ir.values import AnyValue
from .emitter import Emitter, Index

MOST = 1 << 30
"""A block has fewer places than that."""


def below(emitter: Emitter, left: Index, first: int, lanes: int) -> AnyValue:
    """The lanes, of which the first has that place, whose place is less than `left`."""
    if lanes == 1:
        return emitter.compare(CompareKind.LESS, emitter.number(first), emitter.value(left))
    counted = emitter.emit(loop.Iota, lanes=lanes, dtype=i32)
    return emitter.compare(CompareKind.LESS, counted, _splat(emitter, left, first, lanes))


def from_on(emitter: Emitter, start: Index, first: int, lanes: int) -> AnyValue:
    """The lanes, of which the first has that place, whose place is `start` or more."""
    if lanes == 1:
        return emitter.compare(CompareKind.LESS_EQUAL, emitter.value(start), emitter.number(first))
    counted = emitter.emit(loop.Iota, lanes=lanes, dtype=i32)
    return emitter.compare(CompareKind.LESS_EQUAL, _splat(emitter, start, first, lanes), counted)


def _splat(emitter: Emitter, count: Index, first: int, lanes: int) -> AnyValue:
    """What a count is for a vector with that first place, in every lane. Beyond a block all counts
    are the same, so that one number of 32 bits serves all its vectors."""
    within = emitter.least(emitter.greatest(count, 0), MOST)
    narrow = emitter.emit(loop.Cast, emitter.value(within), dtype=i32)
    if first:
        narrow = emitter.binary(BinaryKind.SUBTRACT, narrow, emitter.number(first, i32))
    return emitter.splat(narrow, lanes)
