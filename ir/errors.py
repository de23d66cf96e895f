"""The errors of the IR: what is wrong, in which op, at which line of the user's program.

Comes in: a broken rule, found while building, parsing, verifying or running.
Goes out: one exception whose message a person can act on.
Never: a bare `AssertionError`, or a message without a place.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .locations import Location


class IRError(Exception):
    """Something is wrong with a program; `location` is the user's line, where it is known."""

    def __init__(self, message: str, location: "Location | None" = None) -> None:
        self.message = message
        self.location = location
        super().__init__(f"{location}: {message}" if location else message)


class VerifyError(IRError):
    """An op, a func or a module breaks a rule of the IR."""


class ParseError(IRError):
    """A text is not IR: the line, the column, the token found there and what was expected."""

    def __init__(self, message: str, file: str, line: int, column: int, source: str = "") -> None:
        self.message = message
        self.location = None
        self.file, self.line, self.column, self.source = file, line, column, source
        pointer = f"\n  {source}\n  {' ' * (column - 1)}^" if source else ""
        Exception.__init__(self, f"{file}:{line}:{column}: {message}{pointer}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        parts = (self.message, self.file, self.line, self.column, self.source)
        return ParseError, parts


class ExecutionError(IRError):
    """A program asked the interpreter for something it does not define, such as a bad index."""


class RewriteError(IRError):
    """A rewrite returned a value of another type, or a rule set never came to an end."""


class Unmet(Exception):
    """A rule of an op does not hold; whoever builds or verifies the op adds its name and line."""

    def __init__(self, message: str, *details: object) -> None:
        self.details = details
        shown = ": " + ", ".join(str(detail) for detail in details) if details else ""
        super().__init__(message + shown)


def require(condition: object, message: str, *details: object) -> None:
    """Refuse an op, a type or an attribute unless `condition` holds."""
    if not condition:
        raise Unmet(message, *details)
