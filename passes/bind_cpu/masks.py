"""Masks: which lanes of a vector stand for something.

Comes in: how many places are left, as i64. Goes out: a boolean vector, or for one lane a scalar.
Never: a comparison of 64-bit lanes, of which a register holds half as many.
"""

from ...ir import loop
from ...ir.dtypes import i32
from ...ir.loop import CompareKind
from ...ir.values import AnyValue
from .emitter import Emitter, Index


def below(emitter: Emitter, left: Index, lanes: int) -> AnyValue:
    """The lanes of which the number is less than `left`."""
    if lanes == 1:
        return emitter.compare(CompareKind.LESS, emitter.number(0), emitter.value(left))
    counted = emitter.emit(loop.Iota, lanes=lanes, dtype=i32)
    return emitter.compare(CompareKind.LESS, counted, _splat(emitter, left, lanes))


def from_on(emitter: Emitter, first: Index, lanes: int) -> AnyValue:
    """The lanes of which the number is `first` or more."""
    if lanes == 1:
        return emitter.compare(CompareKind.LESS_EQUAL, emitter.value(first), emitter.number(0))
    counted = emitter.emit(loop.Iota, lanes=lanes, dtype=i32)
    return emitter.compare(CompareKind.LESS_EQUAL, _splat(emitter, first, lanes), counted)


def _splat(emitter: Emitter, count: Index, lanes: int) -> AnyValue:
    """A count in every lane; beyond the vector, all counts are the same."""
    within = emitter.least(emitter.greatest(count, 0), lanes)
    narrow = emitter.emit(loop.Cast, emitter.value(within), dtype=i32)
    return emitter.splat(narrow, lanes)
