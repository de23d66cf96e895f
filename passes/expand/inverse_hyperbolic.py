"""The inverse functions of the hyperbolic ones, by logarithms.

Comes in: a term of f64, or of f32, which is computed in f64. Goes out: the function of it.
Never: a square that overflows.
"""

from math import nan

from ...ir.dtypes import f32, f64
from .logarithms import log, log1p
from .terms import Term, copy_sign, select, square_root

LARGE = 2.0**28
"""Beyond which 1 does not count beside a square."""
LOG_OF_2 = 0.6931471805599453


def arcsinh(x: Term) -> Term:
    """log(x + √(x² + 1))"""
    if x.dtype is f32:
        return arcsinh(x.cast(f64)).cast(f32)
    size = abs(x)
    large = size > LARGE
    kept = select(large, 1.0, size)
    squared = kept * kept
    near = log1p(kept + squared / (1.0 + square_root(1.0 + squared)))
    return copy_sign(select(large, log(size) + LOG_OF_2, near), x)


def arccosh(x: Term) -> Term:
    """log(x + √(x² - 1))"""
    if x.dtype is f32:
        return arccosh(x.cast(f64)).cast(f32)
    large = x > LARGE
    above = select(large, 1.0, select(x < 1.0, nan, x - 1.0))
    near = log1p(above + square_root(above * above + (above + above)))
    return select(large, log(x) + LOG_OF_2, near)


def arctanh(x: Term) -> Term:
    """log((1 + x) / (1 - x)) / 2"""
    if x.dtype is f32:
        return arctanh(x.cast(f64)).cast(f32)
    size = abs(x)
    found = log1p((size + size) / (1.0 - size)) * 0.5
    return copy_sign(found, x)
