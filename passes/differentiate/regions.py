"""Lists of values with and without tangents, and regions that take several such lists.

Comes in: values, and for each a tangent, or None where it is zero. Goes out: the lists that ops and
regions are handed, in which only tangents stand that are not zero, and back.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.func import Yield
from ...ir.tensor.rules import present
from ...ir.types import Type
from ...ir.values import AnyValue, Block

Parts = tuple[AnyValue, ...]
Flags = Sequence[Any]


def opened(builder: Builder, *groups: Sequence[Type]) -> tuple[Builder, list[Parts]]:
    """A builder for a region that stands where `builder` does, and its arguments, by group."""
    inner = builder.nest([type_ for group in groups for type_ in group])
    return inner, grouped(inner.block.arguments, map(len, groups))


def apart(builder: Builder, *groups: Sequence[Type]) -> tuple[Builder, list[Parts]]:
    """The same, of a region in which nothing is reused that stands outside."""
    block = Block([type_ for group in groups for type_ in group])
    return Builder(block, location=builder.location), grouped(block.arguments, map(len, groups))


def closed(builder: Builder, *groups: Iterable[AnyValue]) -> Block:
    """The region of a builder, which yields these values."""
    builder.emit_all(Yield, [value for group in groups for value in group])
    return builder.block


def grouped(values: Sequence[AnyValue], counts: Iterable[int]) -> list[Parts]:
    """The values in groups of so many."""
    groups: list[Parts] = []
    start = 0
    for count in counts:
        groups.append(tuple(values[start : start + count]))
        start += count
    return groups


def parted(values: Iterable[AnyValue], flags: Flags) -> tuple[Parts, Parts]:
    """The values with a flag, and those without."""
    pairs = list(zip(values, flags, strict=True))
    flagged = [value for value, flag in pairs if flag]
    return tuple(flagged), tuple([value for value, flag in pairs if not flag])


def some(tangents: Iterable[AnyValue | None]) -> Parts:
    """The tangents that are not zero."""
    return tuple([tangent for tangent in tangents if tangent is not None])


def spaced(tangents: Iterable[AnyValue], flags: Flags) -> list[AnyValue | None]:
    """Tangents at the places with a flag, in order; zero at the others."""
    rest: Iterator[AnyValue] = iter(tangents)
    return [next(rest) if flag else None for flag in flags]


def filled_in(
    builder: Builder, values: Sequence[AnyValue], tangents: Sequence[AnyValue | None], flags: Flags
) -> Parts:
    """The tangents at the places with a flag, with zeros where there is none."""
    triples = zip(values, tangents, flags, strict=True)
    return tuple([present(builder, tangent, value) for value, tangent, flag in triples if flag])


def in_any(sides: Iterable[Sequence[AnyValue | None]]) -> list[bool]:
    """At which places any of the lists has a tangent."""
    return [any(place) for place in zip(*sides, strict=True)]
