"""Products that are equal, as those of a reshape's two shapes are.

Comes in: two lists of parts. Goes out: what they have in common is made one: of [a, b] and [c], c
becomes a*b; of [a*b, c] and [a, b*c] each size becomes a product of pieces.
Never: a guess at what is equal elsewhere. Where the numbers have no such pieces, as 4*6 and 3*8
have none, they are kept.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import prod as product

from .classes import Classes, Part, Parts

Span = tuple[int, int]
"""Where a part of a product stands: the product of the values before it, and that times its own."""

Spans = list[tuple[Span, Part]]


def equal_products(classes: Classes, left: Parts, right: Parts) -> None:
    """State that two products are equal."""
    ours, theirs = _spans(classes, left), _spans(classes, right)
    if ours is None or theirs is None:
        return  # with a 0 on each side, nothing is asked of the other sizes
    cuts = sorted({1, *(stop for (_, stop), _ in (*ours, *theirs))})
    common = {stop for (_, stop), _ in ours} & {stop for (_, stop), _ in theirs}
    first = 0
    for last, cut in enumerate(cuts):
        if cut in common:
            _align(classes, [*ours, *theirs], cuts[first : last + 1])
            first = last


def multiplied(classes: Classes, parts: Sequence[Part]) -> Part:
    """The product of some parts, as a part."""
    return parts[0] if len(parts) == 1 else classes.part(product(map(classes.dim, parts)))


def share(classes: Classes, part: Part, count: int) -> Part:
    """One of `count` equal shares of a part, which is stated to have as many."""
    value, rest = divmod(classes.value(part), count)
    if count == 1 or rest or not classes.inside(part):
        return part
    unit = classes.size(value)
    classes.unite(part, multiplied(classes, (count, unit)))
    return unit


def _spans(classes: Classes, parts: Parts) -> Spans | None:
    """Where each part but the ones stands; None if the product is 0."""
    several = [part for part in parts if not isinstance(part, int) or part != 1]
    values = [classes.value(part) for part in several]
    if 0 in values:
        return None
    products: list[int] = [1]
    for value in values:
        products.append(products[-1] * value)
    return [*zip(pairwise(products), several, strict=True)]


def _align(classes: Classes, spans: Spans, cuts: Sequence[int]) -> None:
    """Make each part between the first cut and the last a product of the pieces between cuts."""
    inner = [each for each in spans if cuts[0] <= each[0][0] and each[0][1] <= cuts[-1]]
    if any(stop % start for start, stop in pairwise(cuts)):
        parts = [part for _, part in inner]
        classes.keep(parts, "the sizes before and after are not made of common pieces")
        return
    known = {span: part for span, part in reversed(inner)}
    pieces = {
        start: known.get((start, stop)) or classes.new(stop // start)
        for start, stop in pairwise(cuts)
    }
    for (start, stop), part in inner:
        within = [piece for at, piece in pieces.items() if start <= at < stop]
        classes.unite(part, multiplied(classes, within))
