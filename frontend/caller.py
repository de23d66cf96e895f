"""Which line of the user's program is running, quickly enough to be asked for every op.

Comes in: a number of calls to look past. Goes out: an interned `Location`.
Never: a frame kept, or a line table read twice for one instruction.
"""

import sys
from types import CodeType

from ..ir.locations import Location

_BY_INSTRUCTION: dict[tuple[CodeType, int], Location] = {}


def caller(depth: int = 1) -> Location:
    """The line that is running `depth` calls above the caller of this function."""
    frame = sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]
    key = (frame.f_code, frame.f_lasti)
    found = _BY_INSTRUCTION.get(key)
    if found is None:
        found = _BY_INSTRUCTION[key] = Location((frame.f_code.co_filename, frame.f_lineno))
    return found
