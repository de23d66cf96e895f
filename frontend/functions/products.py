"""Products of matrices and vectors, and sums of products over any pairs of axes.

Comes in: tensors. Goes out: tensors, each element accumulated in at least f32 and rounded once.
Never: a decomposition, or the solution of equations (`decompositions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import maximum, minimum
from ..errors import ArgumentError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from ..unseen import differ
from .common import (
    as_axis,
    as_integer,
    as_node,
    broadcast_node,
    broadcast_shape,
    filled,
    refuse_dtype,
    to_common_dtype,
)
from .manipulation import permuted, reshaped, roll
from .reductions import sum
from .triangles import eye

if TYPE_CHECKING:
    from ..tensor import Tensor


def contract(
    left: Node,
    right: Node,
    batch: tuple[tuple[int, ...], tuple[int, ...]],
    summed: tuple[tuple[int, ...], tuple[int, ...]],
) -> Node:
    """left * right summed over pairs of axes: batch axes, left's others, right's others."""
    return record(ops.Contract, (left, right), (*batch, *summed, left.type.dtype))


def _factors(name: str, x: Any, y: Any) -> list[Node]:
    """Both as numbers of one dtype; booleans are not multiplied."""
    nodes = to_common_dtype(name, x, y)
    if nodes[0].type.dtype not in ir.NUMBERS:
        refuse_dtype(name, nodes[0].type.dtype, ir.NUMBERS, x, y)
    return nodes


def matmul(x: Any, y: Any, /) -> Tensor:
    """The product of the matrices in the last two axes; vectors are rows left, columns right."""
    left, right = _factors("matmul", x, y)
    ranks = len(left.type.shape), len(right.type.shape)
    if 0 in ranks:
        fail(ShapeError, "matmul", "a tensor of rank 0 is no matrix", x, y,
             hint="`x * y` scales by a number")  # fmt: skip
    inner = left.type.shape[-1], right.type.shape[-2] if ranks[1] > 1 else right.type.shape[0]
    if differ(*inner):
        axis = -2 if ranks[1] > 1 else 0
        fail(
            ShapeError, "matmul", f"the inner sizes differ: axis -1 of x is {inner[0]}, "
            f"axis {axis} of y is {inner[1]}", x, y,
            hint="transpose one with `.mT` if its axes are the other way round",
        )  # fmt: skip
    count = 0
    if ranks[1] > 2:  # one matrix right serves all matrices left as it is
        left, right = _with_batches(left, right)
        count = len(right.type.shape) - 2
    batch = tuple(range(count))
    places = (len(left.type.shape) - 1,), (count,)
    return wrap(contract(left, right, (batch, batch), places))


def _with_batches(left: Node, right: Node) -> tuple[Node, Node]:
    """Both with the same batch axes in front; a vector has them stretched too."""
    shapes = left.type.shape, right.type.shape
    cores = [min(len(shape), 2) for shape in shapes]
    batches = [shape[: len(shape) - core] for shape, core in zip(shapes, cores, strict=True)]
    batch = broadcast_shape("matmul", *batches)
    pairs = zip((left, right), cores, strict=True)
    stretched = [broadcast_node(node, (*batch, *node.type.shape[-core:])) for node, core in pairs]
    return stretched[0], stretched[1]


def vecdot(x: Any, y: Any, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x) * y along an axis."""
    left, right = _factors("vecdot", x, y)
    if left.type.dtype in ir.COMPLEXES:
        left = record(ops.Conjugate, (left,))
    ranks = [len(node.type.shape) for node in (left, right)]
    if 0 in ranks:
        fail(ShapeError, "vecdot", "a tensor of rank 0 is no vector", x, y)
    places = [as_axis(axis, rank, "vecdot") for rank in ranks]
    sizes = [node.type.shape[place] for node, place in zip((left, right), places, strict=True)]
    if differ(*sizes):
        problem = f"the axis {axis} has sizes {sizes[0]} and {sizes[1]}"
        fail(ShapeError, "vecdot", problem, x, y)
    shape = broadcast_shape("vecdot", left.type.shape, right.type.shape)
    nodes = [broadcast_node(node, shape) for node in (left, right)]
    place = as_axis(axis, len(shape), "vecdot")
    batch = tuple([at for at in range(len(shape)) if at != place])
    return wrap(contract(nodes[0], nodes[1], (batch, batch), ((place,), (place,))))


