"""Dim classes: the sizes of a recording that may be others in the next one.

Comes in: sizes as they were recorded, and which of them must be equal. Goes out: `Part`s; a part is
a number or dim that stays, a class, or a dim in the symbols of classes, such as `rows * columns`.
Never: what an op wants of its sizes; `relations` knows that.

A class may turn out to be something else, and is `known` as that from then on. What no class alone
makes true, such as a + b = c + d, waits for `solve`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

from ...ir.attributes import Shape
from ...ir.dims import (
    DEFAULT_MAXIMUM,
    MAX_SIZE,
    Dim,
    DimError,
    Size,
    Symbol,
    evaluate,
    substitute,
    symbols,
)
from ...ir.locations import UNKNOWN, Location
from ...ir.values import Op
from ..admitted import admitted

Part: TypeAlias = Union[int, Dim, "DimClass"]
Parts: TypeAlias = tuple[Part, ...]
Bounds: TypeAlias = tuple[int, int]

SIZES: Bounds = (2, DEFAULT_MAXIMUM)
STARTS: Bounds = (0, DEFAULT_MAXIMUM)
OFFSETS: Bounds = (0, MAX_SIZE)
LARGEST_FACT = 2
"""Starts up to this are facts, and stay numbers; of sizes, 0 and 1 are."""

EXAMPLES = (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049)
"""What sizes that are symbols already are taken to be where numbers are compared."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A size that might have become a symbol and stays a number: which, why, and at which op."""

    size: int
    reason: str
    op: str
    location: Location

    def __str__(self) -> str:
        return f"{self.size} at {self.op} ({self.location or 'no line'}): {self.reason}"


class DimClass:
    """Sizes that must be equal; `value` is what they were, `known` what they were found to be."""

    __slots__ = ("bounds", "known", "number", "symbol", "value")

    def __init__(self, number: int, value: int, bounds: Bounds) -> None:
        self.number = number
        self.value = value
        self.bounds = bounds
        self.known: Part | None = None
        self.symbol: Symbol | None = None


@dataclass(slots=True)
class Equation:
    """Two parts that must be equal, and the op that wants it."""

    left: Part
    right: Part
    op: Op | None
    was_split: bool = False


