"""Names for functions of Python, also for those that cannot be imported.

Comes in: a function. Goes out: a name "package.module:function" under which `ir.shared.named` finds
it. A function of a module has its own; any other one, such as a lambda, is kept by its name, for as
long as somebody holds that.
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
from weakref import WeakValueDictionary

from ..ir.shared.named import Name
from ..passes.forks import held_across_forks

Function = Callable[..., Any]
AGAIN_AT_MOST = 8
"""So many functions that have come again, the latest, are held though nobody has their names:
between two calls of one the collector would find it dead, and all that is compiled for it."""


class Functions:
    """What is kept: the attribute of each name is its function.

    Functions are held by their names alone: one may hold what holds its name.
    """

    def __init__(self) -> None:
        self._by_text: WeakValueDictionary[str, Name] = WeakValueDictionary()
        self._names: WeakValueDictionary[Hashable, Name] = WeakValueDictionary()
        self._again: dict[Name, None] = {}  # the name that was asked for last is last
        self._lock, self._next = held_across_forks(RLock()), count(1).__next__

    def keep(self, function: Function, identity: Hashable) -> str:
        """The name of a function, which is kept for as long as the name; what has an equal identity
        does the same."""
        with self._lock:
            name = self._names.get(identity)
            if name is not None:
                self._hold(name)
            else:
                called = getattr(function, "__name__", "function")
                word = re.sub(r"\W+", "_", called, flags=re.ASCII).strip("_") or "function"
                serial = self._next()
                text = f"{word}_{serial}"
                name = Name(_PREFIX + text)
                name.function, name.serial, name.tables = function, serial, {}
                self._by_text[text] = self._names[identity] = name
            return name

    def _hold(self, name: Name) -> None:
        """Hold a name that is asked for again, so that what is compiled for it is, too."""
        self._again.pop(name, None)
        self._again[name] = None
        while len(self._again) > AGAIN_AT_MOST:
            self._again.pop(next(iter(self._again)))

    def __getattr__(self, name: str) -> Function:
        found = self._by_text.get(name)
        if found is None:
            raise AttributeError(f"no function is kept under the name {name}")
        return found.function


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
