"""Tables whose entries hang on the functions that they name.

Comes in: what is made for programs, by keys. Goes out: what has been made. An entry that names a
function which is kept (`kept.py`) is held by that name, and so both go when nobody else has it; any
other entry is held by the table.
Never: a function, and all that it holds, that lives because something has been made for it.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Generic, TypeVar
from weakref import ref

from ..ir.func import Func
from ..ir.shared.cache import Cache
from ..ir.shared.named import Name

K = TypeVar("K")
V = TypeVar("V")

FOUND_AT_MOST = 4096
"""So many entries that hang on names are found, the latest."""


class Hanging(Generic[K, V]):
    """Entries of names, each of which has a table of its own for them."""

    def __init__(self, new: Callable[[], Cache[K, V]]) -> None:
        self._new = new
        self._names: Cache[int, ref[Name]] = Cache(FOUND_AT_MOST)

    def get(self, key: K) -> V | None:
        """What is kept; of two keys with one hash the second is not found."""
        found = self._names.get(hash(key))
        name = None if found is None else found()
        return None if name is None else self.table_of(name).get(key)

    def put(self, name: Name, key: K, made: V) -> V:
        """Keep `made`, unless another thread was quicker; return what is kept."""
        kept = self.table_of(name).put(key, made)
        self._names.put(hash(key), ref(name))
        return kept

    def table_of(self, name: Name) -> Cache[K, V]:
        """What hangs on a name."""
        return name.tables.get(self) or name.tables.setdefault(self, self._new())


class Table(Generic[K, V]):
    """A table, and beside it what hangs on names that are in the keys or in what is made."""

    def __init__(self, new: Callable[[], Cache[K, V]]) -> None:
        self._own, self._hanging = new(), Hanging(new)

    def get(self, key: K) -> V | None:
        """What is kept."""
        return self._own.get(key) or self._hanging.get(key)

    def put(self, key: K, made: V) -> V:
        """Keep `made`, unless another thread was quicker; return what is kept."""
        name = name_in(key, made)
        return self._own.put(key, made) if name is None else self._hanging.put(name, key, made)


def name_in(*things: Any) -> Name | None:
    """Of the functions that are kept and are named in keys and by ops of funcs the latest, which is
    likely to go first; None where there are none."""
    pending, names = [*things], list[Name]()
    while pending:
        each = pending.pop()
        if isinstance(each, Name):
            names.append(each)
        elif isinstance(each, tuple):
            pending.extend(each)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(each, Func):
            pending.extend([op.attributes for op in each.walk()])
    return max(names, key=attrgetter("serial"), default=None)
