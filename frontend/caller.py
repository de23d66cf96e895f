"""Which line of the user's program is running, quickly enough to be asked for every op.

Comes in: nothing; the running frames are looked at. Goes out: an interned `Location`: the innermost
line that is not of this package.
Never: a frame kept, or a line table read twice for one instruction.
"""

import contextlib
import functools
import sys
from inspect import unwrap
from pathlib import Path
from types import CodeType
from typing import Any

from ..ir.locations import UNKNOWN, Location

_ROOT = str(Path(__file__).parent.parent)  # as Python spells it in code, through links or not
# What lies beside the package in a checkout or in it, and is a user of it all the same.
_USERS = tuple(
    f"{_ROOT}/{name}/" for name in ("tests", "examples", "benchmarks", "docs", "command/demo")
)
_THROUGH = (contextlib.__file__, functools.__file__)
_OURS: dict[CodeType, bool] = {}
_BY_INSTRUCTION: dict[tuple[CodeType, int], Location] = {}


def caller(depth: int = 1) -> Location:
    """The line that is running `depth` calls above the caller of this function."""
    frame = sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]
    key = (frame.f_code, frame.f_lasti)
    return _BY_INSTRUCTION.get(key) or _locate(key, frame.f_lineno)


def user_line(depth: int = 1) -> Location:
    """The innermost line outside the package, looking from `depth` calls above the caller."""
    frame = sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        ours = _OURS.get(code)
        if ours is None:
            ours = _OURS[code] = _is_ours(code.co_filename) or _is_generated(code)
        if not ours:
            key = (code, frame.f_lasti)
            return _BY_INSTRUCTION.get(key) or _locate(key, frame.f_lineno)
        frame = frame.f_back
    return UNKNOWN


def beginning(function: Any) -> Location:
    """Where a function of the user's program begins, however it is wrapped; for any other one,
    nowhere."""
    code = getattr(unwrap(function), "__code__", None)
    if code is None or _is_ours(code.co_filename):
        return UNKNOWN
    return Location((code.co_filename, code.co_firstlineno))


def raised_at(error: BaseException) -> Location:
    """The line of the user's program that raised an error: the innermost one of the file in which
    his functions begin to be called."""
    found, file, trace = UNKNOWN, None, error.__traceback__
    while trace is not None:
        its_file = trace.tb_frame.f_code.co_filename
        if file is None and not _is_ours(its_file):
            file = its_file
        if its_file == file:
            found = Location((its_file, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _locate(key: tuple[CodeType, int], line: int) -> Location:
    found = _BY_INSTRUCTION[key] = Location((key[0].co_filename, line))
    return found


def _is_generated(code: CodeType) -> bool:
    """Whether a function is the `__init__` that a dataclass made of its fields."""
    return code.co_filename == "<string>" and code.co_name == "__init__"


def _is_ours(file: str) -> bool:
    """Whether a file is part of the package; frozen standard modules are looked through too, and
    what enters contexts or computes attributes."""
    if file.startswith("<frozen") or file in _THROUGH:
        return True
    return file.startswith(_ROOT + "/") and not file.startswith(_USERS)
