"""Equal things as one object, for as long as anybody has it.

Comes in: keys, and what has been made for them. Goes out: for each key the first that was made and
is still there. What may be reached from its own key belongs to `Unique`.
Never: two at once for one key, whichever threads ask.
"""

import weakref
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
_remove_dead: Callable[[Any, Hashable], None] = getattr(weakref, "_remove_dead_weakref")  # noqa: B009 (checkers do not know it)
"""What `weakref` removes its own entries with: it looks whether one is dead and removes it at once,
where another thread may put a new one in its place between two lines of Python."""
LATEST = 4096
"""So many are kept though nobody has them: who asks again need not make them anew."""


class _Entry(weakref.ref[Any]):
    """What there is for a key."""

    __slots__ = ("key",)
    key: Hashable


class Interned(Generic[T]):
    """A table of things that are compared with `is`."""

    __slots__ = ("_gone", "_latest", "_table")

    def __init__(self, latest: int = LATEST) -> None:
        table: dict[Hashable, _Entry] = {}
        remove = _remove_dead  # its own: things may go when the module has gone

        def gone(entry: _Entry) -> None:
            remove(table, entry.key)

        self._table, self._gone = table, gone
        self._latest = deque[T](maxlen=latest)

    def get(self, key: Hashable) -> T | None:
        """What there is."""
        entry = self._table.get(key)
        return None if entry is None else entry()

    def keep(self, key: Hashable, made: T) -> T:
        """What there is, or else what has been made."""
        own = _Entry(made, self._gone)
        own.key = key
        while (entry := self._table.setdefault(key, own)) is not own:
            found = entry()
            if found is not None:
                return found
            _remove_dead(self._table, key)
        self._latest.append(made)
        return made

    def __len__(self) -> int:
        return len(self._table)


class Keyed(Protocol):
    """What knows its key."""

    @property
    def key(self) -> Hashable:
        """What it is equal by."""
        ...


K = TypeVar("K", bound=Keyed)


class _Own(weakref.ref[Any]):
    """A thing in a table, which stands there for its key: equal to that, and to equal ones."""

    __slots__ = ("number",)
    number: int

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        made = self()
        if made is None:
            return self is other
        return made.key == (other.own_key() if isinstance(other, _Own) else other)

    def own_key(self) -> Hashable:
        """The key of the thing; None if it has gone."""
        made = self()
        return None if made is None else made.key


class Unique(Generic[K]):
    """A table of things that are compared with `is` and know their keys. It holds no key, so that a
    thing goes though what is in its key leads to it, as a function may that somebody compiled.

    Who goes is noted by no code of Python, in which an interrupt would be lost, and is taken out of
    the table later; until then nothing is equal to him.
    """

    __slots__ = ("_gone", "_table")

    def __init__(self) -> None:
        self._table: dict[Any, _Own] = {}
        self._gone = deque[_Own]()

    def get(self, key: Hashable) -> K | None:
        """What there is."""
        entry = self._table.get(key)
        return None if entry is None else entry()

    def keep(self, made: K) -> K:
        """What there is for its key, or else what has been made."""
        number = hash(made.key)
        own = _Own(made, self._gone.append)
        own.number = number
        if self._gone:
            self._take_out()
        found = None
        while found is None:  # who goes between two lines is no longer equal to anything
            found = self._table.setdefault(own, own)()
        return found

    def _take_out(self) -> None:
        with suppress(IndexError):  # there are no more, or another thread has taken the last
            while True:
                entry = self._gone.popleft()
                if hasattr(entry, "number"):  # else an interrupt came before it had one
                    self._table.pop(entry, None)

    def __len__(self) -> int:
        self._take_out()
        return len(self._table)
