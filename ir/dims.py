"""Sizes as expressions: a dim is a plain `int` or an interned, immutable `Dim`.

Comes in: ints, symbols, and `+ - *`, `ceil_div`, `floor_div`, `minimum`, `maximum`, `product`.
Goes out: a polynomial over atoms (symbols, ceil-divs, minima, maxima), each kept once: polynomially
equal expressions are one object and are compared with `is`. A constant is always a plain int.
Never: ordering or truth of sizes (`facts.py` proves those), nor parsing (the scanner does it).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from math import gcd, prod
from typing import Any, TypeAlias, Union

DEFAULT_MAXIMUM, MAX_SIZE = 2**31 - 1, 2**63 - 1
# What one expression may have, so that none exhausts memory or the stack.
MAX_TERMS, MAX_PARTS, MAX_DEGREE, MAX_TEXT, MAX_DEPTH = 256, 64, 64, 16384, 24

Size: TypeAlias = Union[int, "Dim"]
Monomial: TypeAlias = "tuple[Atom, ...]"
Terms: TypeAlias = "Mapping[Monomial, int]"  # coefficients, none of them 0


class DimError(ValueError):
    """A dim that cannot exist, or cannot be a size; the message says which and why."""


class Dim:
    """A symbolic size: a polynomial, whose values lie in `low..high` and `multiple` divides."""

    # The key is the text and then the parts' keys: an order that is the same in every run.
    __slots__ = ("depth", "high", "key", "low", "multiple", "parts", "recipe", "terms")
    depth: int
    high: int
    key: tuple[Any, ...]
    low: int
    multiple: int
    parts: tuple[Size, ...]
    recipe: tuple[Callable[..., Any], tuple[Any, ...]]
    terms: Terms

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"dims are immutable: cannot set {name} of {self}")

    def __add__(self, other: Size) -> Size:
        if not isinstance(other, _SIZES):
            return NotImplemented
        return from_terms(accumulate(dict(self.terms), terms_of(other)))

    def __mul__(self, other: Size) -> Size:
        if not isinstance(other, _SIZES):
            return NotImplemented
        return from_terms(multiply_terms(self.terms, terms_of(other)))

    def __sub__(self, other: Size) -> Size:
        return self + -other

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


_SIZES: tuple[type, ...] = (int, Dim)


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
        last = DEFAULT_MAXIMUM if maximum is None else int(maximum)
        key = (name, int(minimum), last, int(multiple))
        return _INTERNED.get(key) or _make_symbol(*key)

    def admits(self, size: int) -> bool:
        """Whether the symbol may stand for `size`."""
        return self.minimum <= size <= self.maximum and size % self.multiple == 0


class CeilDiv(Atom):
    """The first part by the second, which is at least 1, rounded up."""

    __slots__ = ()


class Minimum(Atom):
    """The least of its parts."""

    __slots__ = ()


class Maximum(Atom):
    """The greatest of its parts."""

    __slots__ = ()


def ceil_div(dividend: Size, divisor: Size) -> Size:
    """`dividend / divisor` rounded toward plus infinity; the divisor must be at least 1."""
    if interval(divisor)[0] < 1:
        raise DimError(f"cannot divide {dividend} by {divisor}, which may be less than 1")
    if isinstance(dividend, int) and isinstance(divisor, int):
        return -(-dividend // divisor)
    whole, rest = _divide(terms_of(dividend), terms_of(divisor))
    rules = (rule(from_terms(rest), divisor) for rule in (_cancel, _flatten, _round_up))
    return from_terms(whole) + next(size for size in rules if size is not None)


def floor_div(dividend: Size, divisor: Size) -> Size:
    """`dividend / divisor` rounded toward minus infinity; the divisor must be at least 1."""
    return ceil_div(dividend - divisor + 1, divisor)


def minimum(*sizes: Size) -> Size:
    """The least of one or more sizes."""
    return _extreme(Minimum, sizes)


def maximum(*sizes: Size) -> Size:
    """The greatest of one or more sizes."""
    return _extreme(Maximum, sizes)


def product(sizes: Iterable[Size]) -> Size:
    """All sizes multiplied; 1 for none."""
    return prod(sizes)


def substitute(dim: Size, mapping: Mapping[Symbol, Size]) -> Size:
    """`dim` with the mapped symbols replaced, by dims or by ints within their bounds."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Symbol):
        return mapping.get(dim, dim)
    if isinstance(dim, Atom):
        return dim.recipe[0](*(substitute(part, mapping) for part in dim.parts))
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in dim.terms.items():
        replaced = product(substitute(atom, mapping) for atom in monomial)
        accumulate(terms, terms_of(replaced), coefficient)
    return from_terms(terms)


