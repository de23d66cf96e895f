"""Functions that a program names: "package.module:function".

Comes in: a name. Goes out: the Python function that it names, imported when it is needed.
Never: a function kept in the IR, which holds names only.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from inspect import unwrap
from traceback import walk_tb
from types import CodeType
from typing import Any, cast

import numpy as np

from ..attributes import KINDS, Kind
from ..errors import Unmet, require
from ..payloads import Array
from ..scanner import Scanner, quoted

Form = tuple[tuple[int, ...], Any]
"""A shape, and a numpy dtype."""


class Name(str):
    """The name of a function that cannot be imported, as an attribute: a string, which holds the
    function, and in its `tables` what has been made of programs that name it. A `serial` number
    says which is newer."""

    __slots__ = ("__weakref__", "function", "serial", "tables")
    function: Callable[..., Any]
    serial: int
    tables: dict[Any, Any]


KINDS[Name] = Kind("a string", Scanner.string, quoted, (str, Name))


class CallFailed(Unmet):
    """A function that a program names has raised, which is the cause of this, or has returned
    something else than it was to; whatever went wrong is told behind the function's name. If it has
    raised, `lines` are the files and lines that were running, the innermost last.

    It has what there is to say of the function, its `title` and its `code`, and not the function,
    which may be gone when somebody reads this."""

    def __init__(self, function: str, problem: str, lines: Sequence[tuple[str, int]] = ()) -> None:
        super().__init__(f'"{function}" {problem}')
        self.function, self.problem, self.lines = str(function), problem, lines
        found = imported(function)
        self.title: str = getattr(found, "__qualname__", self.function)
        self.code: CodeType | None = getattr(unwrap(found), "__code__", None)


def check_name(name: str) -> None:
    """Refuse what is not of the form "package.module:function"."""
    module, _, function = name.partition(":")
    words = (*module.split("."), *function.split("."))
    well_formed = all(word.isidentifier() for word in words)
    require(well_formed, f'expected "package.module:function", got "{name}"')


def imported(name: str) -> Callable[..., Any]:
    """The function of that name."""
    module_name, _, path = name.partition(":")
    try:
        found: Any = import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as problem:
        raise Unmet(f'cannot import "{name}": {problem}') from problem
    require(callable(found), f'"{name}" is not a function')
    return found


def called(name: str, *arguments: Any) -> Any:
    """What the function returns; whatever goes wrong in it is told as an error of the op."""
    function = imported(name)
    try:
        return function(*arguments)
    except Exception as problem:
        lines = [(each.f_code.co_filename, at) for each, at in walk_tb(problem.__traceback__)]
        raise CallFailed(name, f"failed: {_said(problem)}", lines) from problem


def _said(problem: Exception) -> str:
    """What an error says, of which not even that is sure to work."""
    kind = type(problem).__name__
    try:
        return f"{kind}: {problem}"
    except Exception:
        return kind


def arrays_from(name: str, forms: Iterable[Form], *arguments: Any) -> tuple[Array, ...]:
    """The array that the function returns, or the tuple of them, if they have these forms."""
    made, wanted = called(name, *arguments), list(forms)
    arrays = cast(tuple[Any, ...], made if isinstance(made, tuple) else (made,))
    if len(arrays) != len(wanted):
        raise CallFailed(name, f"returned {len(arrays)} arrays, expected {len(wanted)}")
    return tuple([_formed(name, *each) for each in zip(arrays, wanted, strict=True)])


def _formed(name: str, made: Any, form: Form) -> Array:
    """One array that the function returned, if it has this form."""
    shape, storage = form
    is_array = _is_array(made)
    if is_array and made.shape == shape and made.dtype == storage:
        return np.asarray(made)
    found = f"{made.dtype}{list(made.shape)}" if is_array else f"{made!r:.60}, no numpy array"
    raise CallFailed(name, f"returned {found}, expected {storage}{list(shape)}")


def _is_array(made: Any) -> bool:
    return isinstance(made, np.ndarray | np.generic)


def read_only(array: Any) -> Any:
    """The same memory, which whoever gets it cannot write."""
    view = array.view()
    view.flags.writeable = False
    return view
