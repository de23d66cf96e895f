"""Facts: what has to be proved, what must not be, and no `True` that some sizes disprove."""

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from brimstone.ir.dims import (
    DimError,
    Polynomial,
    Size,
    Symbol,
    ceil_div,
    evaluate,
    floor_div,
    interval,
    maximum,
    minimum,
)
from brimstone.ir.facts import At, Claim, Facts, at_most, divides, equal

# The sizes in the tables: n, i, j, u, v are any; m and s are at least 1; k is a multiple of 16.
NAMES: dict[str, Any] = {
    **{name: Symbol(name) for name in "nijuv"},
    "m": Symbol("m", 1, 4096),
    "s": Symbol("s", 1, 16),
    "k": Symbol("k", 0, 1024, 16),
    "x": Symbol("x", 0, 10),
    "four": Symbol("four", 4, 4),
    "ceildiv": ceil_div,
    "floordiv": floor_div,
    "min": minimum,
    "max": maximum,
}

PROVED = """
n >= 0
n + 1 > n
n < n + m
2*n <= 3*n
n <= n*m
(m - 1)*(s - 1) >= 0
x*(10 - x) >= 0
2*n*x <= 20*n
four == 4
n*four == 4*n
n <= ceildiv(n, 4)*4
ceildiv(n, 4)*4 < n + 4
ceildiv(n, 4) <= n
ceildiv(m + 3, 4) <= m
n - ceildiv(n, 2) >= 0
ceildiv(n, 4) <= ceildiv(n + 1, 4)
ceildiv(n, 8) <= ceildiv(n, 4)
ceildiv(n, 3) + ceildiv(n, 3) <= n + 1
ceildiv(n, s)*s >= n
ceildiv(n, s)*s < n + s
floordiv(n, s)*s <= n
n - floordiv(n, s)*s < s
n - floordiv(n, 4)*4 <= 3
m*ceildiv(n, 4)*4 >= m*n
ceildiv(ceildiv(n, s), 4) == ceildiv(n, 4*s)
ceildiv(n*(m + 1), m + 1) == n
ceildiv(2*n, 2*m + 2) == ceildiv(n, m + 1)
floordiv(n + 2 - 3, 2) + 1 == ceildiv(n, 2)
ceildiv(k, 16)*16 == k
ceildiv(k, 4)*4 == k
floordiv(k, 16) == ceildiv(k, 16)
ceildiv(k + 3, 16) == floordiv(k, 16) + 1
ceildiv(k, 32)*32 <= k + 16
min(n, m) <= n
min(n, m)*i <= n*i
max(n, m) >= m
max(n - 5, 0) <= n
min(n, m) + max(n, m) == n + m
min(n + i, m + i) == min(n, m) + i
min(max(n, m), n) == n
ceildiv(min(n, m), 4) <= ceildiv(n, 4)
min(ceildiv(n, 4), ceildiv(m, 4)) <= ceildiv(min(n, m), 4)
ceildiv(min(n, 9), 2) <= 5
2 | 2*n
16 | 16*n + 32
16 | k*n
4 | ceildiv(k, 4)
256 | k*k
8 | min(k, 24*n)
n <= 10 given n <= 4, 2*i == j
n*k <= m*k given n <= m
ceildiv(n, 4) <= ceildiv(m, 4) given n <= m
min(n, m) == n given n <= m
n < v given n <= i, i <= j, j + 1 <= u, u <= v
n*i <= 100 given n <= 10, i <= 10
n < ceildiv(n, s) + 1 given s == 1
n*j >= j given n >= 1
n > 2 given n >= 3
n - j >= 1 given j + 1 <= n
ceildiv(n, 4) == i given n == 4*i
4 | n given n == 4*i
n*j == i*j given n == i
n*j*u == i*v*u given n*j == i*v
min(n, 7)*j == min(i, 7)*j given n == i
ceildiv(i, 4)*4 == i given 4 | i
8 | n + m given 8 | n - 3*m, 2 | m
2 | ceildiv(n, 4) given 8 | n
n*4 == i*m given 4*n == j, j == i*m
u <= v given v == u + n
n == 3 given n <= 3, n >= 3
(n - i + 2)*s >= s*2 given i <= n
ceildiv(n - i - 1, 2) + 1 >= 1 given i <= n
""".strip().splitlines()

