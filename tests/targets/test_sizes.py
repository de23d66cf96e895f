"""Numbers of sizes by arithmetic are those that simplifying finds."""

import random

import pytest

from brimstone.ir.dims import DimError, Size, Symbol, ceil_div, evaluate, maximum, minimum
from brimstone.targets.sizes import Numbers

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
        assert Numbers(sizes)[size] == evaluate(size, sizes), size


def test_what_many_sizes_have_in_common_is_found_once() -> None:
    n, m, _ = SYMBOLS
    shared = ceil_div(n, 64)
    numbers = Numbers({n: 1000, m: 3})
    assert [numbers[each] for each in (shared * m, shared + 1, 64 * shared)] == [48, 17, 1024]
    assert numbers[shared] == 16
    assert shared in numbers


def test_a_symbol_without_a_number_is_named() -> None:
    with pytest.raises(DimError, match="no size for k"):
        Numbers({SYMBOLS[0]: 3})[2 * SYMBOLS[2] + 1]


def test_nothing_is_divided_by_nothing() -> None:
    n, m, _ = SYMBOLS
    by = Symbol("by", 1, 100)
    with pytest.raises(DimError):
        Numbers({n: 3, m: 0, by: 0})[ceil_div(n, by)]
