"""What is certain about dims: a `True` is proved, a `False` only means that no proof was found.

Comes in: dims, and assumptions about them (`Equal`, `AtMost`, `Divides`).
Goes out: answers that hold for all sizes within the symbols' bounds that meet the assumptions.
Never: a guess, or a search without an end; a query visits about `WORK` terms at most.

`small <= large` is shown by a lower bound of the polynomial `large - small`. Where its terms alone
give too little, steps lead to polynomials below it: ceil-divs, minima and maxima give way to what
defines them, and assumptions are subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product as combinations
from math import gcd, lcm, prod
from typing import NamedTuple, TypeAlias

from .dims import (
    Atom,
    CeilDiv,
    DimError,
    Minimum,
    Monomial,
    Size,
    Symbol,
    Terms,
    accumulate,
    interval,
    monomial_quotient,
    multiply_terms,
    substitute,
    symbols,
    terms_interval,
    terms_of,
)

# Limits: terms that a search visits, its steps in a row, the terms of a polynomial that is worth a
# step, the terms after counting atoms from their low ends, residues tried.
WORK, MAX_STEPS, MAX_TERMS, MAX_SHIFTED, MAX_RESIDUES = 500, 6, 24, 64, 256


@dataclass(frozen=True, slots=True)
class Equal:
    """Assume that `left` and `right` are the same size."""

    left: Size
    right: Size


@dataclass(frozen=True, slots=True)
class AtMost:
    """Assume that `small` is at most `large`."""

    small: Size
    large: Size


@dataclass(frozen=True, slots=True)
class Divides:
    """Assume that `dim` is a multiple of `factor`, which is at least 1."""

    factor: int
    dim: Size

    def __post_init__(self) -> None:
        if self.factor < 1:
            raise DimError(f"{self.factor} cannot divide {self.dim}: it is less than 1")


Assumption: TypeAlias = Equal | AtMost | Divides


class Facts:
    """Everything that assumptions and the bounds of symbols say about dims."""

    __slots__ = ("_divisible", "_solved", "nonnegative")

    def __init__(self, assumptions: Iterable[Assumption] = ()) -> None:
        self._divisible: tuple[Divides, ...] = ()
        self.nonnegative: tuple[Size, ...] = ()
        self._solved: dict[Symbol, Size] = {}
        for assumption in assumptions:
            self._assume(assumption)

    def equal(self, left: Size, right: Size) -> bool:
        """Whether `left == right` is certain."""
        return self.at_most(left, right) and self.at_most(right, left)

    def differ(self, left: Size, right: Size) -> bool:
        """Whether `left != right` is certain."""
        if self.less(left, right) or self.less(right, left):
            return True
        for terms in self._differences(left, right):
            step = self.multiple_of_terms(_varying(terms))
            if step and terms.get((), 0) % step:
                return True
        return False

    def at_most(self, small: Size, large: Size) -> bool:
        """Whether `small <= large` is certain."""
        differences = self._differences(large, small)
        return any(_Search(self).best(terms, 0) >= 0 for terms in differences)

    def less(self, small: Size, large: Size) -> bool:
        """Whether `small < large` is certain."""
        return self.at_most(small + 1, large)

    def divides(self, factor: int, dim: Size) -> bool:
        """Whether `dim` is certainly a multiple of `factor`, which is at least 1."""
        asked = Divides(factor, dim)
        if self.multiple(dim) % asked.factor == 0:
            return True
        return any(self._residues_vanish(factor, terms) for terms in self._differences(dim, 0))

    def interval(self, dim: Size) -> tuple[int, int]:
        """Bounds between which `dim` certainly lies."""
        low, high = interval(dim)
        for terms in self._differences(dim, 0):
            search = _Search(self, bounding=True)
            least = search.best(terms, high)
            most = -search.best(accumulate({}, terms, -1), -low)
            step, first = self.multiple_of_terms(_varying(terms)), terms.get((), 0)
            if step:
                least, most = least + (first - least) % step, most - (most - first) % step
            low, high = max(low, least), min(high, most)
        # Assumptions that contradict each other may cross the bounds; then no size is left.
        return (low, high) if low <= high else interval(dim)

    def multiple(self, dim: Size) -> int:
        """The largest number known to divide `dim`; 0 if `dim` is 0."""
        return lcm(*(self.multiple_of_terms(terms) for terms in self._differences(dim, 0)))

    def multiple_of_terms(self, terms: Terms, steps: int = 2) -> int:
        """A number that divides the polynomial: all its terms, or all that assumptions leave."""
        factors = (
            abs(coefficient) * prod(self._multiple_of_atom(atom, steps) for atom in monomial)
            for monomial, coefficient in terms.items()
        )
        known = gcd(*factors)
        for fact in self._divisible if steps and len(terms) <= MAX_TERMS else ():
            quotient, rest = _divide(terms, terms_of(fact.dim))
            if quotient:
                whole = fact.factor * self.multiple_of_terms(quotient, 0)
                known = lcm(known, gcd(whole, self.multiple_of_terms(rest, steps - 1)))
        return known

    def _multiple_of_atom(self, atom: Atom, steps: int) -> int:
        if not (self._divisible and steps) or isinstance(atom, Symbol):
            return atom.multiple
        parts = [self.multiple_of_terms(terms_of(part), steps - 1) for part in atom.parts]
        if not isinstance(atom, CeilDiv):
            return lcm(atom.multiple, gcd(*parts))
        divisor = atom.parts[1]
        exact = isinstance(divisor, int) and parts[0] % divisor == 0
        return lcm(atom.multiple, parts[0] // parts[1]) if exact else atom.multiple

    def _residues_vanish(self, factor: int, terms: Terms) -> bool:
        """Whether the polynomial is a multiple for every residue that its atoms may have."""
        atoms = list(dict.fromkeys(atom for monomial in terms for atom in monomial))
        steps = [gcd(factor, self._multiple_of_atom(atom, 2)) for atom in atoms]
        if prod(factor // step for step in steps) > MAX_RESIDUES or len(terms) > MAX_TERMS:
            return False
        for residues in combinations(*(range(0, factor, step) for step in steps)):
            values = dict(zip(atoms, residues, strict=True))
            each = (by * prod(values[atom] for atom in monomial) for monomial, by in terms.items())
            if sum(each) % factor:
                return False
        return True

    def _differences(self, left: Size, right: Size) -> Iterator[Terms]:
        """`left - right` as written, then with the solved symbols replaced."""
        written = _difference(left, right)
        yield written
        if self._solved:
            settled = _difference(self._settled(left), self._settled(right))
            if settled != written:
                yield settled

    def _settled(self, dim: Size) -> Size:
        try:
            return substitute(dim, self._solved)
        except DimError:  # a divisor's new form has bounds too loose to divide by
            return dim

    def _assume(self, assumption: Assumption) -> None:
        match assumption:
            case AtMost(small, large):
                self.nonnegative += (large - small,)
            case Divides():
                self._divisible += (assumption,)
            case Equal(left, right):
                self.nonnegative += (left - right, right - left)
                self._solve(self._settled(left) - self._settled(right))

    def _solve(self, zero: Size) -> None:
        """Replace a symbol for good, where `zero = 0` says what it is."""
        for monomial, coefficient in terms_of(zero).items():
            symbol = monomial[0] if len(monomial) == 1 else None
            if isinstance(symbol, Symbol) and abs(coefficient) == 1:
                value = symbol - coefficient * zero
                if symbol not in symbols(value):
                    return self._replace(symbol, value)

    def _replace(self, symbol: Symbol, value: Size) -> None:
        """Settle `symbol` as `value`, which is then known to obey the symbol's bounds."""
        try:
            solved = {one: substitute(size, {symbol: value}) for one, size in self._solved.items()}
        except DimError:
            return
        self._solved = solved | {symbol: value}
        self.nonnegative += (value - symbol.low, symbol.high - value)
        self._divisible += (Divides(symbol.multiple, value),)


