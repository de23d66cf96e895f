"""Which function of this folder stands for which kind of op.

Comes in: nothing. Goes out: tables from kinds to functions of terms of f32 and f64.
Never: a kind that machines have an instruction for; those are square_root, absolute, negate, floor,
ceil, truncate, round_even, copy_sign, minimum, maximum, the four rules of arithmetic, comparisons,
and all of integers but powers.
"""

from collections.abc import Callable, Mapping

from ...ir.loop import BinaryKind, UnaryKind
from . import (
    error_function,
    exact,
    exponentials,
    gamma,
    inverse_hyperbolic,
    inverse_trigonometry,
    logarithms,
    powers,
    trigonometry,
)
from .terms import Term

U, B = UnaryKind, BinaryKind

UNARY: Mapping[UnaryKind, Callable[[Term], Term]] = {
    U.EXP: exponentials.exp,
    U.EXP2: exponentials.exp2,
    U.EXPM1: exponentials.expm1,
    U.SINH: exponentials.sinh,
    U.COSH: exponentials.cosh,
    U.TANH: exponentials.tanh,
    U.LOG: logarithms.log,
    U.LOG2: logarithms.log2,
    U.LOG10: logarithms.log10,
    U.LOG1P: logarithms.log1p,
    U.SIN: trigonometry.sin,
    U.COS: trigonometry.cos,
    U.TAN: trigonometry.tan,
    U.ARCSIN: inverse_trigonometry.arcsin,
    U.ARCCOS: inverse_trigonometry.arccos,
    U.ARCTAN: inverse_trigonometry.arctan,
    U.ARCSINH: inverse_hyperbolic.arcsinh,
    U.ARCCOSH: inverse_hyperbolic.arccosh,
    U.ARCTANH: inverse_hyperbolic.arctanh,
    U.CUBE_ROOT: powers.cube_root,
    U.RECIPROCAL_SQUARE_ROOT: powers.reciprocal_square_root,
    U.SIGN: exact.sign,
    U.ERF: error_function.erf,
    U.ERFC: error_function.erfc,
    U.ERF_INVERSE: error_function.erf_inverse,
    U.LOG_GAMMA: gamma.log_gamma,
    U.DIGAMMA: gamma.digamma,
}

BINARY: Mapping[BinaryKind, Callable[[Term, Term], Term]] = {
    B.POWER: powers.power,
    B.HYPOT: powers.hypot,
    B.ARCTAN2: inverse_trigonometry.arctan2,
    B.REMAINDER: exact.remainder,
    B.NEXT_AFTER: exact.next_after,
}
