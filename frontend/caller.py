"""Which line of the user's program is running, quickly enough to be asked for every op.

Comes in: nothing; the running frames are looked at. Goes out: an interned `Location`: the innermost
line that is not of this package.
Never: a frame kept, or a line table read twice for one instruction.
"""

import contextlib
import functools
import sys
from collections.abc import Sequence
from inspect import unwrap
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ..ir.locations import UNKNOWN, Location
from .names import public_name

_ROOT = str(Path(__file__).parent.parent)  # as Python spells it in code, through links or not
# What lies beside the package in a checkout or in it, and is a user of it all the same.
_USERS = tuple(
    f"{_ROOT}/{name}/" for name in ("tests", "examples", "benchmarks", "docs", "command/demo")
)
_THROUGH = (contextlib.__file__, functools.__file__)
# Code is known by its `id`, and kept, so that no other gets that: its hash is made of all that is
# in it each time, and it is equal to the same code in another file.
_OURS: dict[int, tuple[CodeType, bool]] = {}
_LINES: dict[tuple[int, int], tuple[CodeType, Location]] = {}
_AT_MOST = 1 << 16


def caller(depth: int = 1) -> Location:
    """The line that is running `depth` calls above the caller of this function."""
    return _line_of(sys._getframe(depth + 1))  # pyright: ignore[reportPrivateUsage]


def user_line(depth: int = 1) -> Location:
    """The innermost line outside the package, looking from `depth` calls above the caller."""
    frame = sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        known = _OURS.get(id(code)) or _whose(code)
        if not known[1]:
            found = _LINES.get((id(code), frame.f_lasti))  # most are known: a call less
            return found[1] if found is not None else _line_of(frame)
        frame = frame.f_back
    return UNKNOWN


def called() -> str:
    """The name of the package's function that the user's line calls: the outermost one that has
    a public name."""
    frame, name = sys._getframe(1), ""  # pyright: ignore[reportPrivateUsage]
    while frame is not None and _whose(frame.f_code)[1]:
        name = _name_of(frame.f_code) or name
        frame = frame.f_back
    return name


def _name_of(code: CodeType) -> str:
    """What users call a function, or one that made it; nothing if its name is not public."""
    name = code.co_qualname.partition(".<locals>")[0].rpartition(".")[2]
    return "" if name.startswith("<") else public_name(Path(code.co_filename).stem, name)


def beginning(function: Any) -> Location:
    """Where a function of the user's program begins, however it is wrapped; for any other one,
    nowhere."""
    return beginning_of(getattr(unwrap(function), "__code__", None))


def beginning_of(code: CodeType | None) -> Location:
    """The same of a function that has this code."""
    if code is None or _is_ours(code.co_filename):
        return UNKNOWN
    return Location((code.co_filename, code.co_firstlineno))


def raised_at(lines: Sequence[tuple[str, int]]) -> Location:
    """Of the lines that were running, the innermost last, the one that raised an error for a user:
    the innermost of the file in which his functions begin to be called."""
    file = next((each for each, _ in lines if not _is_ours(each)), None)
    return next((Location(each) for each in reversed(lines) if each[0] == file), UNKNOWN)


def is_own(problem: BaseException) -> bool:
    """Whether an exception comes from a line of the user's program, and not from what it called
    there."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and not _whose(trace.tb_frame.f_code)[1]


def _line_of(frame: FrameType) -> Location:
    key = (id(frame.f_code), frame.f_lasti)
    found = _LINES.get(key)
    if found is None:
        code = frame.f_code
        if len(_LINES) >= _AT_MOST:
            _LINES.clear()
        found = _LINES[key] = code, Location((code.co_filename, frame.f_lineno))
    return found[1]


def _whose(code: CodeType) -> tuple[CodeType, bool]:
    """Code, and whether it is a part of the package."""
    if len(_OURS) >= _AT_MOST:
        _OURS.clear()
    ours = _is_ours(code.co_filename) or _is_generated(code)
    return _OURS.setdefault(id(code), (code, ours))


def _is_generated(code: CodeType) -> bool:
    """Whether a function is the `__init__` that a dataclass made of its fields."""
    return code.co_filename == "<string>" and code.co_name == "__init__"


def _is_ours(file: str) -> bool:
    """Whether a file is part of the package; frozen standard modules are looked through too, and
    what enters contexts or computes attributes."""
    if file.startswith("<frozen") or file in _THROUGH:
        return True
    return file.startswith(_ROOT + "/") and not file.startswith(_USERS)
