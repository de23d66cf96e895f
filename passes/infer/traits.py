"""What may be certain of all elements of a tensor of floats: a set of traits, kept as bits.

Comes in: payloads, dtypes. Goes out: traits, and what constants and counted numbers have.
Never: a statement about how large a float is.

    NUMBER        none is NaN
    FINITE        none is NaN or infinite
    NOT_NEGATIVE  none is below 0; there may be -0.0, and NaN
    PLUS          no sign bit is set, but perhaps that of a NaN: none is below 0, and none is -0.0
    NOT_POSITIVE  none is above 0; there may be either zero, and NaN
    WHOLE         none has a fraction; there may be infinities, and NaN

A stronger trait has the bits of the weaker one, so `one & other` is what two tensors share.
"""

from functools import cache

import numpy as np

from ...ir.dims import Size
from ...ir.dtypes import DType, f8e4m3, f8e5m2, f16
from ...ir.payloads import Array, Payload
from .bounds import least_of, most_of

Traits = int

NONE: Traits = 0
NUMBER: Traits = 1
FINITE: Traits = 2 | NUMBER
NOT_NEGATIVE: Traits = 4
PLUS: Traits = 8 | NOT_NEGATIVE
NOT_POSITIVE: Traits = 16
WHOLE: Traits = 32
SIGNS: Traits = PLUS | NOT_POSITIVE
ALL: Traits = FINITE | PLUS | NOT_POSITIVE | WHOLE

LARGEST = {f8e4m3: 448, f8e5m2: 57344, f16: 65504}
"""The largest number, of the dtypes that do not reach the largest integer."""


def have(traits: Traits, wanted: Traits) -> bool:
    """Whether the traits have all of the wanted ones."""
    return traits & wanted == wanted


def computed(traits: Traits, dtype: DType) -> Traits:
    """The traits of a result that may be too large for `dtype`: f8e4m3 makes NaN of it."""
    return traits & ~FINITE if dtype is f8e4m3 else traits


def counted(low: Size, high: Size, dtype: DType) -> Traits:
    """The traits of integers in `low..high` that are rounded to `dtype`."""
    least, most, largest = least_of(low), most_of(high), LARGEST.get(dtype)
    traits = WHOLE | computed(NUMBER, dtype)
    if largest is None or -largest <= least <= most <= largest:
        traits |= FINITE
    if least >= 0:
        traits |= PLUS
    return traits | NOT_POSITIVE if most <= 0 else traits


@cache
def of_payload(payload: Payload) -> Traits:
    """The traits of a constant of floats."""
    with np.errstate(all="ignore"):
        wide: Array = np.asarray(payload.array, np.float64)
    numbers = wide[~np.isnan(wide)]
    tests = (
        (NUMBER, numbers.size == wide.size),
        (FINITE, np.isfinite(wide).all()),
        (NOT_NEGATIVE, (numbers >= 0).all()),
        (PLUS, not np.signbit(numbers).any()),
        (NOT_POSITIVE, (numbers <= 0).all()),
        (WHOLE, (numbers == np.floor(numbers)).all()),
    )
    traits = NONE
    for trait, holds in tests:
        traits |= trait if holds else NONE
    return traits
