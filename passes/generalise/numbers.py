"""Constants: which of them are facts, and which are numbers that the next recording may change.

Comes in: the value of a constant. Goes out: whether it becomes an argument; and of a small array
that is one number everywhere, that number: the builder folds the broadcasts that make small ones,
and a larger size must give the same text.
Never: a change of dtype or of a bit.
"""

from cmath import isfinite

from ...ir.dtypes import boolean
from ...ir.payloads import Number, Payload, payload
from ...ir.tensor.base import FOLD_AT_MOST

FACTS = (0, 1, -1, 2)
"""Numbers that rules look for, besides the infinities and NaN."""


def becomes_argument(value: Payload) -> bool:
    """Whether a constant is data: a number like any other, or an array that is not small."""
    if not isinstance(value, Number):
        return value.array.size > FOLD_AT_MOST
    return value.dtype is not boolean and value.value not in FACTS and isfinite(value.value)


def number_everywhere(value: Payload) -> Number | None:
    """The number that all elements of a small array are; None where there is none."""
    if isinstance(value, Number) or not 0 < value.array.size <= FOLD_AT_MOST:
        return None
    first = value.array.reshape(-1)[:1]
    if first.tobytes() * value.array.size != value.array.tobytes():
        return None
    return payload(first.reshape(()), value.dtype)
