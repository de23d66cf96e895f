"""Which line before a pass became which line after it.

Comes in: the lines of a func before and after. Goes out: rows, as a page that shows both side by
side needs them.
Never: a guess from how similar two texts are: lines go together if they show the same op, have the
same text, or define values of the same names, in this order.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from .lines import Line


class Row(NamedTuple):
    """A place in the lines before and one in the lines after; None where the row has no line."""

    before: int | None
    after: int | None


Trait = Callable[[Line], Hashable | None]
TRAITS: tuple[Trait, ...] = (
    lambda line: line.key,
    lambda line: line.text,
    lambda line: line.defined,
)


def align(before: Sequence[Line], after: Sequence[Line]) -> list[Row]:
    """Every line of both, in order; a line that moved is taken out here and put in there."""
    whole = (range(len(before)), range(len(after)))
    return list(_align(before, after, whole, TRAITS))


def _align(
    before: Sequence[Line],
    after: Sequence[Line],
    part: tuple[range, range],
    traits: tuple[Trait, ...],
) -> Iterator[Row]:
    """The rows of a part of both: between those that share the first trait, the others decide."""
    old, new = part
    if not (old and new and traits):
        yield from (Row(place, None) for place in old)
        yield from (Row(None, place) for place in new)
        return
    trait, *others = traits
    pairs = in_order(
        [trait(before[place]) for place in old], [trait(after[place]) for place in new]
    )
    start, new_start = 0, 0
    for at, new_at in [*pairs, (len(old), len(new))]:
        between = (old[start:at], new[new_start:new_at])
        yield from _align(before, after, between, tuple(others))
        if at < len(old):
            yield Row(old[at], new[new_at])
        start, new_start = at + 1, new_at + 1


def in_order(
    before: Sequence[Hashable | None], after: Sequence[Hashable | None]
) -> list[tuple[int, int]]:
    """The most places at which both have the same, without crossing; only what neither has twice
    is looked at, as in a patience diff."""
    counts = (Counter(before), Counter(after))
    places = {item: place for place, item in enumerate(after) if item is not None}
    pairs = [
        (place, places[item])
        for place, item in enumerate(before)
        if item in places and counts[0][item] == counts[1][item] == 1
    ]
    return _longest_increasing(pairs)


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs whose second numbers increase, as their first ones do."""
    ends: list[int] = []  # the least last number of a choice of each length
    last: list[int] = []  # which pair that is
    previous: list[int] = []  # for each pair, the one before it in the longest choice it ends
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(last[length - 1] if length else -1)
        ends[length:] = [place, *ends[length + 1 :]] if length < len(ends) else [place]
        last[length : length + 1] = [index]
    chosen: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = previous[at]
    return chosen[::-1]
