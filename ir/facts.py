"""What is certain about dims: a `True` is proved, a `False` only means that no proof was found.

Comes in: dims, assumptions about them (`at_most`, `equal`, `divides`), examples of sizes. Goes out:
answers for all sizes within the symbols' bounds that meet the assumptions. Never: a guess, or a
search without an end. A claim says that polynomials are never negative. Where the bounds of its
terms do not show it of one, nor an example the contrary, a step leads to others of which it must be
shown: bounds stand for an atom, or what was assumed is subtracted.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import gcd

from .dims import Atom, Polynomial, Size, Symbol, ceil_div, maximum, terms_of

# The polynomials that a proof visits, its steps in a row, and what is too long to be worth a step.
MAX_VISITS, MAX_STEPS, MAX_FACTORS, MAX_LETTERS = 64, 8, 32, 256

Claim = tuple[Polynomial, ...]
At = Callable[[Polynomial], int]  # its value at certain sizes


def at_most(small: Size, large: Size) -> Claim:
    """`small <= large`"""
    return (terms_of(large).plus(terms_of(small), -1),)


def equal(left: Size, right: Size) -> Claim:
    """`left == right`"""
    return at_most(left, right) + at_most(right, left)


def divides(factor: int, dim: Size) -> Claim:
    """`dim` is a multiple of `factor`, which is at least 1."""
    return equal(dim, factor * ceil_div(dim, factor))


class Facts:
    """Everything that assumptions and the bounds of symbols say about dims."""

    def __init__(self, assumptions: Iterable[Claim] = (), examples: Iterable[At] = ()) -> None:
        self._known, self._examples = tuple(chain.from_iterable(assumptions)), [*examples]

    def at_most(self, small: Size, large: Size) -> bool:
        """Whether `small <= large` is certain."""
        return self._prove(at_most(small, large))

    def less(self, small: Size, large: Size) -> bool:
        """Whether `small < large` is certain."""
        return self._prove(at_most(small + 1, large))

    def equal(self, left: Size, right: Size) -> bool:
        """Whether `left == right` is certain."""
        return self._prove(equal(left, right))

    def divides(self, factor: int, dim: Size) -> bool:
        """Whether `dim` is certainly a multiple of `factor`, which is at least 1."""
        if factor < 1 or self._known:
            return self._prove(divides(factor, dim))
        return (dim if isinstance(dim, int) else dim.multiple) % factor == 0

    def _prove(self, claim: Claim) -> bool:
        return all(self._reach(terms, {}, MAX_STEPS) for terms in claim)

    def _reach(self, terms: Polynomial, seen: dict[object, bool], steps: int) -> bool:
        """Whether so many steps show that a polynomial is never negative."""
        # All but the constant varies in multiples of `step`: at least 1 - step means at least 0.
        step = terms.step()
        if step > 1:
            terms = terms.plus(terms_of(step - 1 - terms.get((), 0) % step))
        if terms.bounds()[0] >= 0:
            return True
        key = frozenset(terms.items())
        worth = steps and key not in seen and sum(map(len, terms)) <= MAX_FACTORS
        if worth and len(seen) < MAX_VISITS and all(at(terms) >= 0 for at in self._examples):
            ways, seen[key] = self._ways(terms), False
            seen[key] = any(all(self._reach(each, seen, steps - 1) for each in way) for way in ways)
        return seen.get(key, False)

    def _ways(self, terms: Polynomial) -> Iterator[list[Polynomial]]:
        """Polynomials: where no one of a list is ever negative, this one is not."""
        shorter = (each for fact in self._known for each in _without_term(terms, fact))
        yield from ([each] for each in sorted(shorter, key=len))
        for atom in sorted(dict.fromkeys(chain.from_iterable(terms)), key=lambda atom: -atom.depth):
            if len(str(atom)) <= MAX_LETTERS:
                yield from _without_atom(terms, atom)


def _without_atom(terms: Polynomial, atom: Atom) -> Iterator[list[Polynomial]]:
    """`factor * atom + rest`, with what bounds the atom in its place"""
    factor = terms.over((atom,))
    rest = Polynomial({each: by for each, by in terms.items() if atom not in each})
    if any(factor):  # factor * (atom - low) + rest + factor * low
        yield [factor, rest.plus(factor, atom.low)]
    function, parts = atom.recipe[0], [*map(terms_of, atom.parts)]
    if function is Symbol or any(each.low < 0 for each in chain(*factor)):
        return
    worse = {each: by for each, by in factor.items() if (by > 0) == (function is maximum)}
    if function is ceil_div:
        dividend, divisor = parts
        slack = divisor.plus(terms_of(1), -1)
        bound = factor.times(dividend).plus(Polynomial(worse).times(slack))
        yield [bound.plus(rest.times(divisor)).plus(slack)]
    else:
        for part in parts:
            yield [terms.plus(Polynomial(worse).times(part.plus(atom.terms, -1)))]
        yield [factor.times(part).plus(rest) for part in parts]


def _without_term(terms: Polynomial, fact: Polynomial) -> Iterator[Polynomial]:
    """P -> s*P - q*fact, without one term of P; `fact` is never negative"""
    for lead, unit in fact.items():
        for factor, by in terms.over(lead).items():
            if lead and unit * by > 0 and all(atom.low >= 0 for atom in factor):
                scale = abs(unit) // gcd(unit, by)
                taken = fact.times(Polynomial({factor: by * scale // unit}))
                yield Polynomial().plus(terms, scale).plus(taken, -1)
