"""How much work Python does: a measure that is the same on every machine, busy or not."""

import sys
from collections.abc import Callable
from typing import Any

PATIENCE = 300.0
"""After so many seconds something is taken to hang: no machine is so slow."""


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions are called, those written in C among them."""
    count = 0

    def see(frame: Any, event: str, given: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
