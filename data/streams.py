"""Streams: items that come one after the other, and have no places.

Comes in: iterables, and functions that make iterators. Goes out: their items shuffled within a
buffer, and in groups.
Never: more items held than the buffer has room for.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from .draws import bits, permutation


class Stream:
    """What `function(*given)` iterates over, each time from the beginning."""

    def __init__(self, function: Callable[..., Iterable[Any]], *given: Any) -> None:
        self.function, self.given = function, given

    def __iter__(self) -> Iterator[Any]:
        return iter(self.function(*self.given))


def shuffled(items: Iterable[Any], buffer: int, *seeds: int) -> Iterator[Any]:
    """The items in an order that the seeds decide: each is one of `buffer` that could be next."""
    source = iter(items)
    held = list(islice(source, buffer))
    drawn = bits(*seeds)
    for item in source:
        place = int(drawn.random_raw()) % buffer
        yield held[place]
        held[place] = item
    for place in permutation(len(held), *seeds, 1):
        yield held[place]


def grouped(items: Iterable[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """The items in lists of `size`; the last one may be shorter, unless it is dropped."""
    source = iter(items)
    while group := list(islice(source, size)):
        if len(group) == size or not drop_last:
            yield group
