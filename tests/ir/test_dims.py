"""Dims: one object for each polynomial, the text that reads back, and values that never change."""

import copy
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimstone.ir import dims
from brimstone.ir.dims import (
    Atom,
    Dim,
    DimError,
    Size,
    Symbol,
    ceil_div,
    check_size,
    evaluate,
    floor_div,
    interval,
    maximum,
    minimum,
    substitute,
    symbols,
)

a, b = Symbol("a"), Symbol("b", 1, 64)
n, m = Symbol("n", 7, 100), Symbol("m", 1, 4096, 16)
NAMES = {"a": a, "b": b, "n": n, "m": m, "ceildiv": ceil_div, "min": minimum, "max": maximum}

# What is written, and the text of the one dim that it is.
CANONICAL: list[tuple[Size, str]] = [
    (n * 2 + n, "3*n"),
    ((n + 1) * (n - 1), "n*n - 1"),
    (n - n, "0"),
    (2 * n - (n + n) + 5, "5"),
    (0 * n, "0"),
    (-n + 3, "-n + 3"),
    (3 - n, "-n + 3"),
    (m - n, "m - n"),
    (n - m, "n - m"),
    (-n - m, "-m - n"),
    (m * 3 * n - 1 + n * m, "4*m*n - 1"),
    (-(2 * n - 3), "-2*n + 3"),
    ((a + b) * (a + b), "a*a + 2*a*b + b*b"),
    (n + True, "n + 1"),
    (ceil_div(n, 1), "n"),
    (ceil_div(n * 4, 4), "n"),
    (ceil_div(4 * a * n + a, 4), "a*n + ceildiv(a, 4)"),
    (ceil_div(8 * n + a + 7, 4), "ceildiv(a + 3, 4) + 2*n + 1"),
    (ceil_div(n - 1, 4), "ceildiv(n + 3, 4) - 1"),
    (ceil_div(2 * n + 1, 4), "ceildiv(n + 1, 2)"),
    (ceil_div(6 * n, 4), "ceildiv(n, 2) + n"),
    (ceil_div(ceil_div(a, 2) + 1, 2), "ceildiv(a + 2, 4)"),
    (ceil_div(a * b, b), "a"),
    (ceil_div(a * b + n, b), "a + ceildiv(n, b)"),
    (ceil_div(a * b, 4 * b), "ceildiv(a, 4)"),
    (ceil_div(a, b + 1), "ceildiv(a, b + 1)"),
    (ceil_div(b, 64), "1"),
    (ceil_div(-5, 2), "-2"),
    (ceil_div(5, 2), "3"),
    (floor_div(-5, 2), "-3"),
    (floor_div(8 * a + 3, 8), "a"),
    (floor_div(a, 4), "ceildiv(a + 1, 4) - 1"),
    ((8 * a + 3) // 8, "a"),
    (floor_div(floor_div(a, 4), 8) - floor_div(a, 32), "0"),
    (minimum(n, n), "n"),
    (minimum(n, 5), "5"),
    (minimum(n, 9), "min(n, 9)"),
    (minimum(9, a, n, 12), "min(a, n, 9)"),
    (minimum(n + 1, n), "n"),
    (minimum(minimum(a, n), minimum(b, a)), "min(a, b, n)"),
    (minimum(3, 4), "3"),
    (maximum(n, 5), "n"),
    (maximum(n, n + a), "a + n"),
    (maximum(a, maximum(b, 7), 8), "max(a, b, 8)"),
    (maximum(minimum(a, 5), 5), "5"),
    (maximum(a, 0), "a"),
    (minimum(a, True), "min(a, 1)"),
    (prod([2, n, m, 3]), "6*m*n"),
]


@pytest.mark.parametrize(("dim", "expected"), CANONICAL, ids=[shown for _, shown in CANONICAL])
def test_canonical_form(dim: Size, expected: str) -> None:
    assert str(dim) == repr(dim) == expected
    assert same(eval(expected, dict(NAMES)), dim)


def test_constants_are_plain_ints() -> None:
    assert type(n - n) is type(minimum(n, 5)) is type(ceil_div(b, 64)) is type(n - n + True) is int


def test_symbols_are_interned_by_all_four() -> None:
    assert Symbol("n", 7, 100) is n
    assert Symbol("n", 7, 100, 1) is n
    assert len({Symbol("n"), Symbol("n", 1), Symbol("n", 0, 9), Symbol("n", 0, None, 2)}) == 4
    assert Symbol("a") is Symbol("a", 0, dims.DEFAULT_MAXIMUM)
    assert (m.name, m.minimum, m.maximum, m.multiple) == ("m", 1, 4096, 16)
    assert interval(m) == (16, 4096)


@pytest.mark.parametrize(
    ("name", "low", "high", "multiple"),
    [
        ("n", -1, 5, 1),
        ("n", 6, 5, 1),
        ("n", 0, 5, 0),
        ("n", 1, 5, 8),
        ("n", 0, 2**63, 1),
        ("2n", 0, 5, 1),
        ("", 0, 5, 1),
        ("n m", 0, 5, 1),
        ("größe", 0, 5, 1),
    ],
)
def test_bad_symbols_are_refused(name: str, low: int, high: int, multiple: int) -> None:
    with pytest.raises(DimError, match="a size needs an identifier, and a multiple in 0"):
        Symbol(name, low, high, multiple)


def test_same_named_symbols_stay_apart() -> None:
    other = Symbol("n", 0, 5)
    assert str(n * other) == "n*n"
    assert n * other is other * n
    assert n * other is not n * n
    assert minimum(n, other) == other
    assert set(symbols(n * other)) == {n, other}


def test_divisors_are_at_least_one() -> None:
    for divisor in (0, -3, a, n - 7):
        with pytest.raises(DimError, match="which may be less than 1"):
            ceil_div(n, divisor)
        with pytest.raises(DimError):
            floor_div(5, divisor)
    assert isinstance(ceil_div(a, n - 6), Atom)


def test_factors_that_may_be_negative_stay() -> None:
    negative = minimum(b - 65, 5 - n)
    assert interval(negative) == (-95, -2)
    quotient = ceil_div(a * negative, negative * negative)
    assert isinstance(quotient, Atom) and quotient.recipe[0] is ceil_div
    assert evaluate(quotient, {a: 10, b: 62, n: 7}) == -3


def test_other_operands_are_refused() -> None:
    loose: Any = n
    for other in (1.5, "n", None):
        with pytest.raises(TypeError):
            _ = loose + other
        with pytest.raises(TypeError):
            _ = other * loose
    with pytest.raises(TypeError):
        _ = loose < m
    with pytest.raises(DimError, match="minimum of 0 sizes"):
        minimum()


def test_an_operand_that_knows_dims_has_its_turn() -> None:
    class Other:
        def __radd__(self, left: Dim) -> str:
            return f"{left} from the right"

    loose: Any = n
    assert loose + Other() == "n from the right"


def test_dims_are_immutable() -> None:
    dims_of_all_kinds: list[Any] = [n, n + 1, ceil_div(a, 4)]
    for dim in dims_of_all_kinds:
        with pytest.raises(AttributeError, match="immutable"):
            dim.low = 3
        assert not hasattr(dim, "__dict__")


def test_symbols_come_in_the_order_of_the_text() -> None:
    assert symbols(5) == ()
    assert symbols(n) == (n,)
    assert symbols(minimum(n, ceil_div(m, 3)) * a + m - b) == (a, m, n, b)


def test_intervals() -> None:
    assert interval(7) == (7, 7)
    assert interval(2 * n - b) == (14 - 64, 200 - 1)
    assert interval(n * b) == (7, 6400)
    assert interval(ceil_div(n, b)) == (1, 100)
    assert interval(ceil_div(n - 20, 3)) == (-4, 27)
    assert interval(minimum(n, b)) == (1, 64)
    assert interval(maximum(n, b)) == (7, 100)


def test_multiples() -> None:
    known: dict[Size, int] = {
        6 * n: 6, m: 16, m * n + 8: 8, m * m: 256, ceil_div(m, 4): 4, n + 1: 1,
        minimum(m, 24 * n): 8, maximum(m, 40): 8,
    }  # fmt: skip
    assert {dim: dim.multiple for dim in known if isinstance(dim, Dim)} == known


def test_check_size() -> None:
    for size in (0, 5, n, n - 50, a * a * a, 2**63 - 1):
        check_size(size)
    for size in (-1, 2**63, n - 101, -n, (n + 2**60) * 8):
        with pytest.raises(DimError, match="is not a size"):
            check_size(size)


def test_evaluate_needs_every_size() -> None:
    assert evaluate(3 * n + ceil_div(m, 5), {n: 10, m: 16, a: 0}) == 34
    assert evaluate(7, {}) == 7
    with pytest.raises(DimError, match="no size for a, n"):
        evaluate(a + n * b, {b: 2})


def test_substitute() -> None:
    dim = ceil_div(a + 3, 4) * n + minimum(a, b)
    assert substitute(dim, {}) is dim
    assert substitute(dim, {a: 4 * b}) is (b + 1) * n + b
    assert substitute(dim, {a: b, b: a}) is ceil_div(b + 3, 4) * n + minimum(a, b)
    assert substitute(dim, {a: 5, b: 2}) is 2 * n + 2


def test_what_was_known_of_a_divisor_is_known_when_symbols_are_replaced() -> None:
    x, y, many, rows = [Symbol(name, 2) for name in ("x", "y", "many", "rows")]
    programs = ceil_div(ceil_div(many, 12) * ceil_div(rows, 16), 2730)
    each = ceil_div(rows, 16 * programs)
    made = substitute(each, {many: x + y - 1})  # of which bounds alone do not say so
    for sizes in ((2, 2, 2), (7, 5, 40), (90_000, 3, 70_000)):
        known = dict(zip((x, y, rows), sizes, strict=True))
        assert evaluate(made, known) == evaluate(each, {many: sum(sizes[:2]) - 1, rows: sizes[2]})


def test_copies_and_pickles_are_the_same_object() -> None:
    for dim in (n, m + 1, n * m, ceil_div(a, b + 1), minimum(a, n - 8), maximum(n, m) * 2):
        assert copy.copy(dim) is copy.deepcopy([dim])[0] is dim
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(dim, protocol)) is dim


