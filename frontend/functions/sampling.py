"""Random numbers of one distribution each, made of a fixed number of random words.

Comes in: a key first (None takes the next of the default generator), a shape, a dtype, parameters.
Goes out: a tensor; what depends on parameters smoothly can be differentiated by them.
Never: a loop (`rejection.py`), or a number drawn from a list (`choices.py`).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..dtypes import OF_IR
from ..errors import ArgumentError, DTypeError, fail
from ..handle import wrap
from ..node import Node, record
from .common import (
    NUMBER_TYPES,
    as_ir_dtype,
    as_node,
    as_shape,
    broadcast_node,
    cast_node,
    filled,
    number,
)
from .draws import Draw, as_key, draw, full_shape, refuse_others, words
from .elementwise import abs, copysign, erf, exp, log, log1p, tan
from .elementwise import sqrt as root
from .logic import less, where
from .rounding import floor

if TYPE_CHECKING:
    from ..tensor import Tensor

PI = 3.141592653589793
FAR = 3.0
"""Beyond it the distribution is too near to 1 for float32 to tell its numbers apart."""


def bits(key: Any = None, shape: Any = (), dtype: Any = None) -> Tensor:
    """Random bits as integers, uint32 if nothing else is said; narrower ones are the high bits."""
    kind = as_ir_dtype(dtype, ir.u32)
    if kind not in ir.INTEGERS:
        fail(DTypeError, "bits", f"bits come as integers, not as {OF_IR[kind]}")
    sizes = as_shape(shape, "bits")
    width = max(kind.bits, 32)
    found = words(as_key(key, "bits"), sizes, width)
    if kind.bits < 32:
        found = record(ops.ShiftRight, (found, filled(32 - kind.bits, sizes, ir.u32)))
    return wrap(cast_node(found, kind))


def uniform(
    key: Any = None, shape: Any = None, dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0
) -> Tensor:
    """Evenly distributed in [minval, maxval).

    In [0, 1) these are the multiples of 2⁻²⁴ in float32, of 2⁻⁵³ in float64, each as likely.
    """
    wanted = draw("uniform", key, shape, dtype, minval, maxval)
    fractions = wanted.uniform()
    if _is_number(minval, 0) and _is_number(maxval, 1):
        return fractions
    low, high = wanted.parameters
    spread = wanted.finish(low + wrap(cast_node(fractions.node, wanted.wide)) * (high - low))
    ends = [broadcast_node(wanted.finish(each).node, wanted.shape) for each in (low, high)]
    # Where rounding reaches the upper end, the number before it is taken.
    last = record(ops.StopGradient, (record(ops.NextAfter, (ends[1], ends[0])),))
    return where(less(spread, wrap(ends[1])), spread, wrap(last))


def normal(
    key: Any = None, shape: Any = None, dtype: Any = None, *, mean: Any = 0.0, std: Any = 1.0
) -> Tensor:
    """Normally distributed: √2 * erf⁻¹(u) for even u in (-1, 1), which ends at ±5.4 in float32.

    Of a complex dtype, both parts have variance std² / 2.
    """
    floats = ir.FLOATS | ir.COMPLEXES
    wanted = draw("normal", key, shape, dtype, mean, std, floats=floats)
    if wanted.dtype in ir.COMPLEXES:
        return _complex_normal(wanted)
    standard = wanted.normal()
    if _is_number(mean, 0) and _is_number(std, 1):
        return wanted.finish(standard)
    return wanted.finish(wanted.parameters[0] + standard * wanted.parameters[1])


def _complex_normal(wanted: Draw) -> Tensor:
    real = wanted.dtype.real
    parts = [Draw(wanted.part(each).key, wanted.shape, real).normal() for each in (0, 1)]
    mean, std = wanted.parameters
    scaled = [each * (std * sqrt(0.5)) for each in parts]
    return wrap(record(ops.Complex, ((scaled[0] + mean).node, scaled[1].node)))


def truncated_normal(
    key: Any = None, lower: Any = -2.0, upper: Any = 2.0, shape: Any = None, dtype: Any = None
) -> Tensor:
    """Normally distributed within (lower, upper), by the inverse of the distribution.

    It is computed in float64 where the bounds are tensors, or both more than 3 on one side of 0.
    """
    wanted = draw("truncated_normal", key, shape, dtype, lower, upper)
    kind = wanted.wide if _may_be_near(lower, -1) and _may_be_near(upper, 1) else ir.f64
    parameters = tuple([wrap(cast_node(each.node, kind)) for each in wanted.parameters])
    found = _within(Draw(wanted.key, wanted.shape, kind, parameters))
    return wanted.finish(_clipped(wrap(cast_node(found.node, wanted.wide)), wanted))


def _may_be_near(bound: Any, side: int) -> bool:
    """Whether a bound on one side is a number with which much of the distribution lies within."""
    return bound.__class__ in NUMBER_TYPES and bound * side >= -FAR


def _within(wanted: Draw) -> Tensor:
    """Normally distributed within its parameters, but for rounding."""
    ends = [erf(each * sqrt(0.5)) for each in wanted.parameters]
    half = (wanted.centred() + 1) * 0.5
    inside = ends[0] + half * (ends[1] - ends[0])
    return wrap(record(ops.ErfInverse, (inside.node,))) * sqrt(2)


def _clipped(found: Tensor, wanted: Draw) -> Tensor:
    """The nearest between the parameters, to which rounding may have led, or past them."""
    bounds = [broadcast_node(each.node, wanted.shape) for each in wanted.parameters]
    least, most = (
        wrap(record(ops.StopGradient, (record(ops.NextAfter, (near, far)),)))
        for near, far in (bounds, bounds[::-1])
    )
    return where(found < least, least, where(found > most, most, found))


def bernoulli(key: Any = None, p: Any = 0.5, shape: Any = None) -> Tensor:
    """True with probability p, as a boolean; a constant to derivatives."""
    wanted = draw("bernoulli", key, shape, None, p)
    chosen = Draw(wanted.key, wanted.shape, wanted.wide)
    return less(chosen.uniform(), wanted.parameters[0])


def rademacher(key: Any = None, shape: Any = (), dtype: Any = None) -> Tensor:
    """-1 or 1, each as likely."""
    kind = as_ir_dtype(dtype, ir.i64)
    sizes = as_shape(shape, "rademacher")
    word = record(ops.RandomBits, (as_key(key, "rademacher"),), (sizes, 0))
    upper = record(ops.ShiftRight, (word, filled(31, sizes, ir.u32)))
    ends = [filled(each, sizes, kind) for each in (1, -1)]
    return wrap(record(ops.Select, (cast_node(upper, ir.boolean), *ends)))


def randint(
    key: Any = None, shape: Any = None, minval: Any = 0, maxval: Any = None, dtype: Any = None
) -> Tensor:
    """Integers from minval up to, but without, maxval: a word of 64 bits modulo their number n.

    No number is more likely than another by more than a factor of 1 + n / 2⁶⁴.
    """
    refuse_others(key, "randint")
    if maxval is None:
        minval, maxval = 0, minval
    kind = as_ir_dtype(dtype, ir.i64)
    if kind not in ir.INTEGERS:
        fail(DTypeError, "randint", f"these are integers, not {OF_IR[kind]}")
    known = minval.__class__ is int and maxval.__class__ is int
    if known and not minval < maxval:
        fail(ArgumentError, "randint", f"no integer is in [{minval}, {maxval})")
    ends = np.iinfo(kind.storage)
    if known and not ends.min <= minval <= maxval - 1 <= ends.max:
        problem = f"not all integers in [{minval}, {maxval}) are {OF_IR[kind]}"
        fail(ArgumentError, "randint", problem)
    low = _counted(minval, kind)
    count = _counted(maxval - minval, kind) if known else _apart(low, _counted(maxval, kind))
    sizes = full_shape("randint", shape, (low, count))
    word = words(as_key(key, "randint"), sizes, 64)
    spread = broadcast_node(count, sizes)
    # Of 2⁶⁴ integers, whose number is 0 here, every word is one.
    rest = record(ops.Select, (cast_node(spread, ir.boolean), _modulo(word, spread), word))
    return wrap(cast_node(record(ops.Add, (rest, broadcast_node(low, sizes))), kind))


def _modulo(word: Node, count: Node) -> Node:
    return record(ops.Remainder, (word, count))


def _apart(low: Node, high: Node) -> Node:
    shape = full_shape("randint", None, (low, high))
    return record(ops.Subtract, (broadcast_node(high, shape), broadcast_node(low, shape)))


def _counted(value: Any, dtype: ir.DType) -> Node:
    """An integer modulo 2⁶⁴, where sums and differences of both signs come out right."""
    if value.__class__ is int:
        return number(value % 2**64, ir.u64, "randint")
    node = as_node(value, "randint")
    if node.type.dtype not in ir.INTEGERS:
        fail(DTypeError, "randint", f"the ends of {OF_IR[dtype]} are integers", value)
    signed = node.type.dtype in ir.SIGNED
    return cast_node(cast_node(node, ir.i64) if signed else node, ir.u64)


def exponential(
    key: Any = None, shape: Any = None, dtype: Any = None, *, rate: Any = 1.0
) -> Tensor:
    """Waiting times of events that come `rate` times in a unit of time."""
    wanted = draw("exponential", key, shape, dtype, rate)
    return wanted.finish(wanted.exponential() / wanted.parameters[0])


def laplace(
    key: Any = None, shape: Any = None, dtype: Any = None, *, loc: Any = 0.0, scale: Any = 1.0
) -> Tensor:
    """With the density exp(-|x - loc| / scale) / (2 * scale)."""
    wanted = draw("laplace", key, shape, dtype, loc, scale)
    side = wanted.centred()
    found = copysign(log1p(-abs(side)), side)
    return wanted.finish(wanted.parameters[0] + found * wanted.parameters[1])


def gumbel(
    key: Any = None, shape: Any = None, dtype: Any = None, *, loc: Any = 0.0, scale: Any = 1.0
) -> Tensor:
    """With the distribution exp(-exp(-(x - loc) / scale)): the largest of many."""
    wanted = draw("gumbel", key, shape, dtype, loc, scale)
    return wanted.finish(wanted.parameters[0] + wanted.gumbel() * wanted.parameters[1])


def logistic(
    key: Any = None, shape: Any = None, dtype: Any = None, *, loc: Any = 0.0, scale: Any = 1.0
) -> Tensor:
    """With the distribution sigmoid((x - loc) / scale)."""
    wanted = draw("logistic", key, shape, dtype, loc, scale)
    side = wanted.centred()
    found = log1p(side) - log1p(-side)
    return wanted.finish(wanted.parameters[0] + found * wanted.parameters[1])


def cauchy(
    key: Any = None, shape: Any = None, dtype: Any = None, *, loc: Any = 0.0, scale: Any = 1.0
) -> Tensor:
    """With the density 1 / (π * scale * (1 + ((x - loc) / scale)²)): it has no mean."""
    wanted = draw("cauchy", key, shape, dtype, loc, scale)
    found = tan(wanted.centred() * (PI / 2))
    return wanted.finish(wanted.parameters[0] + found * wanted.parameters[1])


def lognormal(
    key: Any = None, shape: Any = None, dtype: Any = None, *, mean: Any = 0.0, sigma: Any = 1.0
) -> Tensor:
    """exp(mean + sigma * z) for normally distributed z."""
    wanted = draw("lognormal", key, shape, dtype, mean, sigma)
    return wanted.finish(exp(wanted.parameters[0] + wanted.normal() * wanted.parameters[1]))


def rayleigh(key: Any = None, shape: Any = None, dtype: Any = None, *, scale: Any = 1.0) -> Tensor:
    """The length of a vector of two normally distributed numbers."""
    wanted = draw("rayleigh", key, shape, dtype, scale)
    return wanted.finish(root(wanted.exponential() * 2) * wanted.parameters[0])


def weibull(
    key: Any = None, shape: Any = None, dtype: Any = None, *, concentration: Any = 1.0,
    scale: Any = 1.0,
) -> Tensor:  # fmt: skip
    """scale * e**(1 / concentration) for exponentially distributed e."""
    wanted = draw("weibull", key, shape, dtype, concentration, scale)
    power, factor = wanted.parameters
    return wanted.finish(wanted.exponential() ** (1 / power) * factor)


def pareto(key: Any = None, shape: Any = None, dtype: Any = None, *, b: Any = 1.0) -> Tensor:
    """At least 1, and above x with probability x**-b."""
    wanted = draw("pareto", key, shape, dtype, b)
    return wanted.finish(exp(wanted.exponential() / wanted.parameters[0]))


def geometric(key: Any = None, p: Any = 0.5, shape: Any = None, dtype: Any = None) -> Tensor:
    """How many trials, each with probability p of success, until the first success."""
    kind = as_ir_dtype(dtype, ir.i64)
    wanted = draw("geometric", key, shape, None, p)
    failures = floor(log(wanted.positive()) / log1p(-wanted.parameters[0]))
    return wrap(cast_node((failures + 1).node, kind))


def _is_number(value: Any, wanted: float) -> bool:
    return value.__class__ in NUMBER_TYPES and value == wanted