def evaluate(dim: Size, sizes: Mapping[Symbol, int]) -> int:
    """The value of `dim` where every symbol has its size from `sizes`."""
    value = substitute(dim, sizes)
    if not isinstance(value, int):
        raise DimError(f"cannot evaluate {dim}: no size for {', '.join(map(str, symbols(value)))}")
    return value


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


def terms_of(size: Size) -> Terms:
    """The terms of any size: products of sorted atoms, and what each is multiplied by."""
    if isinstance(size, Dim):
        return size.terms
    return {(): int(size)} if size else {}


def from_terms(terms: Terms) -> Size:
    """The one dim that has these terms."""
    if not terms:
        return 0
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        if not monomial:
            return coefficient
        if coefficient == 1 and len(monomial) == 1:
            return monomial[0]
    identity = frozenset(terms.items())
    return _INTERNED.get(identity) or _make_sum(identity)


def accumulate(result: dict[Monomial, int], terms: Terms, scale: int = 1) -> dict[Monomial, int]:
    """Add `scale * terms` into `result`, and return it."""
    for monomial, coefficient in terms.items():
        value = result.get(monomial, 0) + scale * coefficient
        if value:
            result[monomial] = value
        else:
            result.pop(monomial, None)
    return result


def multiply_terms(left: Terms, right: Terms) -> dict[Monomial, int]:
    """The terms of `left * right`."""
    result: dict[Monomial, int] = {}
    for (one, by), (two, times) in itertools.product(left.items(), right.items()):
        accumulate(result, {tuple(sorted(one + two, key=_key_of)): by * times})
    return result


def monomial_quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """`monomial / divisor`, or None where it does not divide."""
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def terms_interval(terms: Terms) -> tuple[int, int]:
    """Bounds of a polynomial, from those of each term on its own."""
    total_low = total_high = 0
    for monomial, coefficient in terms.items():
        low = high = coefficient
        for atom in monomial:
            corners = low * atom.low, low * atom.high, high * atom.low, high * atom.high
            low, high = min(corners), max(corners)
        total_low, total_high = total_low + low, total_high + high
    return total_low, total_high


def term_multiple(monomial: Monomial, coefficient: int) -> int:
    """What is known to divide a term."""
    return abs(coefficient) * prod(atom.multiple for atom in monomial)


