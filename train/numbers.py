"""Numbers as JSON has them: NaN and the infinities are strings, as in protobuf's.

Comes in: a number, or what a file says. Goes out: the other one.
Never: a token that is not JSON.
"""

from math import isfinite, isnan
from typing import Any

SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def told(value: float) -> Any:
    """A number as JSON has it."""
    value = float(value)
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def heard(value: Any) -> float:
    """The number that JSON has so."""
    return SPECIAL[value] if isinstance(value, str) else float(value)