UNPROVABLE = """
n <= m
n < n
n >= 1
n == m
n*m <= n
2 | n
3 | n*n + n
32 | k
ceildiv(n, 4)*4 <= n
ceildiv(n, 4)*4 == n
ceildiv(n, 4) < n
min(n, m) >= n
max(n, m) <= n
n <= i given i <= n
n*j <= i*j - 1 given n <= i
n == i given n*j == i*j
4 | n given 4 | 2*n
4 | n + m given 4 | n + 2*m
n >= 5 given 5*n == 5*i
min(n, m)*min(i - 9, 1) <= n*min(i - 9, 1)
ceildiv(n, 4)*4*min(i - 9, 1) >= n*min(i - 9, 1)
n*min(i - 9, 1) <= m*min(i - 9, 1) given n <= m
""".strip().splitlines()

RELATIONS: dict[str, Callable[[Facts, Any, Any], bool]] = {
    "<=": lambda facts, left, right: facts.at_most(left, right),
    ">=": lambda facts, left, right: facts.at_most(right, left),
    "<": lambda facts, left, right: facts.less(left, right),
    ">": lambda facts, left, right: facts.less(right, left),
    "==": lambda facts, left, right: facts.equal(left, right),
    "|": lambda facts, left, right: facts.divides(left, right),
}
ASSUMPTIONS: dict[str, Callable[[Any, Any], Claim]] = {
    "<=": at_most,
    ">=": lambda left, right: at_most(right, left),
    "==": equal,
    "|": divides,
}


def relation(line: str) -> tuple[str, Any, Any]:
    """The sign of `left sign right`, and both sides."""
    left, sign, right = re.split(r" (<=|>=|<|>|==|\|) ", line)
    return sign, eval(left, dict(NAMES)), eval(right, dict(NAMES))


def certain(line: str) -> bool:
    """Whether `claim given assumption, assumption` is proved; names have no comma in a space."""
    claim, _, given = line.partition(" given ")
    parts = [relation(part) for part in given.split(", ")] if given else []
    facts = Facts(ASSUMPTIONS[sign](left, right) for sign, left, right in parts)
    sign, left, right = relation(claim)
    return RELATIONS[sign](facts, left, right)


@pytest.mark.parametrize("line", PROVED)
def test_proved(line: str) -> None:
    assert certain(line)


@pytest.mark.parametrize("line", UNPROVABLE)
def test_not_proved(line: str) -> None:
    assert not certain(line)


def test_bounds_and_multiples() -> None:
    n, m, k = NAMES["n"], NAMES["m"], NAMES["k"]
    facts = Facts([at_most(n, 10), at_most(3, n), divides(4, m), equal(NAMES["i"], 6 * NAMES["j"])])
    for size, low, high in [
        (5, 5, 5), (n, 3, 10), (10 - n, 0, 7), (ceil_div(n - 20, 3), -5, -3), (n * n, 9, 100),
        (m, 4, 4096), (m + 1, 5, 4097),
    ]:  # fmt: skip
        assert facts.at_most(low, size) and facts.at_most(size, high)
        assert not facts.at_most(low + 1, size) and not facts.at_most(size, high - 1)
    for size, multiple in [(-12, 12), (n, 1), (m * k + 32 * n, 32), (NAMES["i"] + 12, 6)]:
        assert [each for each in range(1, 40) if facts.divides(each, size)] == [
            each for each in range(1, 40) if multiple % each == 0
        ]
    assert all(facts.divides(each, n - n) for each in range(1, 40))


