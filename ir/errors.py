"""The errors of the IR: what is wrong, in which op, at which line of the user's program.

Comes in: a rule broken while building, parsing, verifying or running. Goes out: one exception whose
message a person can act on. Never: a bare `AssertionError`, or a message without a place.
"""

from .locations import Location


class IRError(Exception):
    """Something is wrong with a program; `location` is the user's line, where it is known."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(f"{location}: {message}" if location else message)
        self.message, self.location = message, location


class VerifyError(IRError):
    """An op, a func or a module breaks a rule of the IR."""


class ParseError(IRError):
    """A text is not IR: the line, the column, the token found there and what was expected."""

    def __init__(self, message: str, file: str, line: int, column: int, source: str = "") -> None:
        super().__init__(message)
        self.args = (message, file, line, column, source)  # by which it is pickled
        self.file, self.line, self.column, self.source = file, line, column, source

    def __str__(self) -> str:
        pointer = f"\n  {self.source}\n  {' ' * (self.column - 1)}^" if self.source else ""
        return f"{self.file}:{self.line}:{self.column}: {self.message}{pointer}"


class ExecutionError(IRError):
    """A program asked the interpreter for something it does not define, such as a bad index."""


class RewriteError(IRError):
    """A rewrite returned a value of another type, or a rule set never came to an end."""


class Unmet(Exception):
    """A rule of an op does not hold; whoever builds or verifies the op adds its name and line."""


def require(condition: object, message: str, *details: object) -> None:
    """Refuse an op, a type or an attribute unless `condition` holds."""
    if not condition:
        raise Unmet(f"{message}: {', '.join(map(str, details))}" if details else message)
