"""What is wrong with a file: the exception, and how it is raised.

Comes in: the dataset that reads a file, its path, what is wrong. Goes out: an exception that names
them and the line of the user's program.
Never: a guess at what a broken file meant.
"""

from importlib import import_module
from typing import Any, NoReturn

from ..frontend.errors import BrimstoneError, fail


class DataError(BrimstoneError, ValueError):
    """A file that does not hold what it should, or is not there."""


def refuse(operation: str, path: Any, problem: object, hint: str = "") -> NoReturn:
    """Raise `DataError` about a file."""
    fail(DataError, operation, f"{path}: {problem}", hint=hint)


class Reading:
    """While a file is read: the system's errors, and those that mean a broken file, refuse it."""

    def __init__(self, operation: str, path: Any, *broken: type[Exception], hint: str = "") -> None:
        self.operation, self.path, self.broken, self.hint = operation, path, broken, hint

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if isinstance(problem, DataError):
            return  # it says already what is wrong
        if isinstance(problem, self.broken):
            refuse(self.operation, self.path, str(problem) or repr(problem), self.hint)
        if isinstance(problem, OSError):
            refuse(self.operation, self.path, problem.strerror or problem)


def of_extra(module: str, extra: str, operation: str) -> Any:
    """A module that comes with an extra of the package."""
    try:
        return import_module(module)
    except ImportError as problem:
        hint = f"pip install 'brimstone[{extra}]'"
        raise ImportError(f"{operation}: {problem}\n  hint: {hint}") from None
