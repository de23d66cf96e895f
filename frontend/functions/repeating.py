"""Elements repeated, each as often as a number says.

Comes in: a tensor, and how often: one number, or one for each place along an axis. Goes out: a
tensor, whose size depends on numbers that are a tensor: they are read, or inside `jit` their sum
becomes a bound dim.
Never: a negative number of times.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Dim, Size
from ...ir.payloads import Array
from ...targets.script import NoMemory
from ..bounds import bound_size
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..handle import Handle, wrap
from ..node import Node, constant, record
from ..shortage import out_of_memory
from .common import as_axis, as_integer, as_node, broadcast_node, cast_node, either, filled
from .indexing import take
from .lists import read
from .manipulation import reshaped, stack

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64
MOST = 1 << 38
"""More elements than any memory has, of which many still have a sum of 64 bits."""
IN_TURN = 8
"""So often or less, the elements of a last axis are put together like those of several tensors in
turn, by vectors; as a broadcast along another axis, each would be a row of its own. 1 Mi of f32,
twice each, take two Zen 3 cores 0.4 ms instead of 16; eight times, 1.8."""


def repeat(x: Any, repeats: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """Each element repeated along an axis: as often as one number says, or one for each place.

    Without an axis x is flattened first. How long the result is, numbers that are a tensor decide.
    """
    axis = either(axis, dim, None, "repeat", "axis, dim")
    node = as_node(x, "repeat")
    if axis is None:
        node = reshaped(node, (product(node.type.shape),))
    place = as_axis(0 if axis is None else axis, len(node.type.shape), "repeat")
    size = node.type.shape[place]
    if isinstance(repeats, Handle) and repeats.node.trace is not None:
        return take(wrap(node), wrap(_places(repeats.node, size)), axis=place)
    counts = repeats if isinstance(repeats, Dim) else _repetitions(repeats, size)
    if isinstance(counts, np.ndarray):
        return take(wrap(node), _known_places(counts), axis=place)
    shape = node.type.shape
    if isinstance(counts, int) and 1 < counts <= IN_TURN and place == len(shape) - 1:
        beside = stack([wrap(node)] * counts, axis=-1)
        return wrap(reshaped(beside.node, (*shape[:place], size * counts)))
    axes = tuple([at for at in range(len(shape) + 1) if at != place + 1])
    longer = (*shape[: place + 1], counts, *shape[place + 1 :])
    spread = record(ops.Broadcast, (node,), (longer, axes))
    return wrap(reshaped(spread, (*shape[:place], size * counts, *shape[place + 1 :])))


def _repetitions(repeats: Any, size: Size) -> int | Array:
    """How often: one number for all, or one for each place."""
    if isinstance(repeats, Handle):
        from ..tensor import host_array

        repeats = host_array(repeats, "repeat")
    counts = np.atleast_1d(read(repeats, "repeat"))
    listed = counts.tolist()
    if counts.ndim > 1 or counts.dtype.kind not in "iu":
        listed = [as_integer(each, "repeat", "a number of repetitions") for each in listed]
    if min(listed, default=0) < 0:
        fail(ArgumentError, "repeat", f"cannot repeat {min(listed)} times")
    if len(listed) == 1:
        return listed[0]
    if len(listed) != size:
        _refuse_length(len(listed), size)
    return np.asarray(listed, np.int64)


def _known_places(counts: Array) -> Array:
    """The place of which each element of the result is a copy."""
    total = sum(counts.tolist())  # of 64 bits it might be another one
    try:
        if total > MOST:
            raise NoMemory(total * counts.itemsize)
        return np.repeat(np.arange(len(counts)), counts)
    except MemoryError as problem:
        raise out_of_memory(problem, "repeat", None) from None


def _refuse_length(given: Size, size: Size) -> None:
    problem = f"{given} numbers of repetitions are given for {size} places"
    fail(ShapeError, "repeat", problem)


def _places(repeats: Node, size: Size) -> Node:
    """The place of which each element of the result is a copy, where the numbers are computed."""
    if repeats.type.dtype not in ir.INTEGERS:
        fail(DTypeError, "repeat", "a number of repetitions is an integer", wrap(repeats))
    if repeats.type.shape not in ((), (1,), (size,)):
        _refuse_length(product(repeats.type.shape), size)
    counts = broadcast_node(cast_node(repeats, INDEX), (size,))
    counts = record(ops.Minimum, (counts, filled(MOST, (size,), INDEX)))
    total = record(ops.ReduceSum, (counts,), ((0,),))
    # A negative number is handed on as the size, which is then refused.
    zeros = filled(0, (size,), INDEX)
    below = record(ops.Minimum, (counts, zeros))
    worst = record(ops.ReduceSum, (below,), ((0,),))
    is_wrong = record(ops.Less, (worst, constant(0, INDEX)))
    length = bound_size("repeat", record(ops.Select, (is_wrong, worst, total)))
    # Each copy stands after as many ends of runs as its place says.
    ends = record(ops.CumulativeSum, (counts,), (0, False))
    options = ((0,), 0, ops.Combiner.ADD, ops.Outside.ZERO)
    ones, target = filled(1, (size,), INDEX), reshaped(ends, (size, 1))
    marked = record(ops.Scatter, (filled(0, (length,), INDEX), target, ones), options)
    return record(ops.CumulativeSum, (marked,), (0, False))