def test_products_have_at_most_256_terms() -> None:
    pairs = [Symbol(f"x{i}") + Symbol(f"y{i}") for i in range(9)]
    widest = prod(pairs[:8])
    assert isinstance(widest, Dim)
    assert len(widest.terms) == dims.MAX_TERMS
    with pytest.raises(DimError, match="a dim has at most 256 terms"):
        prod(pairs)


def test_nesting_and_length_have_limits() -> None:
    deep: Size = a
    with pytest.raises(DimError, match="too large"):
        for _ in range(100):
            deep = minimum(maximum(deep, n), b) + ceil_div(deep, 3)
    assert pickle.loads(pickle.dumps(deep)) is copy.deepcopy(deep) is deep
    power: Size = n
    with pytest.raises(DimError, match="of degree 64 at most"):
        for _ in range(40):
            power = power * power


def test_threads_get_the_same_object() -> None:
    def make(_: int) -> list[Size]:
        fresh = [Symbol("thread", 0, maximum) for maximum in range(1000, 1400)]
        return [ceil_div(size * 3 + 1, 7) + minimum(size, n) for size in fresh]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(make, range(8)))
    finally:
        sys.setswitchinterval(before)
    for same in zip(*results, strict=True):
        assert len(set(map(id, same))) == 1


# Random expressions: a tree is a symbol, an int, or an operation with its operands.

