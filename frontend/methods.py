"""Operators of tensors, and the functions that are methods of them too.

Comes in: functions of a tensor and further arguments. Goes out: a class for `Tensor` to inherit.
Never: a meaning of its own; each name here is the function of that name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..ir.dims import Dim
from .errors import ArgumentError, ShapeError, fail
from .foreign import is_array
from .functions import (
    activations,
    indexing,
    logic,
    manipulation,
    masks,
    pieces,
    powers,
    products,
    reductions,
    repeating,
    rounding,
    sorting,
    types,
    updates,
)
from .functions import elementwise as each
from .functions.common import NUMBER_TYPES
from .handle import Handle

OPERANDS = (Handle, np.ndarray, np.generic, Dim, *NUMBER_TYPES)
"""Beside arrays of other libraries."""


def _operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function as an operator; what is no operand is left to the other side."""

    def forward(self: Any, other: Any) -> Any:
        if not isinstance(other, OPERANDS) and not is_array(other):
            return NotImplemented
        return function(self, other)

    return forward


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function as the operator of the right-hand side."""

    def backward(self: Any, other: Any) -> Any:
        if not isinstance(other, OPERANDS) and not is_array(other):
            return NotImplemented
        return function(other, self)

    return backward


def _listing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a list of numbers as a method to which they may be given one by one."""

    @wraps(function)
    def method(self: Any, *numbers: Any, **options: Any) -> Any:
        if len(numbers) == 1 or options.keys() & {"shape", "axes"}:
            return function(self, *numbers, **options)
        return function(self, numbers, **options)

    return method


P = ParamSpec("P")
R = TypeVar("R")


def _reduction(function: Callable[P, R], **named: str) -> Callable[P, R]:
    """A reduction as a method that numpy's function of the same name calls, too: that hands over
    `out` and `dtype`, which are None, and arguments that are `named` otherwise here."""

    @wraps(function)
    def method(self: Any, *axis: Any, out: None = None, **options: Any) -> R:
        name = function.__name__
        if out is not None:
            fail(ArgumentError, name, "makes a tensor, and writes into no other", self)
        for theirs in named.keys() & options.keys():
            if named[theirs] in options:
                problem = f"{theirs} is the {named[theirs]}: give one of both"
                fail(ArgumentError, name, problem, self)
            options[named[theirs]] = options.pop(theirs)
        if options.get("dtype", name) is None:
            del options["dtype"]
        return function(self, *axis, **options)  # pyright: ignore[reportCallIssue]

    return method  # pyright: ignore[reportReturnType]


def divided(x: Any, y: Any) -> tuple[Any, Any]:
    """The quotient, rounded down, and what is left."""
    return each.floor_divide(x, y), each.remainder(x, y)


def matrix(tensor: Any, asked: str) -> Any:
    """The transpose of a tensor of two axes."""
    if tensor.ndim != 2:
        fail(
            ShapeError, asked, "only a tensor of two axes has a transpose", tensor,
            hint="`.mT` exchanges the last two axes, `.transpose()` reverses all",
        )  # fmt: skip
    return manipulation.matrix_transpose(tensor)


class Operators:
    """What `+`, `<`, `&`, … mean."""

    __slots__ = ()

    __add__, __radd__ = _operator(each.add), _reflected(each.add)
    __sub__, __rsub__ = _operator(each.subtract), _reflected(each.subtract)
    __mul__, __rmul__ = _operator(each.multiply), _reflected(each.multiply)
    __truediv__, __rtruediv__ = _operator(each.divide), _reflected(each.divide)
    __floordiv__, __rfloordiv__ = _operator(each.floor_divide), _reflected(each.floor_divide)
    __mod__, __rmod__ = _operator(each.remainder), _reflected(each.remainder)
    __divmod__, __rdivmod__ = _operator(divided), _reflected(divided)
    __pow__, __rpow__ = _operator(powers.pow), _reflected(powers.pow)
    __and__, __rand__ = _operator(logic.bitwise_and), _reflected(logic.bitwise_and)
    __or__, __ror__ = _operator(logic.bitwise_or), _reflected(logic.bitwise_or)
    __xor__, __rxor__ = _operator(logic.bitwise_xor), _reflected(logic.bitwise_xor)
    __lshift__ = _operator(logic.bitwise_left_shift)
    __rlshift__ = _reflected(logic.bitwise_left_shift)
    __rshift__ = _operator(logic.bitwise_right_shift)
    __rrshift__ = _reflected(logic.bitwise_right_shift)
    __eq__, __ne__ = _operator(logic.equal), _operator(logic.not_equal)
    __lt__, __le__ = _operator(logic.less), _operator(logic.less_equal)
    __gt__, __ge__ = _operator(logic.greater), _operator(logic.greater_equal)
    __matmul__, __rmatmul__ = _operator(products.matmul), _reflected(products.matmul)
    __neg__, __pos__ = each.negative, each.positive
    __abs__, __invert__ = each.abs, logic.bitwise_invert

    def __round__(self, decimals: int | None = None) -> Any:
        return rounding.round(self, decimals or 0)


