"""In which order the factors of a product of many tensors are multiplied, two at a time.

Comes in: the labels of the axes of each factor, which of them the result has, and how large each
is. Goes out: pairs of places in the list of factors: each pair is taken out of the list, and its
product put at the end.
Never: a tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

Label = Hashable
Labels = frozenset[Any]
Path = tuple[tuple[int, int], ...]
EXACT_AT_MOST = 8
"""Up to so many factors all orders are tried; of more, the cheapest pair is always taken next."""


def best_order(
    factors: Sequence[Iterable[Label]], result: Iterable[Label], sizes: Mapping[Any, int]
) -> Path:
    """The order of the fewest multiplications, for a few factors; a good one for many.

    A label that only one factor has is one of the result.
    """
    known = tuple(sorted(sizes.items(), key=repr))
    return _best(tuple(map(frozenset, factors)), frozenset(result), known)


@lru_cache(4096)
def _best(factors: tuple[Labels, ...], result: Labels, known: tuple[Any, ...]) -> Path:
    sizes = dict(known)
    if len(factors) < 2:
        return ()
    if len(factors) <= EXACT_AT_MOST:
        return _as_path(_cheapest_tree(factors, result, sizes), len(factors))
    return _greedy(factors, result, sizes)


def _volume(labels: Iterable[Label], sizes: Mapping[Any, int]) -> int:
    return prod([sizes[label] for label in labels])


def _cheapest_tree(factors: tuple[Labels, ...], result: Labels, sizes: Mapping[Any, int]) -> Any:
    """Pairs of pairs of places; the best for each set of factors, from the small sets up."""
    count = len(factors)
    everything = (1 << count) - 1
    inside = [
        frozenset[Any]().union(*[factors[at] for at in range(count) if group >> at & 1])
        for group in range(everything + 1)
    ]
    shown = [labels & (result | inside[everything ^ group]) for group, labels in enumerate(inside)]
    best: dict[int, tuple[int, Any]] = {1 << at: (0, at) for at in range(count)}
    for size in range(2, count + 1):
        for members in combinations(range(count), size):
            group = sum(1 << at for at in members)
            pairs = [(one, group ^ one) for one in _halves(group)]
            costs = [
                best[one][0] + best[other][0] + _volume(shown[one] | shown[other], sizes)
                for one, other in pairs
            ]
            place = costs.index(min(costs))
            one, other = pairs[place]
            best[group] = costs[place], (best[one][1], best[other][1])
    return best[everything][1]


def _halves(group: int) -> Iterable[int]:
    """The sets that part a group in two, one of each such pair: the one without the last member."""
    rest = group & ~(1 << group.bit_length() - 1)
    part = rest
    while part:
        yield part
        part = (part - 1) & rest


def _as_path(tree: Any, count: int) -> Path:
    """A tree of places as pairs, the innermost first."""
    names = list[Any](range(count))
    path: list[tuple[int, int]] = []

    def visit(node: Any) -> None:
        if isinstance(node, int):
            return
        for part in node:
            visit(part)
        first, second = sorted(names.index(part) for part in node)
        del names[second], names[first]
        names.append(node)
        path.append((first, second))

    visit(tree)
    return tuple(path)


def _greedy(factors: tuple[Labels, ...], result: Labels, sizes: Mapping[Any, int]) -> Path:
    """Always the pair whose product grows least beside its factors, and of these the cheapest."""
    left, path = list(factors), list[tuple[int, int]]()
    while len(left) > 1:
        counts = Counter(label for each in left for label in each)
        pairs = combinations(enumerate(left), 2)
        _, _, one, other = min(_priced(*pair, counts, result, sizes) for pair in pairs)
        made = _product(left[one], left[other], counts, result)
        left = [each for place, each in enumerate(left) if place not in (one, other)] + [made]
        path.append((one, other))
    return tuple(path)


def _priced(
    one: tuple[int, Labels],
    other: tuple[int, Labels],
    counts: Mapping[Any, int],
    result: Labels,
    sizes: Mapping[Any, int],
) -> tuple[int, int, int, int]:
    """How much a product grows, what it costs, and which places it is made of."""
    labels = one[1], other[1]
    grown = _volume(_product(*labels, counts, result), sizes)
    grown -= sum(_volume(each, sizes) for each in labels)
    return grown, _volume(labels[0] | labels[1], sizes), one[0], other[0]


def _product(one: Labels, other: Labels, counts: Mapping[Any, int], result: Labels) -> Labels:
    """The labels of a product: those that the result has, or another factor."""
    return frozenset(
        label
        for label in one | other
        if label in result or counts[label] > (label in one) + (label in other)
    )
