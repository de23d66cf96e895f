"""What is wrong with a file: the error that users see, and how a reason becomes one.

Comes in: a reason, from wherever a file is looked at. Goes out: a `FileError` that names the file.
Never: bytes of a file in a message but as Python shows them, and no more than a line of them.
"""

import os
import reprlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from ..frontend.errors import ArgumentError, BrimstoneError, fail


class FileError(BrimstoneError, ValueError):
    """A file that is not read or not written, and why."""


class MissingTensor(BrimstoneError, KeyError):
    """A name that no tensor of a file has."""

    __str__ = BaseException.__str__  # a KeyError would show its message as a quoted key


class MismatchError(BrimstoneError, ValueError):
    """Tensors that do not fit the names and shapes that somebody expects."""


class Refused(Exception):
    """Why a file is not read. `About` says which one."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class About:
    """Inside of it, a reason to refuse becomes an error about the file that is `path` by then."""

    def __init__(self, operation: str, path: Any) -> None:
        self.operation = operation
        if not isinstance(path, str | bytes | os.PathLike):
            fail(ArgumentError, operation, "expected the path of a file", path)
        self.path = os.fsdecode(path)
        if "\0" in self.path:
            fail(ArgumentError, operation, "no path has a zero byte in it", path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        refusal: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(refusal, Refused):
            fail(FileError, self.operation, f"{self.path}: {refusal}", hint=refusal.hint)


def shown(value: Any) -> str:
    """A value out of a file, in a message: short, however it is nested, and nothing that a terminal
    would obey."""
    return f"{_SHORT.repr(value):.80}"


def listed(names: Iterable[str], most: int = 20) -> str:
    """The first of many names, and how many more there are."""
    names = list(names)
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(shown, names[:most]), *more])


_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 2, 80, 80
