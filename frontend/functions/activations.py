"""What neural networks put between their layers: rectifiers, sigmoids, normalised exponentials.

Comes in: tensors of floats. Goes out: tensors of the same dtype.
Never: narrow floats on the way: what is made of several functions is computed in at least f32, and
rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..handle import wrap
from ..node import Node, record
from .common import as_axes, cast_node, either, filled, promote
from .elementwise import add, divide, erf, exp, expm1, logaddexp, multiply, negative, tanh
from .logic import greater, less, where
from .reductions import broadcast_kept, maximum_kept, reduce

if TYPE_CHECKING:
    from ..tensor import Tensor

Rest = ParamSpec("Rest")


def _wide(
    function: Callable[Concatenate[Any, Rest], Tensor],
) -> Callable[Concatenate[Any, Rest], Tensor]:
    """The function of narrow floats, computed in wide ones."""

    @wraps(function)
    def computed(x: Any, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Tensor:
        (node,) = promote(function.__name__, x, among=ir.FLOATS, floats=True)
        dtype = node.type.dtype
        made = function(wrap(cast_node(node, dtype.accumulator)), *args, **kwargs)
        return wrap(cast_node(made.node, dtype))

    return computed


def relu(x: Any, /) -> Tensor:
    """max(x, 0); its derivative at 0 is 0."""
    (node,) = promote("relu", x, among=ir.REALS)
    zero = filled(0, node.type.shape, node.type.dtype)
    positive = record(ops.Less, (zero, node))
    return wrap(record(ops.Select, (positive, node, _nan_or_zero(node, zero))))


def _nan_or_zero(node: Node, zero: Node) -> Node:
    """Zero, or NaN where the node is NaN."""
    if node.type.dtype not in ir.FLOATS:
        return zero
    stopped = record(ops.StopGradient, (node,))
    return record(ops.Select, (record(ops.IsNan, (node,)), stopped, zero))


@_wide
def sigmoid(x: Any, /) -> Tensor:
    """1 / (1 + exp(-x)), without overflow on the way; like its derivative, accurate where it is
    small."""
    below = less(x, 0)
    power = exp(where(below, x, negative(x)))  # of -|x|, which so has a derivative at 0
    return divide(where(below, power, 1.0), add(1.0, power))


@_wide
def log_sigmoid(x: Any, /) -> Tensor:
    """log(sigmoid(x)), accurate for large |x|."""
    return negative(softplus(negative(x)))


@_wide
def softplus(x: Any, /) -> Tensor:
    """log(1 + exp(x)), accurate for large |x|."""
    return logaddexp(x, 0.0)


@_wide
def silu(x: Any, /) -> Tensor:
    """x * sigmoid(x)."""
    return multiply(x, sigmoid(x))


@_wide
def gelu(x: Any, /, approximate: bool = False) -> Tensor:
    """x times the probability that a standard normal number is below it, or tanh's estimate."""
    if approximate:
        cubed = multiply(0.044715, multiply(x, multiply(x, x)))
        inner = multiply(0.7978845608028654, add(x, cubed))
        return multiply(multiply(0.5, x), add(1.0, tanh(inner)))
    return multiply(multiply(0.5, x), add(1.0, erf(multiply(x, 0.7071067811865476))))


@_wide
def elu(x: Any, /, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha * (exp(x) - 1) below."""
    above = greater(x, 0)
    return where(above, x, multiply(alpha, expm1(where(above, 0.0, x))))


@_wide
def leaky_relu(x: Any, /, slope: float = 0.01) -> Tensor:
    """x above 0, slope * x below."""
    return where(greater(x, 0), x, multiply(slope, x))


def softmax(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, the last if none is named."""
    node, wide, axes = _normalised("softmax", x, axis, dim)
    powers = record(ops.Exp, (_shifted(wide, axes),))
    total = broadcast_kept(reduce(ops.ReduceSum, powers, axes, True), wide)
    return wrap(cast_node(record(ops.Divide, (powers, total)), node.type.dtype))


def log_softmax(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """log(softmax(x)), accurate for small probabilities."""
    node, wide, axes = _normalised("log_softmax", x, axis, dim)
    shifted = _shifted(wide, axes)
    total = reduce(ops.ReduceSum, record(ops.Exp, (shifted,)), axes, True)
    below = broadcast_kept(record(ops.Log, (total,)), wide)
    return wrap(cast_node(record(ops.Subtract, (shifted, below)), node.type.dtype))


def _normalised(name: str, x: Any, axis: Any, dim: Any) -> tuple[Node, Node, tuple[int, ...]]:
    """The node, the node in its wide dtype, and the axes."""
    (node,) = promote(name, x, among=ir.FLOATS, floats=True)
    rank = len(node.type.shape)
    axes = as_axes(either(axis, dim, -1, name, "axis, dim"), rank, name) if rank else ()
    return node, cast_node(node, node.type.dtype.accumulator), axes


def _shifted(node: Node, axes: tuple[int, ...]) -> Node:
    """The node less its largest element along the axes: NaN where that is infinite."""
    return record(ops.Subtract, (node, broadcast_kept(maximum_kept(node, axes), node)))
