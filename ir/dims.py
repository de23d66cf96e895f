"""Sizes as expressions: a dim is a plain `int` or an interned, immutable `Dim`.

Comes in: ints, symbols, and `+ - * //`, `ceil_div`, `floor_div`, `minimum`, `maximum`. Goes out: a
polynomial over atoms (symbols and functions): equal ones are one object, compared with `is`, and a
constant is a plain int. Never: ordering or truth of sizes (`facts` proves those), nor parsing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import chain
from math import gcd, prod
from typing import Any, TypeAlias, Union

DEFAULT_MAXIMUM, MAX_SIZE = 2**31 - 1, 2**63 - 1
# What one expression may have, so that none exhausts memory or the stack.
MAX_TERMS, MAX_PARTS, MAX_DEGREE, MAX_TEXT, MAX_DEPTH = 256, 64, 64, 16384, 24

Size: TypeAlias = Union[int, "Dim"]
Monomial: TypeAlias = "tuple[Atom, ...]"  # sorted factors


class DimError(ValueError):
    """A dim that cannot exist, or cannot be a size; the message says which and why."""


class Polynomial(dict[Monomial, int]):
    """Products of atoms, and what each is multiplied by, which is never 0."""

    def plus(self, other: Polynomial, scale: int = 1) -> Polynomial:
        """`self + scale * other`"""
        sums = self | {each: self.get(each, 0) + scale * by for each, by in other.items()}
        return Polynomial({each: by for each, by in sums.items() if by})

    def times(self, other: Polynomial) -> Polynomial:
        """`self * other`"""
        total = Polynomial()
        for one, by in self.items():
            moved = {tuple(sorted(one + two, key=_key_of)): times for two, times in other.items()}
            total = total.plus(Polynomial(moved), by)
        return total

    def over(self, divisor: Monomial, unit: int = 1) -> Polynomial:
        """The terms that `divisor` divides, divided by `unit * divisor`, numbers rounded down."""
        quotient = Polynomial()
        for monomial, by in self.items():
            rest = list(monomial)
            for atom in divisor:
                if atom in rest:
                    rest.remove(atom)
            if by // unit and len(rest) + len(divisor) == len(monomial):
                quotient[tuple(rest)] = by // unit
        return quotient

    def bounds(self) -> tuple[int, int]:
        """Where the values lie, by the bounds of each term on its own."""
        total_low = total_high = 0
        for monomial, by in self.items():
            low = high = by
            for atom in monomial:
                corners = low * atom.low, low * atom.high, high * atom.low, high * atom.high
                low, high = min(corners), max(corners)
            total_low, total_high = total_low + low, total_high + high
        return total_low, total_high

    def step(self) -> int:
        """What certainly divides every term but the constant; 0 if there is none."""
        terms = (by * prod(atom.multiple for atom in atoms) for atoms, by in self.items() if atoms)
        return gcd(*terms)

    def size(self) -> Size:
        """The one dim, or the int, that this is."""
        if len(self) < 2:
            ((atoms, by),) = self.items() or (((), 0),)
            if not atoms or len(atoms) == by == 1:
                return atoms[0] if atoms else by
        recipe = (_sum_of, (frozenset(self.items()),))
        return _INTERNED.get(recipe) or _sum_of(*recipe[1])


class Dim:
    """A symbolic size: a polynomial, whose values lie in `low..high` and `multiple` divides."""

    __slots__ = ("depth", "high", "key", "low", "multiple", "parts", "recipe", "terms")
    depth: int
    high: int
    key: tuple[Any, ...]  # the text, then the parts' keys: an order that is the same in every run
    low: int
    multiple: int
    parts: tuple[Size, ...]
    recipe: tuple[Callable[..., Any], tuple[Any, ...]]
    terms: Polynomial

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"dims are immutable: cannot set {name} of {self}")

    def __add__(self, other: Size) -> Size:
        return _both(Polynomial.plus, self, other) if isinstance(other, _SIZES) else NotImplemented

    def __mul__(self, other: Size) -> Size:
        return _both(Polynomial.times, self, other) if isinstance(other, _SIZES) else NotImplemented

    def __sub__(self, other: Size) -> Size:
        return self + -other if isinstance(other, _SIZES) else NotImplemented

    def __floordiv__(self, other: Size) -> Size:
        return floor_div(self, other) if isinstance(other, _SIZES) else NotImplemented

    def __rsub__(self, other: int) -> Size:
        return -self + other

    def __neg__(self) -> Size:
        return self * -1

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        """The infix text that the scanner reads back: `3*n + 1`, `ceildiv(n, 4)`, `min(n, 5)`."""
        return self.key[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return self.recipe


class Atom(Dim):
    """What polynomials are made of: a symbol, or a function of its `parts`."""

    __slots__ = ()


class Symbol(Atom):
    """A named size: a multiple of `multiple` in `minimum..maximum`."""

    __slots__ = ("maximum", "minimum", "name")
    maximum: int
    minimum: int
    name: str

    def __new__(cls, name: str, minimum: int = 0, maximum: int | None = None, multiple: int = 1):
        least, step = int(minimum), int(multiple)
        most = DEFAULT_MAXIMUM if maximum is None else int(maximum)
        bounded = 0 <= least <= most <= MAX_SIZE and step >= 1
        low, high = (-(-least // step) * step, most // step * step) if bounded else (1, 0)
        if low > high or not (name.isidentifier() and name.isascii()):
            shown = f"{name:.40}: {least}..{most} % {step}"
            raise DimError(f"{shown}: a size needs an identifier, and a multiple in 0..{MAX_SIZE}")
        own = {"name": name, "minimum": least, "maximum": most}
        given = (least, most, step)
        return _make(cls, (cls, (name, *given)), given, (low, high), step, name, **own)

    def admits(self, size: int) -> bool:
        """Whether the symbol may stand for `size`."""
        return self.minimum <= size <= self.maximum and size % self.multiple == 0


@lru_cache(1 << 14)
def ceil_div(dividend: Size, divisor: Size) -> Size:
    """`dividend / divisor` rounded toward plus infinity; the divisor must be at least 1."""
    if interval(divisor)[0] < 1:
        raise DimError(f"cannot divide {dividend} by {divisor}, which may be less than 1")
    if isinstance(dividend, int) and isinstance(divisor, int):
        return -(-dividend // divisor)
    above, below = _reduced(terms_of(dividend), terms_of(divisor))
    dividend, divisor = above.size(), below.size()
    (lead, unit), *others = below.items()
    if not others and (whole := above.over(lead, unit)):  # (x*y + z) / y -> x + z / y
        return whole.size() + ceil_div(above.plus(whole.times(below), -1).size(), divisor)
    added = above.get((), 0)
    inner = dividend - added if added else dividend
    if isinstance(inner, Atom) and inner.recipe[0] is ceil_div:  # (x / y + c) / z
        inside, by = inner.parts
        if interval(by * divisor)[0] > 0:  # -> (x + c*y) / (y*z)
            return ceil_div(inside + added * by, by * divisor)
    ends = [-(-x // y) for x in interval(dividend) for y in interval(divisor)]
    if min(ends) == max(ends):
        return ends[0]
    known = gcd(above.step(), added)
    step = known // unit if isinstance(divisor, int) and known % unit == 0 else 1
    return _make(Atom, (ceil_div, (dividend, divisor)), (dividend, divisor), ends, step, "ceildiv")


def floor_div(dividend: Size, divisor: Size) -> Size:
    """`dividend / divisor` rounded toward minus infinity; the divisor must be at least 1."""
    return ceil_div(dividend - divisor + 1, divisor)


def minimum(*sizes: Size) -> Size:
    """The least of one or more sizes."""
    return _extreme(minimum, sizes)


def maximum(*sizes: Size) -> Size:
    """The greatest of one or more sizes."""
    return _extreme(maximum, sizes)


def substitute(dim: Size, mapping: Mapping[Symbol, Size], kept: bool = True) -> Size:
    """`dim` with dims or ints in the place of symbols, whose bounds are `kept`."""
    if isinstance(dim, int | Symbol):
        return mapping.get(dim, dim) if isinstance(dim, Symbol) else dim
    if isinstance(dim, Atom):
        parts = [substitute(part, mapping, kept) for part in dim.parts]
        if kept and dim.recipe[0] is ceil_div:  # whose divisor is known to be at least 1
            parts[1] = maximum(parts[1], 1)
        return dim.recipe[0](*parts)
    terms = dim.terms.items()
    return sum(prod(substitute(each, mapping, kept) for each in atoms) * by for atoms, by in terms)


def evaluate(dim: Size, sizes: Mapping[Symbol, int]) -> int:
    """The value of `dim` where every symbol has its size from `sizes`."""
    value = substitute(dim, sizes)
    if not isinstance(value, int):
        raise DimError(f"cannot evaluate {dim}: no size for {', '.join(map(str, symbols(value)))}")
    return value


@lru_cache(1 << 14)
def symbols(dim: Size) -> tuple[Symbol, ...]:
    """The symbols in `dim`, each once, in the order of its text."""
    if isinstance(dim, int | Symbol):
        return (dim,) if isinstance(dim, Symbol) else ()
    return tuple(dict.fromkeys(symbol for part in dim.parts for symbol in symbols(part)))


def interval(dim: Size) -> tuple[int, int]:
    """Bounds between which every value of `dim` lies, from the bounds of its symbols."""
    return (dim, dim) if isinstance(dim, int) else (dim.low, dim.high)


def check_size(dim: Size) -> None:
    """Refuse what can never be the size of a tensor."""
    low, high = interval(dim)
    if high < 0 or low > MAX_SIZE:
        raise DimError(f"{dim} is not a size: it is never within 0..{MAX_SIZE}")


def terms_of(size: Size) -> Polynomial:
    """Any size as a polynomial."""
    return size.terms if isinstance(size, Dim) else Polynomial({(): int(size)} if size else {})


@lru_cache(1 << 14)
def _both(how: Callable[..., Polynomial], one: Size, other: Size) -> Size:
    return how(terms_of(one), terms_of(other)).size()


def _reduced(above: Polynomial, below: Polynomial) -> tuple[Polynomial, Polynomial]:
    """A fraction that is rounded up, without what all of its terms have in common."""
    # A constant between two multiples of what divides all else counts as the greater one.
    step = gcd(above.step(), below.step(), below.get((), 0))
    above = above.plus(terms_of(-above.get((), 0) % step))
    scale = gcd(*above.values(), *below.values())
    above, below = above.over((), scale), below.over((), scale)
    for atom in next(iter(below)):
        if atom.low > 0 and all(atom in monomial for monomial in chain(above, below)):
            above, below = above.over((atom,)), below.over((atom,))
    return above, below


def _extreme(function: Callable[..., Size], sizes: Iterable[Size]) -> Size:
    """Flat and sorted, ints last, without what another one always beats."""
    flat: set[Size] = set()
    for size in sizes:
        flat |= {*size.parts} if isinstance(size, Dim) and size.recipe[0] is function else {size}
    if not 0 < len(flat) <= MAX_PARTS:
        raise DimError(f"the {function.__name__} of {len(flat)} sizes: give 1 to {MAX_PARTS}")
    kept = sorted(flat, key=lambda size: (isinstance(size, int), _key_of(size)))
    for size in tuple(kept):  # of two that are always equal, the later one stays
        gaps = (terms_of(size).plus(terms_of(one), -1).bounds() for one in kept if one is not size)
        if any(low >= 0 if function is minimum else high <= 0 for low, high in gaps):
            kept.remove(size)
    if len(kept) == 1:
        return kept[0]
    pick, parts = min if function is minimum else max, tuple(kept)
    ends = [pick(each) for each in zip(*map(interval, kept), strict=True)]
    step = gcd(*(size if isinstance(size, int) else size.multiple for size in kept))
    return _make(Atom, (function, parts), parts, ends, step, pick.__name__)


def _make(kind: Any, recipe: Any, parts: Any, ends: Any, step: int, text: str, **own: Any) -> Any:
    """The interned dim of these fields; of two threads that make the same, the first wins."""
    if recipe in _INTERNED:
        return _INTERNED[recipe]
    if kind is Atom:
        text = f"{text}({', '.join(_key_of(part)[0] for part in parts)})"
    depth = max((part.depth for part in parts if isinstance(part, Dim)), default=0)
    if depth > MAX_DEPTH or len(text) > MAX_TEXT:
        raise DimError(f"a dim of {len(text)} letters, {depth} deep, is too large: {text:.60}")
    made = object.__new__(kind)
    own = {"terms": Polynomial({(made,): 1}), "depth": depth + (kind is not Dim)} | own
    own |= {"low": min(ends), "high": max(ends), "multiple": step, "parts": parts}
    own |= {"key": (text, *map(_key_of, parts)), "recipe": recipe}
    for field, value in own.items():
        object.__setattr__(made, field, value)
    return _INTERNED.setdefault(recipe, made)


def _sum_of(terms: frozenset[tuple[Monomial, int]]) -> Size:
    if len(terms) > MAX_TERMS or any(len(atoms) > MAX_DEGREE for atoms, _ in terms):
        raise DimError(f"a dim has at most {MAX_TERMS} terms, of degree {MAX_DEGREE} at most")
    # Positive terms before negative ones, each by text; the constant last.
    order = sorted(terms, key=lambda term: (not term[0], term[1] < 0, [*map(_key_of, term[0])]))
    text = " + ".join("*".join(map(str, (by, *atoms))) for atoms, by in order)
    text = re.sub(r"\b1\*", "", text).replace(" + -", " - ")
    total = Polynomial(order)
    step, parts = gcd(total.step(), total.get((), 0)), tuple(chain.from_iterable(total))
    return _make(Dim, (_sum_of, (terms,)), parts, total.bounds(), step, text, terms=total)


def _key_of(size: Size) -> tuple[Any, ...]:
    return size.key if isinstance(size, Dim) else (f"{size:d}",)


_SIZES: tuple[type, ...] = (int, Dim)
_INTERNED: dict[object, Any] = {}
