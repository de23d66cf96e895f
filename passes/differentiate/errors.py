"""The error of the passes that differentiate.

Comes in: what is in the way of a derivative. Goes out: an error that names the op and the line.
"""

from ...ir.errors import IRError
from ...ir.values import Op


class NotDifferentiable(IRError):
    """A func, or an op in it, has no derivative, or not the one that was asked for."""


def blame(op: Op, problem: object) -> NotDifferentiable:
    """The error for an op of which a rule says, say, "has no derivative"."""
    return NotDifferentiable(f"{op.name} {problem}", op.location)
