"""Powers and roots.

Comes in: terms of f32 or f64, or of integers for `whole_power`. Goes out: the function of them.
Never: a logarithm that is rounded before it is multiplied by a large exponent.
"""

from math import inf, nan

from ...ir.dtypes import Kind, f32, f64, u64
from .coefficients import CUBE_ROOT, EXP2, POWER_EXP2, POWER_LOG2, POWER_SERIES
from .double_words import Pair, add, constant, multiply, ordered_sum, product, quotient
from .formats import DOUBLE, format_of, mantissa_and_exponent, nearest_whole, pieces, power_of_two
from .terms import (
    Sheet,
    Term,
    at_least,
    at_most,
    copy_sign,
    multiply_add,
    polynomial,
    select,
    square_root,
    stated,
    truncate,
    turns,
)

TWO_LOG2_OF_E = pieces("2.885390081777926814719849362003784274853291908305971868271", (53, 53))
ONE_THIRD = pieces("0." + 40 * "3", (53, 53))
ONE_FIFTH = pieces("0.2", (53, 53))
LARGEST_EXPONENT = 2.0**66
"""A power with a larger exponent is 0, 1 or infinite."""
HALLEY_STEPS = {"f32": 1, "f64": 2}


def power(x: Term, y: Term) -> Term:
    """x^y: as 2^(y log2 |x|), and what IEEE says of signs, zeros, ones and infinities."""
    exponent = stated(y)
    if exponent == 2.0:
        return x * x
    if exponent == -1.0:
        return 1.0 / x
    if exponent == 0.5:
        return select(x.equals(-inf), inf, square_root(x) + 0.0)  # which makes 0.0 of -0.0
    size, half = abs(x), y * 0.5
    whole = truncate(y).equals(y)
    odd = whole & truncate(half).differs(half)
    found = _power_of_single(size, y) if x.dtype is f32 else _power_of_double(size, y)
    found = select(odd, copy_sign(found, x), found)
    found = select((x < 0.0) & (size < inf) & ~whole, nan, found)
    one = x.equals(1.0) | y.equals(0.0) | (size.equals(1.0) & abs(y).equals(inf))
    return select(one, 1.0, found)


def _power_of_single(size: Term, y: Term) -> Term:
    """In f64, with as many terms as f32 needs; the cast rounds to denormals and to infinity."""
    wide = size.cast(f64)
    mantissa, exponent = mantissa_and_exponent(wide, may_be_tiny=False)
    logarithm = multiply_add(mantissa - 1.0, polynomial(mantissa - 1.0, POWER_LOG2[f64]), exponent)
    logarithm = select(wide < inf, logarithm, wide)
    logarithm = select(wide.equals(0.0), -inf, logarithm)
    scaled = at_most(at_least(logarithm * y.cast(f64), -200.0), 200.0)
    whole, bits = nearest_whole(scaled, 1.0, DOUBLE.bias)
    found = polynomial(scaled - whole, POWER_EXP2[f64]) * power_of_two(bits, DOUBLE)
    return found.cast(f32)


def _power_of_double(size: Term, y: Term) -> Term:
    """With a logarithm of about 70 bits."""
    y = at_most(at_least(y, -LARGEST_EXPONENT), LARGEST_EXPONENT)
    logarithm = _log2(size)
    upper, rest = product(logarithm.upper, y)
    rest = multiply_add(logarithm.lower, y, rest)
    infinite = select(size.equals(0.0), -inf, size) * y
    upper = select((size > 0.0) & (size < inf), upper, infinite)
    rest = select(abs(upper) < 1100.0, rest, 0.0)
    upper = at_most(at_least(upper, -1100.0), 1100.0)
    whole, bits = nearest_whole(upper, 0.5, DOUBLE.bias)
    scale = power_of_two(bits, DOUBLE)
    return polynomial((upper - (whole + whole)) + rest, EXP2[f64]) * scale * scale


def _log2(x: Term) -> Pair:
    """log2(m) + k of m 2^k, by log(m) = 2 artanh(s) = 2 s (1 + s²/3 + s⁴/5 + …), of which all
    but the first terms may be rounded to f64; s = (m - 1) / (m + 1)."""
    mantissa, exponent = mantissa_and_exponent(x)
    ratio = quotient(mantissa - 1.0, ordered_sum(mantissa.like(1.0), mantissa))
    squared = multiply(ratio, ratio)
    tail = squared.upper * polynomial(squared.upper, POWER_SERIES[f64])
    total = add(constant(x, ONE_FIFTH), Pair(tail, x.like(0.0)))
    total = add(constant(x, ONE_THIRD), multiply(squared, total))
    total = add(constant(x, (1.0, 0.0)), multiply(squared, total))
    found = multiply(multiply(ratio, total), constant(x, TWO_LOG2_OF_E))
    return add(Pair(exponent, x.like(0.0)), found)


def cube_root(x: Term) -> Term:
    """x = w 2^3k with w near 1: a polynomial, and Halley's steps from there."""
    layout = format_of(x)
    size = abs(x)
    mantissa, exponent = mantissa_and_exponent(size)
    third, bits = nearest_whole(exponent, 1 / 3, layout.bias)
    _, rest = nearest_whole(multiply_add(third, -3.0, exponent), 1.0, layout.bias)
    near = mantissa * power_of_two(rest, layout)
    root = polynomial(near, CUBE_ROOT[x.dtype])
    for _ in range(HALLEY_STEPS[x.dtype.name]):
        cube = root * root * root
        root = multiply_add(root, (near - cube) / (cube + cube + near), root)
    found = copy_sign(root * power_of_two(bits, layout), x)
    return select((size > 0.0) & (size < inf), found, x)


def hypot(x: Term, y: Term) -> Term:
    """√(x² + y²), of numbers scaled to be near 1; an infinity counts more than NaN."""
    x, y = abs(x), abs(y)
    infinite = x.equals(inf) | y.equals(inf)
    if x.dtype is f32:
        wide, other = x.cast(f64), y.cast(f64)
        return select(infinite, inf, square_root(wide * wide + other * other).cast(f32))
    layout = DOUBLE
    large = select(x < y, y, x)
    exponent = large.bits(u64) >> layout.fraction
    exponent = select(exponent < 1, 1, exponent)
    exponent = select(exponent > 2 * layout.bias - 1, 2 * layout.bias - 1, exponent)
    down, up = power_of_two(2 * layout.bias - exponent, layout), power_of_two(exponent, layout)
    x, y = x * down, y * down
    return select(infinite, inf, square_root(multiply_add(x, x, y * y)) * up)


def reciprocal_square_root(x: Term) -> Term:
    """1 / √x"""
    return 1.0 / square_root(x)


def whole_power(x: Term, y: Term) -> Term:
    """x^y of integers, which wraps: by squares, one for each bit of y; 1 / x^-y where y < 0."""

    def step(sheet: Sheet, carries: list[Term]) -> list[Term]:
        found, square, left = carries
        odd = (left & 1).equals(1)
        return [select(odd, found * square, found), square * square, left >> 1]

    rounds = x.dtype.bits if x.dtype.kind is Kind.UNSIGNED else x.dtype.bits - 1
    found, _, _ = turns(rounds, step, [x.like(1), x, y])
    if x.dtype.kind is Kind.UNSIGNED:
        return found
    of_minus_one = select((y & 1).equals(1), x, 1)
    inverse = select(x.equals(-1), of_minus_one, select(x.equals(1), x, 0))
    return select(y < 0, inverse, found)