class _Step(NamedTuple):
    """`scale * P + scale - 1` is at least one of the `cases`, each with what holds in its case."""

    cases: tuple[tuple[Terms, tuple[Size, ...]], ...]
    scale: Size = 1


class _Search:
    """The hunt for a lower bound: for the best where `bounding`, else for one that decides."""

    __slots__ = ("_bounding", "_facts", "_found", "_work")

    def __init__(self, facts: Facts, bounding: bool = False) -> None:
        self._bounding, self._facts = bounding, facts
        self._found: dict[object, tuple[int, int]] = {}

    def best(self, terms: Terms, goal: int) -> int:
        """A number below all values of `terms`, at least `goal` if possible; short ways first."""
        self._work = WORK
        known = self._facts.nonnegative
        best = self._lower(terms, goal, known, MAX_STEPS // 2)
        return best if best >= goal else self._lower(terms, goal, known, MAX_STEPS)

    def _lower(self, terms: Terms, goal: int, known: tuple[Size, ...], steps: int) -> int:
        """A number below all values of `terms`; from `goal` on, no better one is looked for."""
        identity = frozenset(terms.items()), known
        tried, best = self._found.get(identity, (-1, 0))
        if tried < 0:
            best = _lower_bound(terms)
        self._work -= 1 + len(terms)
        if best >= goal or tried >= steps or self._work <= 0 or len(terms) > MAX_TERMS:
            return best
        self._found[identity] = steps, best
        ways = self._steps(terms, known) if steps else ()
        for step in sorted(ways, key=lambda step: sum(len(case) for case, _ in step.cases)):
            best = max(best, self._through(step, goal, known, steps - 1))
            if best >= goal or self._work <= 0:
                break
        self._found[identity] = steps, best
        return best

    def _through(self, step: _Step, goal: int, known: tuple[Size, ...], steps: int) -> int:
        """The bound of P that the cases of a step give.

        `scale * P + scale - 1 >= worst` says that `P >= floor(worst / scale)`.
        """
        low, high = interval(step.scale)
        aim = goal * (high if goal > 0 else low)
        worst = min(self._lower(case, aim, known + extra, steps) for case, extra in step.cases)
        return worst // (high if worst >= 0 else low)

    def _steps(self, terms: Terms, known: tuple[Size, ...]) -> Iterator[_Step]:
        """Ways on from a polynomial, those that undo the outermost function first."""
        atoms = dict.fromkeys(atom for monomial in terms for atom in monomial)
        for atom in sorted(atoms, key=lambda atom: -atom.depth):
            if sum(len(terms_of(part)) for part in atom.parts) > MAX_TERMS:
                continue
            if isinstance(atom, CeilDiv):
                yield from self._unround(terms, atom)
            elif not isinstance(atom, Symbol):
                yield from _choose(terms, atom)
        for fact in map(terms_of, known):
            if 0 < len(fact) <= MAX_TERMS:
                self._work -= 1
                yield from _subtract(terms, fact, self._bounding)

    def _unround(self, terms: Terms, atom: CeilDiv) -> Iterator[_Step]:
        """d*ceil(x / d) -> x + slack, least where it is added and most where it is taken away"""
        dividend, divisor = atom.parts
        taken, kept = _split(terms, atom)
        quotient, left = _divide(taken, terms_of(divisor))
        factors, scale = (taken, divisor) if left else (quotient, 1)
        if not all(map(_nonnegative, factors)):
            return
        least, most = self._slack(dividend, divisor)
        result = accumulate(multiply_terms(kept, terms_of(scale)), terms_of(scale - 1))
        for factor, by in factors.items():
            bound = dividend + (least if by > 0 else most)
            accumulate(result, multiply_terms({factor: by}, terms_of(bound)))
        yield _Step(((result, ()),), scale)

    def _slack(self, dividend: Size, divisor: Size) -> tuple[Size, Size]:
        """Bounds of `divisor * ceil(dividend / divisor) - dividend`."""
        if not isinstance(divisor, int):
            return 0, divisor - 1
        terms = terms_of(dividend)
        step = gcd(divisor, self._facts.multiple_of_terms(_varying(terms)))
        first = -terms.get((), 0) % step
        return first, divisor - step + first


def _choose(terms: Terms, atom: Atom) -> Iterator[_Step]:
    """min(a, b) -> a where it is taken away; else a or b, whichever it is; max likewise"""
    taken, kept = _split(terms, atom)
    if not taken:
        return
    cases = [accumulate(multiply_terms(taken, terms_of(part)), kept) for part in atom.parts]
    sign = -1 if isinstance(atom, Minimum) else 1
    if all(by * sign > 0 and _nonnegative(factor) for factor, by in taken.items()):
        yield from (_Step(((case, ()),)) for case in cases)
    beaten = (tuple((part - other) * sign for other in atom.parts) for part in atom.parts)
    yield _Step(tuple(zip(cases, beaten, strict=True)))


def _subtract(terms: Terms, fact: Terms, bounding: bool) -> Iterator[_Step]:
    """P -> s*P - q*fact, without a term of P that is negative, or any; `fact` is never negative"""
    for (lead, unit), (monomial, by) in combinations(fact.items(), terms.items()):
        useful = unit * by > 0 and (by < 0 or bounding)
        factor = monomial_quotient(monomial, lead) if useful else None
        if factor is not None and _nonnegative(factor):
            scale = abs(unit) // gcd(unit, by)
            result = accumulate({(): scale - 1} if scale > 1 else {}, terms, scale)
            accumulate(result, multiply_terms({factor: -(by * scale // unit)}, fact))
            yield _Step(((result, ()),), scale)


def _split(terms: Terms, atom: Atom) -> tuple[Terms, Terms]:
    """t and k of `terms = t * atom + k`, where t has no `atom`; higher powers stay in k."""
    rests = [(monomial_quotient(monomial, (atom,)), by) for monomial, by in terms.items()]
    taken = {rest: by for rest, by in rests if rest is not None and atom not in rest}
    return taken, accumulate(dict(terms), multiply_terms(taken, terms_of(atom)), -1)


def _divide(terms: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """Quotient and rest of two polynomials, by the divisor's term of the smallest coefficient."""
    quotient: dict[Monomial, int] = {}
    if divisor:
        lead = min(divisor, key=lambda monomial: (not monomial, abs(divisor[monomial])))
        for monomial, by in terms.items():
            factor = monomial_quotient(monomial, lead)
            if factor is not None and by % divisor[lead] == 0:
                quotient[factor] = by // divisor[lead]
    return quotient, accumulate(dict(terms), multiply_terms(quotient, divisor), -1)


def _lower_bound(terms: Terms) -> int:
    """The better of two: each term on its own, or every atom counted from its low end."""
    low, _ = terms_interval(terms)
    if sum(2 ** min(len(monomial), 8) for monomial in terms) > MAX_SHIFTED:
        return low
    shifted: dict[Monomial, int] = {}
    for term in terms.items():
        for monomial, by in _expanded(*term):
            shifted[monomial] = shifted.get(monomial, 0) + by
    constant = shifted.pop((), 0)
    spare = {monomial: by for monomial, by in shifted.items() if by > 0}
    unpaid = sum(_unpaid(monomial, -by, spare) for monomial, by in shifted.items() if by < 0)
    return max(low, constant - unpaid)


def _expanded(monomial: Monomial, coefficient: int) -> list[tuple[Monomial, int]]:
    """The terms of a product where `low + atom` stands for each atom."""
    terms: list[tuple[Monomial, int]] = [((), coefficient)]
    for atom in monomial:
        fixed = [(part, by * atom.low) for part, by in terms] if atom.low else []
        terms = [((*part, atom), by) for part, by in terms] + fixed
    return terms


def _unpaid(monomial: Monomial, count: int, spare: dict[Monomial, int]) -> int:
    """What no spare term makes up for, as 20*y does for 2*x*y if x <= 10; uses the spare up."""
    for other, have in spare.items():
        rest = monomial_quotient(monomial, other)
        if rest is not None:
            width = _width(rest)
            used = min(count, have // width) if width else count
            spare[other], count = have - used * width, count - used
    return count * _width(monomial)


def _width(monomial: Monomial) -> int:
    return prod(atom.high - atom.low for atom in monomial)


def _nonnegative(monomial: Monomial) -> bool:
    return terms_interval({monomial: 1})[0] >= 0


def _varying(terms: Terms) -> dict[Monomial, int]:
    return {monomial: by for monomial, by in terms.items() if monomial}


def _difference(left: Size, right: Size) -> Terms:
    return accumulate(dict(terms_of(left)), terms_of(right), -1)
