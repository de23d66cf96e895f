"""Best polynomials and quotients of polynomials: Remez' algorithm, on decimal numbers.

Comes in: a function of decimal numbers, an interval, the degrees, and how many bits a coefficient
may have. Goes out: the coefficients, from the constant term up, and the largest weighted error.
Never: a double on the way; with 60 digits no step has to be careful.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext
from math import cos, frexp, ldexp, pi

getcontext().prec = 60

Function = Callable[[Decimal], Decimal]
Row = list[Decimal]
GRID = 24
"""Points at which the error is looked at, for each coefficient."""
ROUNDS = 30
LAWSON_ROUNDS = 12
LEVEL = Decimal("1.001")
"""How much the largest error may exceed the least of the extrema."""


@dataclass
class Problem:
    """`numerator / denominator` near `target` on low..high; `fixed` coefficients come first.

    The error is weighted: 1 / target asks for a relative one, `weight` for any other.
    """

    target: Function
    low: Decimal
    high: Decimal
    numerator: int
    denominator: int = 0
    fixed: Sequence[Decimal] = ()
    weight: Function | None = None

    def __post_init__(self) -> None:
        count = GRID * (self.numerator + self.denominator + 2)
        middle, radius = (self.low + self.high) / 2, (self.high - self.low) / 2
        angles = [pi * (place + 0.5) / count for place in range(count)]
        self.grid = [middle - radius * Decimal(cos(angle)) for angle in angles]
        self.values = [self.target(x) for x in self.grid]
        weigh = self.weight
        self.weights = [
            1 / abs(value) if weigh is None else weigh(x)
            for x, value in zip(self.grid, self.values, strict=True)
        ]


@dataclass
class Solution:
    """The coefficients of both polynomials, and the largest error."""

    numerator: Row
    denominator: Row
    error: Decimal


def minimax(problem: Problem) -> Solution:
    """The best coefficients."""
    if problem.denominator:
        return _quotient(problem)
    free = problem.numerator + 1 - len(problem.fixed)
    last = len(problem.grid) - 1
    places = [round(last * (1 - cos(pi * each / free)) / 2) for each in range(free + 1)]
    for _ in range(ROUNDS):
        found = _levelled(problem, places)
        errors = _errors(problem, found)
        places = _extrema(errors, free + 1, places)
        largest = max(abs(error) for error in errors)
        found.error = largest
        if largest <= LEVEL * min(abs(errors[place]) for place in places):
            break
    return found


def rounded_minimax(problem: Problem, bits: int) -> Solution:
    """The same with coefficients of so many bits: some are rounded one after the other, and those
    above fitted again, the rest all at once. How many are fitted again is what turns out best."""
    kept = list(problem.fixed)
    found: list[Solution] = []
    while len(kept) <= problem.numerator:
        problem.fixed = kept
        best = minimax(problem).numerator
        rounded = Solution([to_bits(each, bits) for each in best], [Decimal(1)], Decimal(0))
        rounded.error = max(abs(error) for error in _errors(problem, rounded))
        found.append(rounded)
        kept = rounded.numerator[: len(kept) + 1]
    return min(found, key=lambda solution: solution.error)


def to_bits(number: Decimal, bits: int) -> Decimal:
    """The nearest number with so many significant bits."""
    _, exponent = frexp(float(number))
    unit = Decimal(2) ** (exponent - bits)
    return Decimal(int((number / unit).to_integral_value())) * unit


def shown(number: Decimal, bits: int) -> str:
    """A double that is that number, as Python writes it, in as few digits as tell it apart."""
    value = float(to_bits(number, bits))
    for digits in range(6, 18):
        text = f"{value:.{digits}g}"
        if bits > 24 and float(text) == value:
            return text
        if bits <= 24 and float(to_bits(Decimal(text), bits)) == value:
            return text
    return repr(ldexp(value, 0))


def evaluate(coefficients: Sequence[Decimal], x: Decimal) -> Decimal:
    """A polynomial, by Horner's scheme."""
    total = Decimal(0)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _levelled(problem: Problem, places: list[int]) -> Solution:
    """The polynomial whose weighted errors at `places` are equal, with alternating signs."""
    fixed = len(problem.fixed)
    rows: list[Row] = []
    right: Row = []
    for turn, place in enumerate(places):
        x, weight = problem.grid[place], problem.weights[place]
        row = [x**power for power in range(fixed, problem.numerator + 1)]
        rows.append([*row, (-1) ** turn / weight])
        right.append(problem.values[place] - evaluate(problem.fixed, x))
    *coefficients, level = _solve(rows, right)
    return Solution([*problem.fixed, *coefficients], [Decimal(1)], abs(level))


def _quotient(problem: Problem) -> Solution:
    """Weighted least squares; each round knows the denominator of the one before, and weighs more
    where that was wrong (Lawson). It ends within a hundredth or so of the best."""
    importance = [Decimal(1)] * len(problem.grid)
    below = [Decimal(1)] * len(problem.grid)
    found = Solution([], [], Decimal(0))
    for turn in range(LAWSON_ROUNDS):
        found = _least_squares(problem, importance, below)
        errors = [abs(error) for error in _errors(problem, found)]
        found.error = max(errors)
        below = [evaluate(found.denominator, x) for x in problem.grid]
        if turn > 2:
            mean = sum(errors, Decimal(0)) / len(errors)
            importance = [old * error / mean for old, error in zip(importance, errors, strict=True)]
    return found


def _least_squares(problem: Problem, importance: Row, below: Row) -> Solution:
    fixed, free = len(problem.fixed), problem.numerator + 1 - len(problem.fixed)
    size = free + problem.denominator
    rows = [[Decimal(0)] * size for _ in range(size)]
    right = [Decimal(0)] * size
    for place, x in enumerate(problem.grid):
        value = problem.values[place]
        weight = importance[place] * (problem.weights[place] / below[place]) ** 2
        terms = [x**power for power in range(fixed, problem.numerator + 1)]
        terms += [-value * x**power for power in range(1, problem.denominator + 1)]
        wanted = (value - evaluate(problem.fixed, x)) * weight
        for row, one in enumerate(terms):
            right[row] += one * wanted
            rows[row] = [
                old + one * other * weight for old, other in zip(rows[row], terms, strict=True)
            ]
    solved = _solve(rows, right)
    return Solution([*problem.fixed, *solved[:free]], [Decimal(1), *solved[free:]], Decimal(0))


def _solve(rows: list[Row], right: Row) -> Row:
    """Gauss' elimination with the largest pivot of the column."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    size = len(table)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(table[row][column]))
        table[column], table[pivot] = table[pivot], table[column]
        for row in range(column + 1, size):
            factor = table[row][column] / table[column][column]
            table[row] = [
                one - factor * other for one, other in zip(table[row], table[column], strict=True)
            ]
    solved = [Decimal(0)] * size
    for row in reversed(range(size)):
        known = sum((table[row][at] * solved[at] for at in range(row + 1, size)), Decimal(0))
        solved[row] = (table[row][size] - known) / table[row][row]
    return solved


def _errors(problem: Problem, found: Solution) -> Row:
    return [
        (evaluate(found.numerator, x) / evaluate(found.denominator, x) - value) * weight
        for x, value, weight in zip(problem.grid, problem.values, problem.weights, strict=True)
    ]


def _extrema(errors: Row, count: int, before: list[int]) -> list[int]:
    """Where the error is largest between its changes of sign: `count` places, signs alternating."""
    found: list[int] = []
    for place, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = place
        else:
            found.append(place)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found if len(found) == count else before
