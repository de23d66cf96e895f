"""Names for functions of Python, also for those that cannot be imported.

Comes in: a function. Goes out: a name "package.module:function" under which `ir.shared.named` finds
it. A function of a module has its own; any other one, such as a lambda, is kept here, for as long
as somebody holds the name.
Never: two names for functions that do the same, as all do that one `def` makes of the same
variables.
"""

import re
import sys
from collections.abc import Callable, Hashable
from itertools import count
from threading import RLock
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..ir.shared.named import Name
from ..passes.forks import held_across_forks

Function = Callable[..., Any]


class Functions:
    """What is kept: the attribute of each name is its function."""

    def __init__(self) -> None:
        self._functions: WeakKeyDictionary[str, Function] = WeakKeyDictionary()
        self._names: WeakValueDictionary[Hashable, Name] = WeakValueDictionary()
        self._lock, self._next = held_across_forks(RLock()), count(1).__next__

    def keep(self, function: Function, identity: Hashable) -> str:
        """The name of a function, which is kept for as long as the name; what has an equal identity
        does the same."""
        with self._lock:
            name = self._names.get(identity)
            if name is None:
                called = getattr(function, "__name__", "function")
                word = re.sub(r"\W+", "_", called, flags=re.ASCII).strip("_") or "function"
                name = Name(f"{_PREFIX}{word}_{self._next()}")
                self._functions[name] = function
                self._names[identity] = name
            return name

    def __getattr__(self, name: str) -> Function:
        found = self._functions.get(Name(_PREFIX + name))
        if found is None:
            raise AttributeError(f"no function is kept under the name {name}")
        return found


_PREFIX = f"{__name__}:functions."
functions = Functions()


def name_of(function: Function) -> str:
    """The name by which a program may call a function."""
    module = getattr(function, "__module__", None) or "__main__"
    path = getattr(function, "__qualname__", "")
    found: Any = None if module == "__main__" else sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is not function or not all(word.isidentifier() for word in module.split(".")):
        return functions.keep(function, identity_of(function))
    return f"{module}:{path}"


def identity_of(function: Function) -> Hashable:
    """Equal for functions that do the same: of the same code, with the same variables around them.

    It says nothing when the function is gone, as numbers of objects may be given again.
    """
    if isinstance(function, MethodType):
        return id(function.__self__), identity_of(function.__func__)
    if not isinstance(function, FunctionType) or function.__dict__ or function.__kwdefaults__:
        return id(function)
    around = (function.__globals__, function.__defaults__, *(function.__closure__ or ()))
    return (id(function.__code__), *map(id, around))