class Methods(Operators):
    """Functions that are methods too, by the same names and with the same arguments."""

    __slots__ = ()

    abs = each.abs
    acos = each.acos
    acosh = each.acosh
    add = each.add
    asin = each.asin
    asinh = each.asinh
    atan = each.atan
    atanh = each.atanh
    cbrt = each.cbrt
    ceil = rounding.ceil
    clip = each.clip
    conj = each.conj
    cos = each.cos
    cosh = each.cosh
    divide = each.divide
    erf = each.erf
    exp = each.exp
    exp2 = each.exp2
    expm1 = each.expm1
    floor = rounding.floor
    log = each.log
    log10 = each.log10
    log1p = each.log1p
    log2 = each.log2
    maximum = each.maximum
    minimum = each.minimum
    multiply = each.multiply
    negative = each.negative
    pow = powers.pow
    reciprocal = each.reciprocal
    round = rounding.round
    rsqrt = each.rsqrt
    sign = each.sign
    sin = each.sin
    sinh = each.sinh
    sqrt = each.sqrt
    square = each.square
    subtract = each.subtract
    tan = each.tan
    tanh = each.tanh
    trunc = rounding.trunc

    allclose = logic.allclose
    isclose = logic.isclose
    isfinite = logic.isfinite
    isinf = logic.isinf
    isnan = logic.isnan

    all = _reduction(reductions.all)
    any = _reduction(reductions.any)
    argmax = reductions.argmax
    argmin = reductions.argmin
    count_nonzero = reductions.count_nonzero
    cumulative_max = reductions.cumulative_max
    cumulative_min = reductions.cumulative_min
    cumulative_prod = reductions.cumulative_prod
    cumulative_sum = reductions.cumulative_sum
    logsumexp = reductions.logsumexp
    max = _reduction(reductions.max)
    mean = _reduction(reductions.mean)
    min = _reduction(reductions.min)
    prod = _reduction(reductions.prod)
    std = _reduction(reductions.std, ddof="correction")
    sum = _reduction(reductions.sum)
    var = _reduction(reductions.var, ddof="correction")

    chunk = pieces.chunk
    expand = manipulation.expand
    expand_dims = manipulation.expand_dims
    flatten = manipulation.flatten
    flip = manipulation.flip
    permute_dims = _listing(manipulation.permute_dims)
    reshape = _listing(manipulation.reshape)
    repeat = repeating.repeat
    roll = manipulation.roll
    split = pieces.split
    squeeze = manipulation.squeeze
    swapaxes = manipulation.swapaxes
    tile = manipulation.tile
    transpose = manipulation.transpose
    unstack = pieces.unstack

    argsort = sorting.argsort
    sort = sorting.sort
    topk = sorting.topk

    gelu = activations.gelu
    log_softmax = activations.log_softmax
    relu = activations.relu
    sigmoid = activations.sigmoid
    silu = activations.silu
    softmax = activations.softmax
    softplus = activations.softplus

    argwhere = masks.argwhere
    nonzero = masks.nonzero
    take = indexing.take
    take_along_axis = indexing.take_along_axis
    __getitem__ = indexing.getitem

    astype = types.astype
    to = types.to
    to_device = types.to_device

    unsqueeze = manipulation.expand_dims
    permute = _listing(manipulation.permute_dims)
    view = _listing(manipulation.reshape)

    diagonal = products.diagonal
    matmul = products.matmul
    trace = products.trace

    @property
    def at(self) -> updates.At:
        """Places to be changed: `x.at[key].add(values)`."""
        return updates.At(self)  # pyright: ignore[reportArgumentType]

    @property
    def T(self) -> Any:
        """The matrix with its two axes exchanged."""
        return matrix(self, "T")

    @property
    def mT(self) -> Any:
        """The tensor with its last two axes exchanged."""
        return manipulation.matrix_transpose(self)

    @property
    def real(self) -> Any:
        """The real part."""
        return each.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return each.imag(self)
