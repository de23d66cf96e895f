"""Equations between sizes that no class alone makes true.

Comes in: the equations that wait. Goes out: classes that make them true: of a + b = c + d, d is
a + b - c; of a*b = c*d, the factors are paired, or made of common pieces.
Never: a false equation. Where nothing helps, the sizes in it are kept as they are.
"""

from collections import Counter
from collections.abc import Callable
from functools import reduce
from math import gcd

from ...ir.dims import DimError, Polynomial, Size, symbols, terms_of
from .classes import Classes, DimClass, Equation, Part, Parts, age
from .products import equal_products


def solve(classes: Classes) -> None:
    """Make true all that has been stated."""
    while classes.waiting:
        waiting, classes.waiting = classes.waiting, []
        unsolved = [each for each in waiting if not _tried(_is_solved, classes, each)]
        if len(unsolved) == len(waiting):
            unsolved = [each for each in unsolved if not _tried(_split, classes, each)]
        if len(unsolved) == len(waiting):
            unsolved = [each for each in unsolved if not _tried(_keep, classes, each)]
        classes.waiting += unsolved


def _tried(way: Callable[[Classes, Equation], bool], classes: Classes, equation: Equation) -> bool:
    """Whether a way to solve an equation succeeds; it does not where a dim becomes too large."""
    try:
        return way(classes, equation)
    except DimError:
        return False


def _is_solved(classes: Classes, equation: Equation) -> bool:
    """Whether an equation holds, or a class that it defines makes it hold."""
    if classes.equate(equation.left, equation.right):
        return True
    difference = _difference(classes, equation)
    free = _youngest(classes, difference)
    if free is None:
        return False
    by = next(-by for term, by in difference.items() if free.symbol in term)
    rest = {term: factor * by for term, factor in difference.items() if free.symbol not in term}
    return classes.bind(free, classes.part(Polynomial(rest).size()))


def _difference(classes: Classes, equation: Equation) -> Polynomial:
    """The terms of left - right, without the factors that all of them have."""
    terms = terms_of(classes.dim(equation.left) - classes.dim(equation.right))
    scale = gcd(*terms.values())
    common = reduce(lambda one, two: one & two, map(Counter, terms))
    factor = tuple(atom for atom in common.elements() if atom.low > 0)
    return terms.over(factor, scale)


def _youngest(classes: Classes, terms: Polynomial) -> DimClass | None:
    """The youngest class that is one of the terms, and that no other term has in it."""
    found: Counter[Size] = Counter()
    for term in terms:
        found.update(symbol for atom in set(term) for symbol in symbols(atom))
    single = [term[0] for term, by in terms.items() if len(term) == 1 and abs(by) == 1]
    free = [each for each in single if found[each] == 1 and each in classes.by_symbol]
    alone = [classes.by_symbol[each] for each in free]
    return max(alone, key=age, default=None)


def _split(classes: Classes, equation: Equation) -> bool:
    """Make two equal products of common factors, once; whether that may have helped."""
    if _is_solved(classes, equation):
        return True
    sides = None if equation.was_split else _products(classes, equation)
    if sides is None:
        return False
    classes.op = equation.op
    equal_products(classes, *_unpaired(classes, *sides))
    classes.waiting.append(equation)
    for each in classes.waiting:
        each.was_split = True
    return True


def _keep(classes: Classes, equation: Equation) -> bool:
    """Keep the sizes in an equation, unless what was kept before has solved it."""
    if not _tried(_is_solved, classes, equation):
        classes.op = equation.op
        sides = equation.left, equation.right
        classes.keep(sides, "nothing makes it equal to another one")
    return True


def _products(classes: Classes, equation: Equation) -> tuple[list[Part], list[Part]] | None:
    """The factors of both sides, where each is a product of classes and a number."""
    terms = sorted(_difference(classes, equation).items(), key=lambda term: -term[1])
    if [by > 0 for _, by in terms] != [True, False]:
        return None
    sides: list[list[Part]] = []
    for monomial, by in terms:
        if not all(atom in classes.by_symbol for atom in monomial):
            return None
        atoms = sorted([classes.by_symbol[atom] for atom in monomial], key=age)
        sides.append([abs(by), *atoms] if abs(by) > 1 else [*atoms])
    return sides[0], sides[1]


def _unpaired(classes: Classes, left: list[Part], right: list[Part]) -> tuple[Parts, Parts]:
    """Make each factor one with the first of the same value; return those that are left."""
    rest: list[Part] = []
    for part in left:
        value = classes.value(part)
        twin = next((other for other in right if classes.value(other) == value), None)
        if twin is None:
            rest.append(part)
        else:
            right.remove(twin)
            classes.unite(part, twin)
    return tuple(rest), tuple(right)