class Classes:
    """All classes of a recording; `op` is the one whose wishes are being stated."""

    def __init__(self, fixed: Sequence[Symbol]) -> None:
        self.op: Op | None = None
        self.kept: list[Kept] = []
        self.waiting: list[Equation] = []
        self.by_symbol: dict[Size, DimClass] = {}
        self.count = 0
        self._members: dict[Dim, Sequence[DimClass]] = {}
        self._values = {
            symbol: admitted(symbol, EXAMPLES[place % len(EXAMPLES)] * symbol.multiple)
            for place, symbol in enumerate(fixed)
        }
        self._prefix = "_"
        while any(symbol.name.startswith(self._prefix) for symbol in fixed):
            self._prefix += "_"

    # Parts, from sizes and back.

    def new(self, value: int, bounds: Bounds = SIZES) -> DimClass:
        """A class of its own."""
        self.count += 1
        return DimClass(self.count, value, bounds)

    def size(self, size: Size) -> Part:
        """The part for a recorded size."""
        return self.new(size) if isinstance(size, int) and 1 < size <= DEFAULT_MAXIMUM else size

    def shape(self, shape: Shape) -> Parts:
        """The parts for a recorded shape."""
        return tuple([self.size(size) for size in shape])

    def start(self, size: Size, bounds: Bounds = STARTS) -> Part:
        """The part for a recorded start, or for an amount of padding."""
        if isinstance(size, int) and LARGEST_FACT < size <= bounds[1]:
            return self.new(size, bounds)
        return size

    def dim(self, part: Part) -> Size:
        """The part as a dim, in the symbols of classes."""
        found = self.find(part)
        if not isinstance(found, DimClass):
            return found
        symbol = found.symbol
        if symbol is None:
            symbol = found.symbol = Symbol(f"{self._prefix}{found.number}", *found.bounds)
            self.by_symbol[symbol] = found
            self._values[symbol] = found.value
        return symbol

    def part(self, size: Size) -> Part:
        """The part that is a dim in the symbols of classes."""
        return self.by_symbol.get(size, size)

    def value(self, part: Part) -> int:
        """What a part was when the program was recorded."""
        if isinstance(part, DimClass):
            return part.value
        return part if isinstance(part, int) else evaluate(part, self._values)

    def inside(self, part: Part) -> Sequence[DimClass]:
        """The classes that a part is made of, the oldest first."""
        found = self.find(part)
        if isinstance(found, Dim):
            return self._classes_in(found)
        return [found] if isinstance(found, DimClass) else []

    # What parts are known to be.

    def find(self, part: Part) -> Part:
        """What a part is, as far as is known."""
        if isinstance(part, int):
            return part
        if isinstance(part, Dim):
            return self._settled(part)
        if part.known is None:
            return part
        known = _followed(part)
        part.known = self._settled(known) if isinstance(known, Dim) else known
        return part.known

    def unite(self, left: Part, right: Part) -> None:
        """State that two parts are equal."""
        if not self.equate(left, right):
            self.waiting.append(Equation(left, right, self.op))

    def unite_all(self, left: Parts, right: Parts) -> None:
        """State that two shapes are equal."""
        if left is not right:
            for one, other in zip(left, right, strict=True):
                if one is not other:
                    self.unite(one, other)

    def equate(self, left: Part, right: Part) -> bool:
        """Make two parts one, if one of them is a class or they are equal already."""
        left, right = self.find(left), self.find(right)
        if left is right or (isinstance(left, int) and left == right):
            return True
        if not isinstance(left, DimClass):
            return isinstance(right, DimClass) and self.bind(right, left)
        if isinstance(right, DimClass) and left.number < right.number:
            return self.bind(right, left)  # the older one stays
        return self.bind(left, right)

    def bind(self, free: DimClass, part: Part) -> bool:
        """Know a class as something else, unless that has another value or the class in it."""
        if self.value(part) != free.value:
            return False
        if isinstance(part, Dim) and free.symbol in symbols(part):
            return False
        if isinstance(part, DimClass) and part.bounds is not free.bounds:
            (low, high), (least, most) = part.bounds, free.bounds
            part.bounds = max(low, least), min(high, most)
        free.known = part
        return True

    def derived(self, dim: Size, recorded: Size) -> Part:
        """The part for a size that an op computes of others; 0 and 1 are facts, and fix these."""
        part = self.part(dim)
        if isinstance(recorded, int) and recorded < SIZES[0] and not isinstance(part, int):
            self.keep([part], f"at other sizes, {recorded} would be another fact")
            return recorded
        return part

    def fix(self, part: Part) -> None:
        """State that a part is a fact: it stays the number that it is."""
        for each in self.inside(part):
            each.known = each.value

    def keep(self, parts: Iterable[Part], reason: str) -> None:
        """Fix parts that nobody would call facts, and note why."""
        name, location = (self.op.name, self.op.location) if self.op else ("the func", UNKNOWN)
        for part in parts:
            for each in self.inside(part):
                self.kept.append(Kept(each.value, reason, name, location))
                each.known = each.value

    def _settled(self, dim: Dim) -> Part:
        """A dim with all that is known of its classes put in, the innermost first."""
        pending = self._known_in(dim)
        if not pending:
            return dim
        while pending:
            known = _followed(pending[-1])
            inner = self._known_in(known) if isinstance(known, Dim) else []
            deeper = [each for each in inner if self._is_stale(each)]
            if inner and not deeper and isinstance(known, Dim):
                pending[-1].known = self._put_in(known, inner)
            if not deeper:
                pending.pop()
            pending += deeper
        return self._put_in(dim, self._known_in(dim))

    def _put_in(self, dim: Dim, known: list[DimClass]) -> Part:
        """A dim with what is known of some classes in it, of which nothing more is known."""
        sizes = {each.symbol: self.dim(_followed(each)) for each in known if each.symbol}
        try:
            return self.part(substitute(dim, sizes))
        except DimError:  # it would become too large, so it stays a number
            return self.value(dim)

    def _known_in(self, dim: Dim) -> list[DimClass]:
        """The classes in a dim that are known as something else."""
        return [each for each in self._classes_in(dim) if each.known is not None]

    def _classes_in(self, dim: Dim) -> Sequence[DimClass]:
        """The classes in a dim, the oldest first."""
        classes = self._members.get(dim)
        if classes is None:
            found = [self.by_symbol[each] for each in symbols(dim) if each in self.by_symbol]
            classes = self._members[dim] = sorted(found, key=age)
        return classes

    def _is_stale(self, each: DimClass) -> bool:
        """Whether more is known of what a class is known as."""
        known = _followed(each)
        return isinstance(known, Dim) and bool(self._known_in(known))


def _followed(part: DimClass) -> Part:
    """What a class is known as, through all classes that it has become one with."""
    found: Part = part
    while isinstance(found, DimClass) and found.known is not None:
        found = found.known
    return found


def age(each: DimClass) -> int:
    """By what classes are put in order: the order in which they were met."""
    return each.number