Tree = Any
x, y, z = Symbol("x", 0, 6), Symbol("y", 1, 5), Symbol("z", 0, 12, 4)
ON_DIMS: dict[str, Callable[..., Any]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "negate": lambda operand: -operand,
    "ceil": ceil_div,
    "floor": floor_div,
    "minimum": minimum,
    "maximum": maximum,
}
ON_INTS: dict[str, Callable[..., Any]] = {
    **ON_DIMS,
    "ceil": lambda left, right: -(-left // right),
    "floor": lambda left, right: left // right,
    "minimum": min,
    "maximum": max,
}


def operations(operands: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """One operation on the given operands; divisors are ints or `y`, which are at least 1."""
    divisors = st.integers(1, 9) | st.just(y)
    return st.one_of(
        st.tuples(st.sampled_from(["add", "subtract", "multiply"]), operands, operands),
        st.tuples(st.just("negate"), operands),
        st.tuples(st.sampled_from(["ceil", "floor"]), operands, divisors),
        st.tuples(st.sampled_from(["minimum", "maximum"]), operands, operands, operands),
    )


TREES = st.recursive(st.sampled_from([x, y, z]) | st.integers(-9, 9), operations, max_leaves=8)
SIZES = st.fixed_dictionaries(
    {x: st.integers(0, 6), y: st.integers(1, 5), z: st.sampled_from([0, 4, 8, 12])}
)
SOME = settings(derandomize=True, deadline=None, database=None, max_examples=400)


def build(tree: Tree) -> Size:
    """The dim of a tree."""
    return ON_DIMS[tree[0]](*map(build, tree[1:])) if isinstance(tree, tuple) else tree


def brute(tree: Tree, sizes: dict[Symbol, int]) -> int:
    """The value of a tree, by plain ints only."""
    if isinstance(tree, tuple):
        return ON_INTS[tree[0]](*(brute(operand, sizes) for operand in tree[1:]))
    return sizes[tree] if isinstance(tree, Symbol) else tree


@SOME
@given(TREES, SIZES)
def test_values_are_those_of_the_expression_that_was_written(
    tree: Tree, sizes: dict[Symbol, int]
) -> None:
    dim, value = build(tree), brute(tree, sizes)
    assert evaluate(dim, sizes) == value
    low, high = interval(dim)
    assert low <= value <= high
    assert not isinstance(dim, Dim) or value % dim.multiple == 0


@SOME
@given(TREES)
def test_the_text_reads_back_as_the_same_object(tree: Tree) -> None:
    dim = build(tree)
    names = {"x": x, "y": y, "z": z, "ceildiv": ceil_div, "min": minimum, "max": maximum}
    assert same(eval(str(dim), names), dim)
    assert "+-" not in str(dim).replace(" ", "") and "--" not in str(dim).replace(" ", "")
    assert copy.deepcopy(dim) is dim
    assert pickle.loads(pickle.dumps(dim)) == dim


@SOME
@given(TREES, TREES, TREES, st.integers(1, 9) | st.just(y))
def test_laws_give_the_same_object(one: Tree, two: Tree, three: Tree, divisor: Size) -> None:
    p, q, r = build(one), build(two), build(three)
    assert same(p + q, q + p) and same((p + q) + r, p + (q + r)) and same((p - q) + q, p)
    assert (
        same(p * q, q * p) and same((p * q) * r, p * (q * r)) and same((p + q) * r, p * r + q * r)
    )
    assert same(ceil_div(divisor * p + q, divisor), p + ceil_div(q, divisor))
    assert same(floor_div(divisor * p + q, divisor), p + floor_div(q, divisor))
    for extreme in (minimum, maximum):
        assert same(extreme(p, q), extreme(q, p)) and same(extreme(p, p), p)
        assert same(extreme(extreme(p, q), r), extreme(p, extreme(q, r)))


@SOME
@given(TREES, TREES, SIZES)
def test_substituting_is_evaluating_in_two_steps(
    tree: Tree, inner: Tree, sizes: dict[Symbol, int]
) -> None:
    # Taken between the bounds of x, so that x may stand for it.
    replacement = minimum(maximum(build(inner), 0), 6)
    value = evaluate(replacement, sizes)
    assert evaluate(substitute(build(tree), {x: replacement}), sizes) == brute(
        tree, {**sizes, x: value}
    )


def same(one: Size, two: Size) -> bool:
    """Whether two dims are one object, or two ints equal."""
    return one is two or (isinstance(one, int) and isinstance(two, int) and one == two)
