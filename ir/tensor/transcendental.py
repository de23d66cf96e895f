"""Functions of one number: roots, exponentials, logarithms, circular, hyperbolic and special ones.

Comes in: a tensor of floats, or of complex numbers where numpy defines the function for them.
Goes out: a tensor of the same type. Outside its domain a function of reals is NaN.
Never: a promise about the last bits; what is exact is in `docs/semantics.md`.
"""

from typing import Any

import numpy as np

from ..declare import Operand, among
from ..dtypes import INEXACT
from ..payloads import Array
from ..types import Tensor
from . import special
from .elementwise import Unary


def reciprocal_square_root(x: Array) -> Any:
    """1 / √x."""
    return np.reciprocal(np.sqrt(x))


class Function(Unary):
    """A function of real or complex floats."""

    x: Operand[Tensor] = among(INEXACT)


class SquareRoot(Function, name="tensor.square_root", meaning=np.sqrt):
    """√x; of -0.0 it is -0.0."""


class ReciprocalSquareRoot(
    Function, name="tensor.reciprocal_square_root", meaning=reciprocal_square_root
):
    """1 / √x; inf at 0.0, -inf at -0.0."""


class CubeRoot(Unary, name="tensor.cube_root", meaning=np.cbrt):
    """The real cube root, negative for negative x."""


class Exp(Function, name="tensor.exp", meaning=np.exp):
    """e to the power x."""


class Exp2(Function, name="tensor.exp2", meaning=np.exp2):
    """2 to the power x."""


class Expm1(Function, name="tensor.expm1", meaning=np.expm1):
    """exp(x) - 1, accurate near 0."""


class Log(Function, name="tensor.log", meaning=np.log):
    """The natural logarithm; -inf at both zeros."""


class Log2(Function, name="tensor.log2", meaning=np.log2):
    """The logarithm to base 2."""


class Log10(Function, name="tensor.log10", meaning=np.log10):
    """The logarithm to base 10."""


class Log1p(Function, name="tensor.log1p", meaning=np.log1p):
    """log(1 + x), accurate near 0."""


class Sin(Function, name="tensor.sin", meaning=np.sin):
    """The sine of x radians."""


class Cos(Function, name="tensor.cos", meaning=np.cos):
    """The cosine of x radians."""


class Tan(Function, name="tensor.tan", meaning=np.tan):
    """The tangent of x radians."""


class Arcsin(Function, name="tensor.arcsin", meaning=np.arcsin):
    """The angle in -π/2..π/2 whose sine is x."""


class Arccos(Function, name="tensor.arccos", meaning=np.arccos):
    """The angle in 0..π whose cosine is x."""


class Arctan(Function, name="tensor.arctan", meaning=np.arctan):
    """The angle in -π/2..π/2 whose tangent is x."""


class Sinh(Function, name="tensor.sinh", meaning=np.sinh):
    """(exp(x) - exp(-x)) / 2."""


class Cosh(Function, name="tensor.cosh", meaning=np.cosh):
    """(exp(x) + exp(-x)) / 2."""


class Tanh(Function, name="tensor.tanh", meaning=np.tanh):
    """sinh(x) / cosh(x)."""


class Arcsinh(Function, name="tensor.arcsinh", meaning=np.arcsinh):
    """The number whose sinh is x."""


class Arccosh(Function, name="tensor.arccosh", meaning=np.arccosh):
    """The non-negative number whose cosh is x."""


class Arctanh(Function, name="tensor.arctanh", meaning=np.arctanh):
    """The number whose tanh is x; ±inf at ±1."""


class Erf(Unary, name="tensor.erf", meaning=special.erf):
    """The error function, 2 / √π · ∫₀ˣ exp(-t²) dt."""


class ErfInverse(Unary, name="tensor.erf_inverse", meaning=special.erf_inverse):
    """The number whose erf is x; ±inf at ±1."""


class LogGamma(Unary, name="tensor.log_gamma", meaning=special.log_gamma):
    """log |Γ(x)|; inf at 0, at the negative integers and at -inf."""


class Digamma(Unary, name="tensor.digamma", meaning=special.digamma):
    """Γ'(x) / Γ(x); ∓inf at ±0, NaN at the negative integers and at -inf."""