def tensordot(x: Any, y: Any, /, axes: Any = 2) -> Tensor:
    """Products summed over the last axes of x and first of y, or over listed pairs of axes."""
    left, right = _factors("tensordot", x, y)
    ranks = len(left.type.shape), len(right.type.shape)
    if isinstance(axes, int):
        if not 0 <= axes <= min(ranks):
            fail(ShapeError, "tensordot", f"there are no {axes} axes to sum over", x, y)
        ours, theirs = tuple(range(ranks[0] - axes, ranks[0])), tuple(range(axes))
    else:
        if not isinstance(axes, Sequence) or len(axes) != 2:
            problem = "axes is a number, or a list of axes of x and one of axes of y"
            fail(ArgumentError, "tensordot", problem, axes)
        listed = [each if isinstance(each, Sequence) else (each,) for each in axes]
        ours, theirs = (
            tuple([as_axis(axis, rank, "tensordot") for axis in each])
            for each, rank in zip(listed, ranks, strict=True)
        )
    sizes = [
        tuple([node.type.shape[axis] for axis in axes])
        for node, axes in ((left, ours), (right, theirs))
    ]
    if differ(*sizes):
        shown = " and ".join([str(list(each)) for each in sizes])
        problem = f"the summed axes have sizes {shown}"
        fail(ShapeError, "tensordot", problem, x, y)
    return wrap(contract(left, right, ((), ()), (ours, theirs)))


def outer(x: Any, y: Any, /) -> Tensor:
    """The products of each element of x with each of y."""
    left, right = _factors("outer", x, y)
    if len(left.type.shape) != 1 or len(right.type.shape) != 1:
        fail(ShapeError, "outer", "takes two vectors", x, y)
    # No sum of one product each: that would make -0.0 another zero.
    shape = (*left.type.shape, *right.type.shape)
    rows, columns = (
        record(ops.Broadcast, (node,), (shape, (axis,))) for axis, node in enumerate((left, right))
    )
    return wrap(record(ops.Multiply, (rows, columns)))


def kron(x: Any, y: Any, /) -> Tensor:
    """The Kronecker product: every element of x times the whole of y."""
    left, right = _factors("kron", x, y)
    rank = max(len(left.type.shape), len(right.type.shape))
    left, right = (
        reshaped(node, (1,) * (rank - len(node.type.shape)) + node.type.shape)
        for node in (left, right)
    )
    product = contract(left, right, ((), ()), ((), ()))
    order = tuple([at + side * rank for at in range(rank) for side in (0, 1)])
    sizes = zip(left.type.shape, right.type.shape, strict=True)
    return wrap(reshaped(permuted(product, order), tuple([one * two for one, two in sizes])))


def cross(x: Any, y: Any, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of three numbers along an axis."""
    left, right = _factors("cross", x, y)
    shape = broadcast_shape("cross", left.type.shape, right.type.shape)
    place = as_axis(axis, len(shape), "cross")
    if shape[place] != 3 or () in (left.type.shape, right.type.shape):
        fail(ShapeError, "cross", f"axis {axis} has not size 3", x, y)
    one, other = (wrap(broadcast_node(node, shape)) for node in (left, right))
    turned = [roll(each, shift, axis=place) for each in (one, other) for shift in (-1, -2)]
    return turned[0] * turned[3] - turned[1] * turned[2]


def trace(x: Any, /, offset: int = 0, *, dtype: Any = None) -> Tensor:
    """The sum of the diagonal number `offset` of the last two axes."""
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def diagonal(x: Any, /, offset: int = 0) -> Tensor:
    """The diagonal number `offset` of the last two axes, as a new last axis."""
    node = as_node(x, "diagonal")
    shape = node.type.shape
    if len(shape) < 2:
        fail(ShapeError, "diagonal", "a matrix has two axes", x)
    rows, columns = shape[-2], shape[-1]
    offset = as_integer(offset, "diagonal", "an offset")
    first = max(-offset, 0), max(offset, 0)
    length = maximum(minimum(rows - first[0], columns - first[1]), 0)
    rank = len(shape)
    line = record(ops.Iota, (), ((length, 2), 0, ir.i64))
    ends = [filled(each, (length, 1), ir.i64) for each in first]
    places = record(ops.Add, (line, record(ops.Concat, tuple(ends), (1,))))
    options = ((rank - 2, rank - 1), 0, ops.Outside.ERROR)
    found = record(ops.Gather, (node, places), options)
    return wrap(permuted(found, (*range(1, rank - 1), 0)))


def diag(x: Any, /, offset: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    node = as_node(x, "diag")
    if len(node.type.shape) != 1:
        return diagonal(x, offset=offset)
    dtype, offset = node.type.dtype, as_integer(offset, "diag", "the number of a diagonal")
    front, back = (filled(0, (max(by, 0),), dtype) for by in (offset, -offset))
    row = record(ops.Concat, (front, node, back), (0,)) if offset else node
    size = row.type.shape[0]
    on_diagonal = eye(size, k=offset, dtype=ir.boolean).node
    rows = record(ops.Broadcast, (row,), ((size, size), (1,)))
    return wrap(record(ops.Select, (on_diagonal, rows, filled(0, (size, size), dtype))))
