"""Numbers of sizes by arithmetic are those that simplifying finds."""

import random

import pytest

from brimstone.ir.dims import DimError, Size, Symbol, ceil_div, evaluate, maximum, minimum
from brimstone.targets.llvm.sizes import number_of

SYMBOLS = [Symbol(name, 0, 1 << 20) for name in "nmk"]


def drawn(draws: random.Random, depth: int) -> Size:
    """A size of a few ops."""
    if depth == 0:
        return draws.choice([*SYMBOLS, draws.randrange(-3, 20)])
    one, other = drawn(draws, depth - 1), drawn(draws, depth - 1)
    how = draws.randrange(6)
    if how == 0:
        return ceil_div(one, draws.randrange(1, 9))
    if how == 1:
        return ceil_div(one, maximum(other, 1))
    made = (minimum(one, other), maximum(one, other), one + other, one * other)
    return made[how - 2]


def test_random_sizes_are_the_same_numbers() -> None:
    draws = random.Random(0)
    for _ in range(300):
        size = drawn(draws, draws.randrange(4))
        sizes = {symbol: draws.choice([0, 1, 7, 64, 1000]) for symbol in SYMBOLS}
        assert number_of(size, sizes) == evaluate(size, sizes), size


def test_a_symbol_without_a_number_is_named() -> None:
    with pytest.raises(DimError, match="no size for k"):
        number_of(2 * SYMBOLS[2] + 1, {SYMBOLS[0]: 3})


def test_nothing_is_divided_by_nothing() -> None:
    n, m, _ = SYMBOLS
    by = Symbol("by", 1, 100)
    with pytest.raises(DimError):
        number_of(ceil_div(n, by), {n: 3, m: 0, by: 0})
