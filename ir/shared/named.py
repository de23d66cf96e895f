"""Functions that a program names: "package.module:function".

Comes in: a name. Goes out: the Python function that it names, imported when it is needed.
Never: a function kept in the IR, which holds names only.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..errors import Unmet, require


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
        raise Unmet(f'"{name}" failed: {type(problem).__name__}: {problem}') from problem


def read_only(array: Any) -> Any:
    """The same memory, which whoever gets it cannot write."""
    view = array.view()
    view.flags.writeable = False
    return view
