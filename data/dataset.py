"""Datasets: items at places 0, 1, 2, …

Comes in: any object with `__len__` and `__getitem__` of an integer; a list is one. Goes out: the
base class of the datasets here, which adds what users expect of a sequence.
Never: the contents of a dataset read before somebody asks for an item.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from operator import index
from typing import Any, NamedTuple, Protocol, TypeVar

from ..frontend.errors import ArgumentError, PlaceError, fail

Item_co = TypeVar("Item_co", covariant=True)


class Items(Protocol[Item_co]):
    """What a dataset must have."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> Item_co: ...


class Example(NamedTuple):
    """What a model is given, and what it should say to it."""

    input: Any
    label: Any


class Dataset(ABC):
    """A dataset that counts from its end too: subclasses have `__len__` and `item`."""

    @abstractmethod
    def __len__(self) -> int:
        """How many items there are."""

    @abstractmethod
    def item(self, place: int) -> Any:
        """The item at a place, which is from 0 to the length without one."""

    def __getitem__(self, place: int) -> Any:
        count = len(self)
        at = index(place)
        if not -count <= at < count:
            fail(PlaceError, type(self).__name__, f"there is no item {at} among {count}")
        return self.item(at % count)

    def __iter__(self) -> Iterator[Any]:
        return map(self.item, range(len(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {len(self)} items"


def is_dataset(value: Any) -> bool:
    """Whether something has items at places."""
    return hasattr(value, "__len__") and hasattr(value, "__getitem__")


def expect_dataset(operation: str, value: Any) -> None:
    """Refuse what has no items at places."""
    if not is_dataset(value):
        problem = f"expected a dataset, got {type(value).__name__}"
        hint = "give an object with `__len__` and `__getitem__`, such as a list"
        fail(ArgumentError, operation, problem, value, hint=hint)


def expect_count(operation: str, name: str, value: Any, least: int = 0) -> int:
    """An integer that is not too small."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or index(value) < least:
        fail(ArgumentError, operation, f"{name} is {value!r}, no integer from {least} on")
    return index(value)
