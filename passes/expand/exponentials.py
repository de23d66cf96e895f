"""Exponentials, and the hyperbolic functions that they make.

Comes in: a term of f32 or f64. Goes out: the function of it.
Never: a number beyond the largest on the way to one below it, but beside 1; nor the other way
round: what is a denormal is rounded once, where it becomes one.
"""

from collections.abc import Mapping, Sequence

from ...ir.dtypes import f32, f64
from .coefficients import EXP, EXP2, EXP_NEAR, EXPM1, SINH_NEAR, TANH_NEAR
from .formats import format_of, nearest_whole, pieces, power_of_two
from .terms import Term, at_least, at_most, copy_sign, multiply_add, polynomial, select

LOG_OF_2 = "0.693147180559945309417232121458176568075500134360255254120680009"
ONE_BY_LOG_OF_2 = 1.4426950408889634
ONE_LOG = {"f32": pieces(LOG_OF_2, (15, 24)), "f64": pieces(LOG_OF_2, (40, 53))}
"""log 2 in two pieces; the first has so few bits that whole numbers times it are exact."""
TWO_LOGS = {name: [2 * piece for piece in both] for name, both in ONE_LOG.items()}

# Beyond which exp is infinite, with some room, and where it has long been 0: so far that 2^m is 0
# itself. Of exp(-inf), of which every mask has many, no product is then a denormal: with -104,
# where the last is, it took an Intel core nine times as long as other numbers.
EXP_RANGE = {"f32": (-176.0, 89.0), "f64": (-1418.0, 710.0)}
EXP2_RANGE = {"f32": (-254.0, 129.0), "f64": (-2046.0, 1025.0)}
NORMAL_RANGE = {"f32": (-87.3, 89.0), "f64": (-708.3, 710.0)}
"""From where on 2^m is a number with all its bits, up to where it is infinite."""
EXPM1_LEAST = {"f32": -18.0, "f64": -40.0}
EXPM1_IS_X = 2.0**-60
"""Nearer to 0 e^x - 1 is x, of which a half need not be a number; and -0 is -0."""
TANH_IS_ONE = 22.0
"""Beyond which tanh is 1 for doubles."""
TANH_FAR = 0.35
"""From where on the quotient is good in f32."""


def exp(x: Term) -> Term:
    """e^x"""
    return scaled_exp(x, 0)


def scaled_exp(x: Term, exponent: int) -> Term:
    """e^x 2^exponent, which may be finite where e^x is not.

    x = 2 m log 2 + r, so e^x = e^r 2^m 2^m: neither factor leaves the range when the result does.
    """
    layout = format_of(x)
    low, high = EXP_RANGE[x.dtype.name]
    x = at_most(at_least(x, low), high - 0.7 * exponent)
    rest, bits = _reduced(x, TWO_LOGS, layout.bias)
    power = power_of_two(bits, layout)
    first = power * 2.0**exponent if exponent else power
    return _exp_near(rest, EXP[x.dtype]) * first * power


def exp_beside_one(x: Term, times: float) -> Term:
    """e^(x * times), to be added to 1: where that makes no difference some number as small, and
    infinite as soon as 2^m is, which is a little early. `times` is a power of two, or minus one.

    x * times = m log 2 + r, in which all constants are divided by `times`: nobody multiplies by it.
    """
    if not x.sheet.fused and times != 1.0:
        return exp_beside_one(x * times, 1.0)
    layout = format_of(x)
    low, high = sorted([bound / times for bound in NORMAL_RANGE[x.dtype.name]])
    rest, bits = _reduced(at_most(at_least(x, low), high), ONE_LOG, layout.bias, times)
    scaled = [each * times**place for place, each in enumerate(EXP_NEAR[x.dtype])]
    return _exp_near(rest, scaled) * power_of_two(bits, layout)


def _reduced(
    x: Term, logs: Mapping[str, Sequence[float]], bias: int, times: float = 1.0
) -> tuple[Term, Term]:
    """r / times, and bits whose lowest are m + `bias`, where x * times = m l + r, and l, of which
    the pieces are given, is log 2 or twice that."""
    upper, lower = logs[x.dtype.name]
    by = ONE_BY_LOG_OF_2 if logs is ONE_LOG else ONE_BY_LOG_OF_2 / 2
    whole, bits = nearest_whole(x, by * times, bias)
    return multiply_add(whole, -lower / times, multiply_add(whole, -upper / times, x)), bits


def _exp_near(x: Term, coefficients: Sequence[float]) -> Term:
    """e^x near 0. Without fused steps, those of Horner's scheme near 1 lose too much."""
    if x.sheet.fused:
        return polynomial(x, coefficients)
    return 1.0 + (x + x * x * polynomial(x, coefficients[2:]))


def exp2(x: Term) -> Term:
    """2^x"""
    layout = format_of(x)
    low, high = EXP2_RANGE[x.dtype.name]
    x = at_most(at_least(x, low), high)
    whole, bits = nearest_whole(x, 0.5, layout.bias)
    power = power_of_two(bits, layout)
    return polynomial(multiply_add(whole, -2.0, x), EXP2[x.dtype]) * power * power


def expm1(x: Term) -> Term:
    """e^x - 1"""
    doubled = _half_expm1(x)
    return select(abs(x) < EXPM1_IS_X, x, doubled + doubled)


def _half_expm1(x: Term) -> Term:
    """(e^x - 1) / 2 = 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2), with x = n log 2 + r."""
    layout = format_of(x)
    x = at_most(at_least(x, EXPM1_LEAST[x.dtype.name]), EXP_RANGE[x.dtype.name][1])
    rest, bits = _reduced(x, ONE_LOG, layout.bias - 1)
    near = multiply_add(rest * rest, polynomial(rest, EXPM1[x.dtype]), rest)
    power = power_of_two(bits, layout)
    return multiply_add(power, near, power - 0.5)


def sinh(x: Term) -> Term:
    """(e^x - e^-x) / 2"""
    if x.dtype is f32:  # of which the roundings would be too many
        return sinh(x.cast(f64)).cast(f32)
    half = scaled_exp(abs(x), -1)
    far = copy_sign(half - 0.25 / half, x)
    squared = x * x
    near = multiply_add(x * squared, polynomial(squared, SINH_NEAR[x.dtype][1:]), x)
    return select(abs(x) < 1.0, copy_sign(near, x), far)


def cosh(x: Term) -> Term:
    """(e^x + e^-x) / 2"""
    if x.dtype is f32:
        return cosh(x.cast(f64)).cast(f32)
    half = scaled_exp(abs(x), -1)
    return half + 0.25 / half


def tanh(x: Term) -> Term:
    """(e^2x - 1) / (e^2x + 1)"""
    size = at_most(abs(x), TANH_IS_ONE)
    half = _half_expm1(size + size)
    found = half / (half + 1.0)
    if x.dtype is not f32:
        return copy_sign(found, x)
    # The sum would be rounded too coarsely for a small quotient.
    squared = x * x
    near = multiply_add(x * squared, polynomial(squared, TANH_NEAR[f32][1:]), x)
    return copy_sign(select(abs(x) < TANH_FAR, near, found), x)
