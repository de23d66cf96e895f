"""Functions of one number: roots, exponentials, logarithms, circular, hyperbolic and special ones.

Comes in: a tensor of floats, or of complex numbers where numpy defines the function for them.
Goes out: a tensor of the same type. Outside its domain a function of reals is NaN.
Never: a promise about the last bits; what is exact is in `docs/semantics.md`.
"""

import math
from typing import Any

import numpy as np

from ..declare import Operand, among
from ..dtypes import INEXACT
from ..payloads import Array
from ..types import Tensor
from . import complex_functions, special
from .elementwise import Unary
from .rules import Term
from .trigamma import trigamma


def reciprocal_square_root(x: Array) -> Any:
    """1 / √x."""
    return np.reciprocal(np.sqrt(x))


class Function(Unary):
    """A function of real or complex floats."""

    x: Operand[Tensor] = among(INEXACT)


class SquareRoot(Function, name="tensor.square_root", meaning=np.sqrt):
    """√x; of -0.0 it is -0.0."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (2 * y)


class ReciprocalSquareRoot(
    Function, name="tensor.reciprocal_square_root", meaning=reciprocal_square_root
):
    """1 / √x; inf at 0.0, -inf at -0.0."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * (-0.5 * y / x)


class CubeRoot(Unary, name="tensor.cube_root", meaning=np.cbrt):
    """The real cube root, negative for negative x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (3 * y * y)


class Exp(Function, name="tensor.exp", meaning=np.exp):
    """e to the power x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * y


class Exp2(Function, name="tensor.exp2", meaning=np.exp2):
    """2 to the power x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * (math.log(2) * y)


class Expm1(Function, name="tensor.expm1", meaning=complex_functions.expm1):
    """exp(x) - 1, accurate near 0."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * x.apply("exp")


class Log(Function, name="tensor.log", meaning=np.log):
    """The natural logarithm; -inf at both zeros."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / x


class Log2(Function, name="tensor.log2", meaning=np.log2):
    """The logarithm to base 2."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (math.log(2) * x)


class Log10(Function, name="tensor.log10", meaning=np.log10):
    """The logarithm to base 10."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (math.log(10) * x)


class Log1p(Function, name="tensor.log1p", meaning=complex_functions.log1p):
    """log(1 + x), accurate near 0."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (1 + x)


class Sin(Function, name="tensor.sin", meaning=np.sin):
    """The sine of x radians."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * x.apply("cos")


class Cos(Function, name="tensor.cos", meaning=np.cos):
    """The cosine of x radians."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * -x.apply("sin")


class Tan(Function, name="tensor.tan", meaning=np.tan):
    """The tangent of x radians."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * (1 + y * y)


class Arcsin(Function, name="tensor.arcsin", meaning=np.arcsin):
    """The angle in -π/2..π/2 whose sine is x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / ((1 - x) * (1 + x)).apply("square_root")


class Arccos(Function, name="tensor.arccos", meaning=np.arccos):
    """The angle in 0..π whose cosine is x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / -((1 - x) * (1 + x)).apply("square_root")


class Arctan(Function, name="tensor.arctan", meaning=np.arctan):
    """The angle in -π/2..π/2 whose tangent is x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (1 + x * x)


class Sinh(Function, name="tensor.sinh", meaning=np.sinh):
    """(exp(x) - exp(-x)) / 2."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * x.apply("cosh")


class Cosh(Function, name="tensor.cosh", meaning=np.cosh):
    """(exp(x) + exp(-x)) / 2."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * x.apply("sinh")


class Tanh(Function, name="tensor.tanh", meaning=complex_functions.tanh):
    """sinh(x) / cosh(x)."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * ((1 - y) * (1 + y))


class Arcsinh(Function, name="tensor.arcsinh", meaning=np.arcsinh):
    """The number whose sinh is x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / (1 + x * x).apply("square_root")


class Arccosh(Function, name="tensor.arccosh", meaning=np.arccosh):
    """The non-negative number whose cosh is x."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / ((x - 1).apply("square_root") * (x + 1).apply("square_root"))


class Arctanh(Function, name="tensor.arctanh", meaning=np.arctanh):
    """The number whose tanh is x; ±inf at ±1."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx / ((1 - x) * (1 + x))


class Erf(Unary, name="tensor.erf", meaning=special.erf):
    """The error function, 2 / √π · ∫₀ˣ exp(-t²) dt."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * (2 / math.sqrt(math.pi) * (-(x * x)).apply("exp"))


class Erfc(Unary, name="tensor.erfc", meaning=special.erfc):
    """1 - erf(x), accurate where little of it is left."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * (-2 / math.sqrt(math.pi) * (-(x * x)).apply("exp"))


class ErfInverse(Unary, name="tensor.erf_inverse", meaning=special.erf_inverse):
    """The number whose erf is x; ±inf at ±1."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * (math.sqrt(math.pi) / 2 * (y * y).apply("exp"))


class LogGamma(Unary, name="tensor.log_gamma", meaning=special.log_gamma):
    """log |Γ(x)|; inf at 0, at the negative integers and at -inf."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * x.apply("digamma")


class Digamma(Unary, name="tensor.digamma", meaning=special.digamma):
    """Γ'(x) / Γ(x); ∓inf at ±0, NaN at the negative integers and at -inf."""

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        return dx * trigamma(x)
