"""Which formula is which op of complex numbers.

Comes in: an op, and the parts of its operands. Goes out: the parts of its result.
Never: an op whose result mixes elements.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.tensor.rules import Term
from ...ir.values import AnyValue, Op
from .exponentials import exponential, exponential_less_one, exponential_of_two
from .hyperbolic import cosine, hyperbolic_cosine, hyperbolic_sine, hyperbolic_tangent, tangent
from .inverses import arc_cosine, arc_hyperbolic_cosine, arc_hyperbolic_tangent, arc_sine
from .logarithms import logarithm, logarithm_of_more, to_base
from .parts import Function, Pair, turned
from .roots import reciprocal_of_root, square_root

Parts = tuple[AnyValue, AnyValue]
"""The real and the imaginary part of a value; a real one, such as what a select asks, is both."""
Rule = Callable[[Any, Builder, Sequence[Parts]], Parts]


def rule(function: Function) -> Rule:
    """The rule of an op of one number."""

    def of_one(number: Pair) -> Pair:
        return function(*number)

    return rule_of_numbers(of_one)


def rule_of_numbers(function: Callable[..., Pair]) -> Rule:
    """The rule of an op of several numbers."""

    def made(op: Any, builder: Builder, operands: Sequence[Parts]) -> Parts:
        real, imaginary = function(*((Term(builder, a), Term(builder, b)) for a, b in operands))
        return real.value, imaginary.value

    return made


FUNCTIONS: Mapping[type[Op], Function] = {
    tensor.Arccos: arc_cosine,
    tensor.Arccosh: arc_hyperbolic_cosine,
    tensor.Arcsin: arc_sine,
    tensor.Arcsinh: turned(arc_sine),
    tensor.Arctan: turned(arc_hyperbolic_tangent),
    tensor.Arctanh: arc_hyperbolic_tangent,
    tensor.Cos: cosine,
    tensor.Cosh: hyperbolic_cosine,
    tensor.Exp: exponential,
    tensor.Exp2: exponential_of_two,
    tensor.Expm1: exponential_less_one,
    tensor.Log: logarithm,
    tensor.Log10: to_base(10),
    tensor.Log1p: logarithm_of_more,
    tensor.Log2: to_base(2),
    tensor.ReciprocalSquareRoot: reciprocal_of_root,
    tensor.Sin: turned(hyperbolic_sine),
    tensor.Sinh: hyperbolic_sine,
    tensor.SquareRoot: square_root,
    tensor.Tan: tangent,
    tensor.Tanh: hyperbolic_tangent,
}  # fmt: skip
