"""Which numbers stand for what is not there.

Comes in: the kind of a reduction, a dtype. Goes out: the number that changes nothing.
Never: an op.
"""

import numpy as np

from ...ir.dtypes import DType, Kind, f8e4m3
from ...ir.payloads import Number, payload
from ...ir.tile import ReduceKind, ScanKind

LARGEST_F8E4M3 = 448.0
"""It has no infinity."""
LEAST = {"maximum": True, "minimum": False}


def neutral(kind: ReduceKind | ScanKind, dtype: DType) -> Number:
    """What leaves the other number as it is."""
    match kind.value:
        case "maximum" | "minimum":
            return lowest(kind.value, dtype)
        case "sum":
            # 0.0 + -0.0 is 0.0: only -0.0 keeps the sign of a sum of negative zeros.
            return _number(-0.0 if dtype.kind is Kind.FLOAT else 0, dtype)
        case "product":
            return _number(1, dtype)
        case "and":
            return _ones(dtype)
        case _:
            return _number(0, dtype)


def lowest(kind: str, dtype: DType) -> Number:
    """What is never the maximum, or never the minimum, of anything else."""
    return _end(dtype, least=LEAST[kind])


def sorts_last(dtype: DType, descending: bool) -> Number:
    """A key behind which none comes; it stands behind equal ones, as it comes after them."""
    if dtype.kind is Kind.FLOAT:
        return _number(np.nan, dtype)
    return _end(dtype, least=descending)


def _end(dtype: DType, *, least: bool) -> Number:
    if dtype.kind is Kind.BOOL:
        return _number(not least, dtype)
    if dtype.kind is Kind.FLOAT:
        largest = LARGEST_F8E4M3 if dtype is f8e4m3 else np.inf
        return _number(-largest if least else largest, dtype)
    info = np.iinfo(dtype.storage)
    return _number(info.min if least else info.max, dtype)


def _ones(dtype: DType) -> Number:
    """All bits set."""
    if dtype.kind is Kind.BOOL:
        return _number(True, dtype)
    return _number(-1 if dtype.kind is Kind.SIGNED else np.iinfo(dtype.storage).max, dtype)


def _number(value: float, dtype: DType) -> Number:
    return payload(np.array(value).astype(dtype.storage), dtype)