def test_a_factor_is_at_least_one() -> None:
    for factor in (0, -2):
        with pytest.raises(DimError, match="less than 1"):
            Facts().divides(factor, NAMES["n"])
        with pytest.raises(DimError, match="less than 1"):
            divides(factor, NAMES["n"])


def test_assumptions_may_contradict_each_other() -> None:
    n = NAMES["n"]
    facts = Facts([at_most(n, 3), at_most(5, n), equal(n, 1), equal(n, 2), equal(n, -1)])
    assert facts.at_most(n, 3)


# Random worlds: three symbols with small bounds, every assignment of them, and expressions that
# know their value in each.

Values = tuple[int, ...]
Valued = tuple[Size, Values]


class World:
    """Some symbols, all sizes that they may have, and expressions drawn from them."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        symbols = [self._symbol(name) for name in "abc"]
        ranges = [range(symbol.low, symbol.high + 1, symbol.multiple) for symbol in symbols]
        columns = zip(*itertools.product(*ranges), strict=True)
        self.leaves: list[Valued] = list(zip(symbols, columns, strict=True))
        (left, lefts), (right, rights), _ = self.leaves
        # An atom that may be negative, unlike the symbols.
        least = tuple(min(one - 2, two - 1) for one, two in zip(lefts, rights, strict=True))
        self.leaves.append((minimum(left - 2, right - 1), least))

    def _symbol(self, name: str) -> Symbol:
        low = self.draw.choice([0, 0, 1, 1, 2])
        multiple = self.draw.choice([1, 1, 1, 2, 3])
        return Symbol(name, low, low + multiple - 1 + self.draw.choice([0, 1, 2, 4]), multiple)

    def size(self, depth: int) -> Valued:
        """A random expression of at most `depth` operations in a row."""
        if depth == 0 or self.draw.random() < 0.15:
            number = self.draw.randint(0, 6)
            constant = number, (number,) * len(self.leaves[0][1])
            return self.draw.choice([*self.leaves, *self.leaves, constant])
        (left, lefts), (right, rights) = self.size(depth - 1), self.size(depth - 1)
        on_dims, on_ints = self.draw.choice(OPERATIONS)
        if on_dims in (ceil_div, floor_div) and interval(right)[0] < 1:
            right = self.draw.randint(1, 6)
            rights = (right,) * len(rights)
        return on_dims(left, right), tuple(map(on_ints, lefts, rights))

    def assumption(self) -> tuple[Claim, Iterator[bool]]:
        """A random assumption, and where it holds."""
        depths = self.draw.choice([(0, 0), (0, 1), (1, 1), (2, 1)])
        (left, lefts), (right, rights) = self.size(depths[0]), self.size(depths[1])
        kind, factor = self.draw.randrange(3), self.draw.randint(1, 6)
        if kind == 0:
            return divides(factor, left), (value % factor == 0 for value in lefts)
        both = zip(lefts, rights, strict=True)
        if kind == 1:
            return equal(left, right), (one == two for one, two in both)
        return at_most(left, right), (one <= two for one, two in both)

    def facts(self, count: int) -> tuple[Facts, list[bool]]:
        """What up to `count` assumptions say, and where all of them hold."""
        assumptions, holds = self.assumptions(count)
        return Facts(assumptions), holds

    def examples(self, holds: Sequence[bool]) -> list[At]:
        """Some of the sizes that the symbols may have where `holds` says so."""
        symbols = [symbol for symbol, _ in self.leaves[:3] if isinstance(symbol, Symbol)]
        worlds = list(zip(*[values for _, values in self.leaves[:3]], strict=True))
        some = self.draw.sample(list(itertools.compress(worlds, holds)), min(sum(holds), 4))
        known = [dict(zip(symbols, sizes, strict=True)) for sizes in some]
        return [lambda terms, sizes=sizes: evaluate(terms.size(), sizes) for sizes in known]

    def assumptions(self, count: int) -> tuple[list[Claim], list[bool]]:
        """Up to `count` assumptions that can hold together, and where all of them do."""
        assumptions: list[Claim] = []
        holds = [True] * len(self.leaves[0][1])
        for assumption, where in (self.assumption() for _ in range(count)):
            both = [one and two for one, two in zip(holds, where, strict=True)]
            if any(both):
                assumptions.append(assumption)
                holds = both
        return assumptions, holds


OPERATIONS: list[tuple[Callable[..., Size], Callable[[int, int], int]]] = [
    (lambda left, right: left + right, lambda left, right: left + right),
    (lambda left, right: left + right, lambda left, right: left + right),
    (lambda left, right: left - right, lambda left, right: left - right),
    (lambda left, right: left * right, lambda left, right: left * right),
    (ceil_div, lambda left, right: -(-left // right)),
    (floor_div, lambda left, right: left // right),
    (minimum, min),
    (maximum, max),
]


def check_bounds(facts: Facts, size: Size, values: Sequence[int]) -> None:
    """Nothing is proved that leaves out a value of `size`."""
    least, most = min(values), max(values)
    assert not facts.at_most(least + 1, size) and not facts.at_most(size, most - 1)
    assert interval(size)[0] <= least and most <= interval(size)[1]


def check_relations(
    facts: Facts, pair: tuple[Size, Size], values: Sequence[tuple[int, int]], factor: int
) -> int:
    """Every answer about the pair holds for all values; returns how many were `True`."""
    answers = {
        "at most": (facts.at_most(*pair), all(left <= right for left, right in values)),
        "less": (facts.less(*pair), all(left < right for left, right in values)),
        "more": (facts.less(*reversed(pair)), all(left > right for left, right in values)),
        "equal": (facts.equal(*pair), all(left == right for left, right in values)),
        "divides": (facts.divides(factor, pair[0]), all(left % factor == 0 for left, _ in values)),
    }
    for name, (proved, true) in answers.items():
        assert true or not proved, f"{name}: {pair}, {factor}"
    return sum(proved for proved, _ in answers.values())


def test_what_an_example_refutes_is_not_searched() -> None:
    n, asked = Symbol("n"), list[int]()

    def negative(terms: Polynomial) -> int:
        asked.append(len(terms))
        return -1

    claim = n, 4 * ceil_div(n, 4)
    assert Facts().at_most(*claim)
    assert not Facts((), [negative]).at_most(*claim)
    assert asked == [2]


@pytest.mark.parametrize("seed", range(4))
def test_examples_take_no_proof_away(seed: int) -> None:
    draw = random.Random(seed)
    proved = 0
    for _ in range(100):
        world = World(draw)
        assumptions, holds = world.assumptions(draw.choice([0, 1, 2, 3]))
        plain, some = Facts(assumptions), Facts(assumptions, world.examples(holds))
        for _ in range(3):
            left, lefts = world.size(draw.choice([1, 2, 3]))
            right, rights = world.size(draw.choice([1, 2, 3]))
            both = itertools.compress(zip(lefts, rights, strict=True), holds)
            found = some.at_most(left, right)
            assert found or not plain.at_most(left, right), f"{left} <= {right}"
            assert not found or all(one <= two for one, two in both), f"{left} <= {right}"
            proved += found
    assert proved > 50


@pytest.mark.parametrize("seed", range(8))
def test_every_answer_holds_for_all_sizes(seed: int) -> None:
    draw = random.Random(seed)
    proved = 0
    for _ in range(70):
        world = World(draw)
        facts, holds = world.facts(draw.choice([0, 0, 1, 2, 3]))
        for _ in range(3):
            left, lefts = world.size(draw.choice([1, 2, 3]))
            right, rights = world.size(draw.choice([1, 2, 3]))
            if draw.random() < 0.5:  # pairs that have something in common
                right, rights = left + right, tuple(map(sum, zip(lefts, rights, strict=True)))
            pairs = list(itertools.compress(zip(lefts, rights, strict=True), holds))
            proved += check_relations(facts, (left, right), pairs, draw.randint(1, 8))
            check_bounds(facts, left, [value for value, _ in pairs])
    assert proved > 250
