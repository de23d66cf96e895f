"""Random numbers that take as many tries as it needs: gamma, Poisson, and what is made of them.

Comes in: a key first (None takes the next of the default generator), parameters, a shape, a dtype.
Goes out: a tensor. Try number i of each element has a key of its own, so an element depends on the
key and on its place alone, however many tries its neighbours need.
Never: a derivative by the parameters inside the tries: they are constants there. Nor an endless
loop: after `MOST_TRIES`, each of which fails with a probability below 1/4, the last is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..control import while_loop
from ..dtypes import OF_IR
from ..errors import DTypeError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from .activations import softmax
from .common import Shape, as_ir_dtype, as_node, broadcast_node, cast_node, filled
from .draws import Draw, draw, full_shape
from .elementwise import abs, exp, log, sqrt
from .logic import isfinite, logical_not, where
from .reductions import all
from .rounding import floor

if TYPE_CHECKING:
    from ..tensor import Tensor

MOST_TRIES = 64
# Below this rate events are counted one by one, above it whole numbers are proposed.
LEAST_RATE = 10.0


def gamma(
    key: Any = None, a: Any = 1.0, shape: Any = None, dtype: Any = None, *, scale: Any = 1.0
) -> Tensor:
    """With the density x**(a - 1) * exp(-x) / Γ(a), times `scale`; NaN unless a > 0."""
    wanted = draw("gamma", key, shape, dtype, a, scale)
    return wanted.finish(exp(_log_gamma(wanted, wanted.parameters[0])) * wanted.parameters[1])


def loggamma(key: Any = None, a: Any = 1.0, shape: Any = None, dtype: Any = None) -> Tensor:
    """The logarithm of `gamma`, which stays finite where a is small."""
    wanted = draw("loggamma", key, shape, dtype, a)
    return wanted.finish(_log_gamma(wanted, wanted.parameters[0]))


def chisquare(key: Any = None, df: Any = 1.0, shape: Any = None, dtype: Any = None) -> Tensor:
    """The sum of the squares of `df` normally distributed numbers."""
    wanted = draw("chisquare", key, shape, dtype, df)
    return wanted.finish(exp(_log_gamma(wanted, wanted.parameters[0] * 0.5)) * 2)


def student_t(key: Any = None, df: Any = 1.0, shape: Any = None, dtype: Any = None) -> Tensor:
    """A normally distributed number over the root of `chisquare` / df."""
    wanted = draw("student_t", key, shape, dtype, df)
    half = wanted.parameters[0] * 0.5
    spread = exp(_log_gamma(wanted.part(1), half)) / half
    return wanted.finish(wanted.part(0).normal() / sqrt(spread))


def beta(
    key: Any = None, a: Any = 1.0, b: Any = 1.0, shape: Any = None, dtype: Any = None
) -> Tensor:
    """x / (x + y) of two gamma distributed numbers, with parameters a and b."""
    wanted = draw("beta", key, shape, dtype, a, b)
    one, other = (
        _log_gamma(wanted.part(place), each) for place, each in enumerate(wanted.parameters)
    )
    return wanted.finish(1 / (1 + exp(other - one)))


def dirichlet(key: Any = None, alpha: Any = (1.0,), shape: Any = None, dtype: Any = None) -> Tensor:
    """Vectors of shares, along the last axis of `alpha`, that sum to 1.

    `shape` is that of the sample without this axis.
    """
    from .creation import asarray

    given = asarray(list(alpha)) if isinstance(alpha, tuple | list) else alpha
    node = as_node(given, "dirichlet")
    if not node.type.shape:
        problem = "alpha is a vector, or has vectors along its last axis"
        fail(ShapeError, "dirichlet", problem, alpha)
    lines = full_shape("dirichlet", shape, (_first_of_lines(node),))
    wanted = draw("dirichlet", key, (*lines, node.type.shape[-1]), dtype, given)
    return wanted.finish(softmax(_log_gamma(wanted, wanted.parameters[0]), axis=-1))


def _first_of_lines(node: Node) -> Node:
    """A node in the shape of another without its last axis."""
    return filled(0, node.type.shape[:-1], node.type.dtype)


def _log_gamma(wanted: Draw, concentration: Tensor) -> Tensor:
    """log of a gamma distributed number, by the squeeze of Marsaglia and Tsang (2000).

    A concentration below 1 is raised by 1, which a factor u ** (1 / a) makes up for.
    """
    a = stopped(concentration, wanted.shape)
    small = a < 1
    d = where(small, a + 1, a) - 1 / 3
    c = 1 / sqrt(d * 9)

    def attempt(tries: Draw) -> tuple[Tensor, Tensor]:
        x, u = tries.part(0).normal(), tries.part(1).positive()
        root = 1 + c * x
        v = root * root * root
        logarithm = log(where(root > 0, v, 1.0))
        limit = x * x * 0.5 + d * (1 - v + logarithm)
        return logarithm, (root > 0) & (log(u) < limit)

    valid = (a > 0) & isfinite(a)
    found = log(d) + _accepted(wanted.part(2), attempt, logical_not(valid))
    factor = where(small, log(wanted.part(3).positive()) / where(small, a, 1.0), 0.0)
    return where(valid, found + factor, float("nan"))


def poisson(key: Any = None, lam: Any = 1.0, shape: Any = None, dtype: Any = None) -> Tensor:
    """How many events come in a unit of time, where `lam` come on average; 0 unless lam > 0.

    Computed in float64: below a rate of 10 by adding up waiting times, from there on by the
    transformed rejection of Hörmann (1993).
    """
    kind = as_ir_dtype(dtype, ir.i64)
    if kind not in ir.REALS:
        fail(DTypeError, "poisson", f"counts are real numbers, not {OF_IR[kind]}")
    wanted = draw("poisson", key, shape, ir.f64, lam)
    rate = stopped(wanted.parameters[0], wanted.shape)
    often = (rate >= LEAST_RATE) & isfinite(rate)
    few = _counted_events(wanted.part(0), where(rate < LEAST_RATE, rate, -1.0))
    many = _transformed(wanted.part(1), where(often, rate, LEAST_RATE), logical_not(often))
    return wrap(cast_node(where(often, many, few).node, kind))


def _counted_events(wanted: Draw, rate: Tensor) -> Tensor:
    """How many waiting times fit into a time of length `rate`."""
    zero = wrap(filled(0.0, wanted.shape, wanted.wide))

    def is_open(carry: Any) -> Tensor:
        return logical_not(all(carry[1] > rate))

    def wait(carry: Any) -> Any:
        step, time, count = carry
        time = time + wanted.part(step.node).exponential()
        return step + 1, time, count + wrap(cast_node((time <= rate).node, wanted.wide))

    return while_loop(is_open, wait, (wrap(filled(0, (), ir.i64)), zero, zero))[2]


def _transformed(wanted: Draw, rate: Tensor, done: Tensor) -> Tensor:
    """Whole numbers proposed by a ratio of uniforms; names are those of Hörmann's PTRS."""
    log_rate = log(rate)
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = log(1.1239 + 1.1328 / (b - 3.4))
    v_r = 0.9277 - 3.6224 / (b - 2)

    def attempt(tries: Draw) -> tuple[Tensor, Tensor]:
        u, v = tries.part(0).centred() * 0.5, tries.part(1).positive()
        us = 0.5 - abs(u)
        k = floor((2 * a / us + b) * u + rate + 0.43)
        quick = (us >= 0.07) & (v <= v_r)
        outside = (k < 0) | ((us < 0.013) & (v > us))
        factorial = wrap(record(ops.LogGamma, ((where(k < 0, 0.0, k) + 1).node,)))
        height = log(v) + log_inverse_alpha - log(a / (us * us) + b)
        inside = height <= k * log_rate - rate - factorial
        return k, quick | (logical_not(outside) & inside)

    return _accepted(wanted, attempt, done)


def _accepted(
    wanted: Draw, attempt: Callable[[Draw], tuple[Tensor, Tensor]], done: Tensor
) -> Tensor:
    """The first proposal of each element that is accepted; where it is done already, 0."""
    start = wrap(filled(0, (), ir.i64)), wrap(filled(0.0, wanted.shape, wanted.wide)), done

    def is_open(carry: Any) -> Tensor:
        return (carry[0] < MOST_TRIES) & logical_not(all(carry[2]))

    def step(carry: Any) -> Any:
        count, value, finished = carry
        proposed, accepted = attempt(wanted.part(count.node))
        return count + 1, where(finished, value, proposed), finished | accepted

    return while_loop(is_open, step, start)[1]


def stopped(parameter: Tensor, shape: Shape) -> Tensor:
    """A parameter in the shape of the sample, as a constant to derivatives."""
    return wrap(record(ops.StopGradient, (broadcast_node(parameter.node, shape),)))
