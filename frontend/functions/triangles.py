"""Matrices of ones on a diagonal, and what lies on one side of a diagonal.

Comes in: numbers of rows and columns, or a tensor, and the number of a diagonal. Goes out: a
tensor.
Never: a matrix that is inverted or taken apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..errors import ShapeError, fail
from ..handle import wrap
from ..node import record
from .common import as_diagonal, as_ir_dtype, as_node, as_size, filled
from .creation import FLOAT, made_on

if TYPE_CHECKING:
    from ..tensor import Tensor


def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, *, dtype: Any = None,
    device: Any = None,
) -> Tensor:  # fmt: skip
    """Ones on the diagonal number k, zeros elsewhere."""
    rows = as_size(n_rows, "eye")
    columns = rows if n_cols is None else as_size(n_cols, "eye")
    kind = as_ir_dtype(dtype, FLOAT)
    counts = [record(ops.Iota, (), ((rows, columns), axis, ir.i64)) for axis in (0, 1)]
    diagonal = as_diagonal(k, "eye")
    shifted = record(ops.Add, (counts[0], filled(diagonal, (rows, columns), ir.i64)))
    on_diagonal = record(ops.Equal, (shifted, counts[1]))
    return made_on(record(ops.Cast, (on_diagonal,), (kind,)), device, "eye")


def tril(x: Any, /, k: int = 0) -> Tensor:
    """x with zeros above the diagonal number k of its last two axes."""
    return _triangle("tril", x, k, keep_below=True)


def triu(x: Any, /, k: int = 0) -> Tensor:
    """x with zeros below the diagonal number k of its last two axes."""
    return _triangle("triu", x, k, keep_below=False)


def _triangle(name: str, x: Any, k: int, keep_below: bool) -> Tensor:
    node = as_node(x, name)
    shape = node.type.shape
    if len(shape) < 2:
        fail(ShapeError, name, "a triangle needs at least two axes", x)
    rank = len(shape)
    k = as_diagonal(k, name)
    row, column = (record(ops.Iota, (), (shape, axis, ir.i64)) for axis in (rank - 2, rank - 1))
    shifted = record(ops.Add, (row, filled(k, shape, ir.i64)))
    kept = (column, shifted) if keep_below else (shifted, column)
    inside = record(ops.LessEqual, kept)
    return wrap(record(ops.Select, (inside, node, filled(0, shape, node.type.dtype))))
