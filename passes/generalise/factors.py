"""The relations of the ops that solve and factor matrices.

Comes in: an op and the recording so far. Goes out: what the op adds to the recording.
Never: a relation between the sides of a matrix, but where the op wants it to be square.
"""

from ...ir import tensor
from ...ir.dims import minimum
from ...ir.tensor.solve import Equations
from ...ir.values import AnyValue
from .classes import Part
from .recording import Recording


def equations(op: Equations, recording: Recording) -> None:
    """A square matrix, and a row of right sides for each of its rows."""
    matrix, right = recording.parts[op.matrix], recording.parts[op.right]
    recording.classes.unite_all(matrix[:-1], right[:-1])
    recording.classes.unite(matrix[-1], matrix[-2])
    recording.parts[op.result] = right


def cholesky(op: tensor.Cholesky, recording: Recording) -> None:
    """A square matrix, and another of its shape."""
    parts = recording.parts[op.x]
    recording.classes.unite(parts[-1], parts[-2])
    recording.parts[op.result] = parts


def eigenvalues(op: tensor.Eigh | tensor.Eig, recording: Recording) -> None:
    """A square matrix, as many numbers as it has rows, and another of its shape."""
    parts = recording.parts[op.x]
    recording.classes.unite(parts[-1], parts[-2])
    recording.parts[op.values], recording.parts[op.vectors] = parts[:-1], parts


def lu(op: tensor.Lu, recording: Recording) -> None:
    """Another matrix of the same shape, and a number for each row."""
    parts = recording.parts[op.x]
    recording.parts[op.factors], recording.parts[op.rows] = parts, parts[:-1]


def qr(op: tensor.Qr, recording: Recording) -> None:
    """As many columns as the shorter side has, or as there are rows."""
    *stack, rows, columns = recording.parts[op.x]
    inner = rows if op.full else _shorter(rows, columns, op.q, recording)
    recording.parts[op.q] = (*stack, rows, inner)
    recording.parts[op.r] = (*stack, inner, columns)


def svd(op: tensor.Svd, recording: Recording) -> None:
    """As many numbers as the shorter side has, and as many vectors, or square matrices of them."""
    *stack, rows, columns = recording.parts[op.x]
    inner = _shorter(rows, columns, op.values, recording)
    recording.parts[op.values] = (*stack, inner)
    recording.parts[op.left] = (*stack, rows, rows if op.full else inner)
    recording.parts[op.right] = (*stack, columns if op.full else inner, columns)


def _shorter(rows: Part, columns: Part, value: AnyValue, recording: Recording) -> Part:
    """The part that the last axis of a value has: the lesser of two others."""
    dim = recording.classes.dim
    return recording.classes.derived(minimum(dim(rows), dim(columns)), value.shape[-1])
