"""Settings that are many: lists, tuples, dicts.

Comes in: a container of settings, or what JSON has for it. Goes out: the other of the two.
Never: a list for a tuple, as far as Python sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .misfit import gathered, misfit, refuse
from .scalars import Kind, Plain


@dataclass(frozen=True)
class Many:
    """A list, or a tuple of any length, of one kind of items."""

    cls: type
    item: Kind

    @property
    def words(self) -> str:
        """What is expected."""
        return "a list"

    def write(self, value: Any) -> list[Any]:
        """(1, 2) -> [1, 2]"""
        if type(value) is not self.cls:
            refuse(f"a {self.cls.__name__}", value)
        return gathered((str(at), self.item.write, item) for at, item in enumerate(value))

    def read(self, data: Any) -> Any:
        """[1, 2] -> (1, 2)"""
        if not isinstance(data, list):
            refuse(self.words, data)
        return self.cls(gathered((str(at), self.item.read, item) for at, item in enumerate(data)))


@dataclass(frozen=True)
class Fixed:
    """A tuple whose items have a kind each."""

    items: tuple[Kind, ...]

    @property
    def words(self) -> str:
        """What is expected."""
        return f"a list of {len(self.items)}"

    def write(self, value: Any) -> list[Any]:
        """(1, "a") -> [1, "a"]"""
        if type(value) is not tuple or len(value) != len(self.items):
            refuse(f"a tuple of {len(self.items)}", value)
        pairs = enumerate(zip(self.items, value, strict=True))
        return gathered((str(at), kind.write, item) for at, (kind, item) in pairs)

    def read(self, data: Any) -> tuple[Any, ...]:
        """[1, "a"] -> (1, "a")"""
        if not isinstance(data, list) or len(data) != len(self.items):
            refuse(self.words, data)
        pairs = enumerate(zip(self.items, data, strict=True))
        return tuple(gathered((str(at), kind.read, item) for at, (kind, item) in pairs))


@dataclass(frozen=True)
class Table:
    """A dict; its keys are texts, or what texts stand for: integers, names of an enum."""

    key: Kind
    item: Kind

    @property
    def words(self) -> str:
        """What is expected."""
        return "an object"

    def write(self, value: Any) -> dict[str, Any]:
        """{1: "a"} -> {"1": "a"}"""
        if type(value) is not dict:
            refuse("a dict", value)
        names = [str(self.key.write(key)) for key in value]
        pairs = zip(names, value.values(), strict=True)
        return dict(zip(names, gathered((n, self.item.write, v) for n, v in pairs), strict=True))

    def read(self, data: Any) -> dict[Any, Any]:
        """{"1": "a"} -> {1: "a"}"""
        if not isinstance(data, dict):
            refuse(self.words, data)
        keys = gathered((name, self._key, name) for name in data)
        items = gathered((name, self.item.read, item) for name, item in data.items())
        return dict(zip(keys, items, strict=True))

    def _key(self, name: str) -> Any:
        if self.key != Plain(int):
            return self.key.read(name)
        try:
            return int(name)
        except ValueError:
            raise misfit(f"expected an int for a key, got {name!r:.60}") from None
