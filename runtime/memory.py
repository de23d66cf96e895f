"""Memory: whether it is short, and whether there is as much as somebody asks for.

Comes in: what the native core reads in the files in which Linux says how much this process may
still have. Goes out: yes or no. Where the system does not say, memory is never short.
Never: a guess at what a process will need.
"""

from os import fsencode
from pathlib import Path
from typing import Any

from ..targets.script import NoMemory
from .native import core

SHORT_BELOW = 1 / 8
"""Memory is short where less than this share of the total is left."""
LARGE = 64 << 20
"""For so many bytes it is looked whether they are there, which takes less than to fill them."""
_ROOT = Path("/")


def short(root: Path = _ROOT) -> bool:
    """Whether less than an eighth is left of what this process may have; `root` holds `proc`."""
    room: Any = core().brimstone_look(fsencode(root))
    return room.left < SHORT_BELOW * room.total


def claim(bytes_: int, root: Path = _ROOT) -> None:
    """Fail where so many bytes are not there: the system says yes to more, and ends the process
    when that is used."""
    if bytes_ < LARGE:
        return
    room: Any = core().brimstone_look(fsencode(root))
    if bytes_ > room.left + room.swap:
        raise NoMemory(bytes_)
