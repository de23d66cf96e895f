"""Settings that are one value: numbers, texts, choices, paths.

Comes in: a value, or what JSON has for it. Goes out: the other of the two.
Never: a value of another type in its place, but for a whole number that stands for a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any, Protocol

from .misfit import misfit, nearest, refuse

NOT_FINITE = ("inf", "-inf", "nan")


class Kind(Protocol):
    """A type of settings: `words` says what it expects."""

    @property
    def words(self) -> str: ...
    def write(self, value: Any) -> Any: ...
    def read(self, data: Any) -> Any: ...


@dataclass(frozen=True)
class Plain:
    """What JSON has itself: bool, int, str, None."""

    cls: type

    @property
    def words(self) -> str:
        """What is expected."""
        return {bool: "a bool", int: "an int", str: "a str"}.get(self.cls, "null")

    def write(self, value: Any) -> Any:
        """value -> the same"""
        if type(value) is not self.cls:
            refuse(self.words, value)
        return value

    def read(self, data: Any) -> Any:
        """The same -> value"""
        return self.write(data)


@dataclass(frozen=True)
class Real:
    """A float; what is not finite is text, as JSON has no such numbers."""

    words: str = "a float"

    def write(self, value: Any) -> Any:
        """1.5 -> 1.5, inf -> "inf" """
        if not isinstance(value, int | float) or isinstance(value, bool):
            refuse(self.words, value)
        return float(value) if isfinite(value) else str(float(value))

    def read(self, data: Any) -> float:
        """1.5 or 1 or "inf" -> float"""
        is_number = isinstance(data, int | float) and not isinstance(data, bool)
        if not is_number and data not in NOT_FINITE:
            refuse(self.words, data)
        return float(data)


@dataclass(frozen=True)
class Choice:
    """One of the values of a `Literal`."""

    values: tuple[Any, ...]

    @property
    def words(self) -> str:
        """What is expected."""
        return " or ".join(map(repr, self.values))

    def write(self, value: Any) -> Any:
        """value -> the same"""
        if not any([type(each) is type(value) and each == value for each in self.values]):
            refuse(self.words, value)
        return value

    def read(self, data: Any) -> Any:
        """The same -> value"""
        return self.write(data)


@dataclass(frozen=True)
class Member:
    """A member of an enum, by its name."""

    cls: type[Enum]

    @property
    def words(self) -> str:
        """What is expected."""
        return f"a name of {self.cls.__name__}"

    def write(self, value: Any) -> str:
        """Colour.RED -> "RED" """
        if type(value) is not self.cls:
            refuse(f"a {self.cls.__name__}", value)
        return value.name

    def read(self, data: Any) -> Enum:
        """ "RED" -> Colour.RED"""
        known = self.cls.__members__
        if not isinstance(data, str):
            refuse(self.words, data)
        if data not in known:
            hint = nearest(data, known) or f": {', '.join(known)}"
            raise misfit(f"expected {self.words}, got {data!r:.60}{hint}")
        return known[data]


@dataclass(frozen=True)
class PathText:
    """A path, with slashes on every system."""

    cls: type[PurePath]
    words: str = "a path, as a str"

    def write(self, value: Any) -> str:
        """Path("a/b") -> "a/b" """
        if not isinstance(value, self.cls):
            refuse("a path", value)
        return value.as_posix()

    def read(self, data: Any) -> PurePath:
        """ "a/b" -> Path("a/b")"""
        if not isinstance(data, str):
            refuse(self.words, data)
        return self.cls(data)


@dataclass(frozen=True)
class Anything:
    """Whatever JSON has, as it is."""

    words: str = "what JSON can hold"

    def write(self, value: Any) -> Any:
        """value -> the same"""
        if not _is_json(value):
            refuse(self.words, value)
        return value

    def read(self, data: Any) -> Any:
        """The same -> value"""
        return data


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all([type(key) is str and _is_json(item) for key, item in value.items()])
    if isinstance(value, list):
        return all(map(_is_json, value))
    return type(value) in (bool, int, str, type(None)) or (type(value) is float and isfinite(value))
