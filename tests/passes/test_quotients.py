"""Quotients rounded up, by division toward zero."""

from itertools import product

import pytest

from brimstone.ir.dims import Size, Symbol, ceil_div, evaluate, maximum
from brimstone.passes.quotients import dividends

n, m = Symbol("n", 0, 9), Symbol("m", 1, 9)
ABOVE: dict[str, Size] = {
    "positive": n,
    "one less": n - 1,
    "negative": -n - 3,
    "constant": -6 + 0 * n,
    "either": 2 * n - 3 * m,
}


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("below", [1, 2, 7, m, maximum(n, 1), n * m + 1])
def test_parts_are_the_whole(above: str, below: Size) -> None:
    parts = dividends(ABOVE[above], below)
    for known in product(range(10), range(1, 10)):
        sizes = dict(zip((n, m), known, strict=True))
        divisor = evaluate(below, sizes)
        expected = evaluate(ceil_div(ABOVE[above], below), sizes)
        assert sum([int(evaluate(each, sizes) / divisor) for each in parts]) == expected


def test_what_cannot_be_negative_is_one_division() -> None:
    assert len(dividends(n, 4)) == len(dividends(n - 3, 4)) == 1