def _divide(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """Quotient and rest, whose coefficients are reduced; a sum of terms divides nothing."""
    whole, rest = dict[Monomial, int](), dict(dividend)
    (lead, unit), *others = divisor.items()
    for monomial, coefficient in () if others else dividend.items():
        factor = monomial_quotient(monomial, lead)
        if factor is not None:
            accumulate(whole, {factor: coefficient // unit})
            accumulate(rest, {monomial: unit}, -(coefficient // unit))
    return whole, rest


def _cancel(dividend: Size, divisor: Size) -> Size | None:
    """(k*x*z + c) / (k*y*z) -> (x + ceil(c / k)) / y, where z = 1 if c is not 0"""
    above, below = terms_of(dividend), terms_of(divisor)
    scale = gcd(*(by for monomial, by in above.items() if monomial), *below.values())
    shared = reduce(lambda one, two: one & two, map(Counter, [*above, *below]))
    factor = tuple(atom for atom in shared.elements() if atom.low > 0)
    if scale == 1 and not factor:
        return None
    smaller = [dict[Monomial, int](), dict[Monomial, int]()]
    for result, terms in zip(smaller, (above, below), strict=True):
        for monomial, by in terms.items():
            accumulate(result, {monomial_quotient(monomial, factor) or (): -(-by // scale)})
    return ceil_div(*map(from_terms, smaller))


def _flatten(dividend: Size, divisor: Size) -> Size | None:
    """(ceil(x / y) + c) / z -> (x + c*y) / (y*z)"""
    atoms = [atom for monomial in terms_of(dividend) for atom in monomial]
    if len(atoms) != 1 or not isinstance(atoms[0], CeilDiv):
        return None
    (inner, by), added = atoms[0].parts, dividend - atoms[0]
    if not isinstance(added, int) or interval(by * divisor)[0] < 1:
        return None
    return ceil_div(inner + added * by, by * divisor)


def _round_up(dividend: Size, divisor: Size) -> Size:
    """An int where the bounds leave one value, else the ceil-div itself."""
    (low, high), (least, most) = interval(dividend), interval(divisor)
    low, high = -(-low // (most if low > 0 else least)), -(-high // (least if high > 0 else most))
    if low == high:
        return low
    known = dividend.multiple if isinstance(dividend, Dim) else 1
    multiple = known // least if isinstance(divisor, int) and known % least == 0 else 1
    return _make_function(CeilDiv, (dividend, divisor), low, high, multiple)


def _extreme(kind: type[Atom], sizes: Sequence[Size]) -> Size:
    """Flat and sorted, ints last, without what another one always beats."""

    def beats(one: Size, other: Size) -> bool:
        terms = accumulate(dict(terms_of(other)), terms_of(one), -1)
        low, high = terms_interval(terms)
        return low >= 0 if kind is Minimum else high <= 0

    flat = {part for size in sizes for part in (size.parts if isinstance(size, kind) else (size,))}
    if not 0 < len(flat) <= MAX_PARTS:
        raise DimError(f"the {kind.__name__} of {len(flat)} sizes: give 1 to {MAX_PARTS}")
    kept: tuple[Size, ...] = ()
    # Ints come first here: where two are always equal, the first one stays.
    for size in sorted(flat, key=lambda size: (isinstance(size, int), _key_of(size)), reverse=True):
        if not any(beats(other, size) for other in kept):
            kept = (size, *(other for other in kept if not beats(size, other)))
    if len(kept) == 1:
        return kept[0]
    pick = min if kind is Minimum else max
    lows, highs = zip(*map(interval, kept), strict=True)
    multiple = gcd(*(size.multiple if isinstance(size, Dim) else size for size in kept))
    return _make_function(kind, kept, pick(lows), pick(highs), multiple)


def _make(kind: type[Dim], identity: object, key: tuple[Any, ...], **fields: Any) -> Any:
    """The interned dim of these fields; of two threads that make the same, the first wins."""
    made = object.__new__(kind)
    depth = max((part.depth for part in fields["parts"] if isinstance(part, Dim)), default=0)
    fields = {"key": key, "depth": depth + (kind is not Dim), "terms": {(made,): 1}} | fields
    if depth > MAX_DEPTH or len(key[0]) > MAX_TEXT:
        raise DimError(f"a dim of {len(key[0])} letters, {depth} deep, is too large: {key[0]:.60}")
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return _INTERNED.setdefault(identity, made)


def _make_symbol(name: str, minimum: int, maximum: int, multiple: int) -> Symbol:
    key = (name, minimum, maximum, multiple)
    fields = {"name": name, "minimum": minimum, "maximum": maximum, "multiple": multiple}
    bounded = 0 <= minimum <= maximum <= MAX_SIZE and multiple >= 1
    low, high = (-(-minimum // multiple), maximum // multiple) if bounded else (1, 0)
    if low > high or not (name.isidentifier() and name.isascii()):
        shown = f"{name:.40}: {minimum}..{maximum} % {multiple}"
        raise DimError(f"{shown}: a size needs an identifier, and a multiple in 0..{MAX_SIZE}")
    fields |= {"low": low * multiple, "high": high * multiple, "parts": (), "recipe": (Symbol, key)}
    return _make(Symbol, key, key, **fields)


def _make_sum(identity: frozenset[tuple[Monomial, int]]) -> Dim:
    if len(identity) > MAX_TERMS or any(len(atoms) > MAX_DEGREE for atoms, _ in identity):
        raise DimError(f"a dim has at most {MAX_TERMS} terms, of degree {MAX_DEGREE} at most")
    terms = dict(sorted(identity, key=_term_key))
    atoms = tuple(atom for monomial in terms for atom in monomial)
    shown = "".join(itertools.starmap(_term_text, terms.items()))
    key = (shown[3:] if shown[1] == "+" else "-" + shown[3:], *map(_key_of, atoms))
    multiple = gcd(*itertools.starmap(term_multiple, terms.items()))
    low, high = terms_interval(terms)
    fields = {"terms": terms, "parts": atoms, "recipe": (_make_sum, (identity,))}
    return _make(Dim, identity, key, low=low, high=high, multiple=multiple, **fields)


def _make_function(kind: type[Atom], parts: tuple[Size, ...], low: int, high: int, multiple: int):
    name, rebuild = _FUNCTIONS[kind]
    identity = (kind, parts)
    keys = [_key_of(part) for part in parts]
    key = (f"{name}({', '.join(shown for shown, *_ in keys)})", *keys)
    fields = {"recipe": (rebuild, parts), "parts": parts, "low": low, "high": high}
    return _INTERNED.get(identity) or _make(kind, identity, key, multiple=multiple, **fields)


def _term_key(term: tuple[Monomial, int]) -> tuple[Any, ...]:
    """Positive terms before negative ones, each by text; the constant last."""
    return not term[0], term[1] < 0, [atom.key for atom in term[0]]


def _term_text(monomial: Monomial, coefficient: int) -> str:
    factors = [str(abs(coefficient))] if abs(coefficient) != 1 or not monomial else []
    return (" - " if coefficient < 0 else " + ") + "*".join([*factors, *map(str, monomial)])


def _key_of(size: Size) -> tuple[Any, ...]:
    return size.key if isinstance(size, Dim) else (f"{size:d}",)


_INTERNED: dict[object, Any] = {}
_FUNCTIONS: dict[type[Dim], tuple[str, Callable[..., Size]]] = {
    CeilDiv: ("ceildiv", ceil_div),
    Minimum: ("min", minimum),
    Maximum: ("max", maximum),
}
