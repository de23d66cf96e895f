"""Rewrites of tensors that have no elements.

Comes in: ops of which the result has an axis of size 0. Goes out: a broadcast number, whatever they
read, so that no kernel is made for nothing.
Never: an op that may refuse what it reads, or has an effect.
"""

from ...ir import tensor
from ...ir.dtypes import boolean
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.tensor.base import TensorOp
from ...ir.tensor.indexing import Outside
from ...ir.types import Tensor
from ...ir.values import AnyValue
from .patterns import full, uniform


@rewrite(TensorOp)
def nothing(op: TensorOp, rewriter: Rewriter) -> AnyValue | None:
    """f(x), of no elements -> a number, repeated no times"""
    if len(op.results) != 1 or not op.pure:
        return None
    (result,) = op.results
    type_ = result.type
    if not isinstance(type_, Tensor) or 0 not in type_.shape or _refuses(op):
        return None
    is_made = isinstance(op, tensor.Constant) or uniform(result) is not None
    return None if is_made else full(rewriter, False if type_.dtype is boolean else 0, type_)


def _refuses(op: TensorOp) -> bool:
    """Whether an op looks whether indices lie inside, even if it reads nothing there."""
    return isinstance(op, tensor.Gather | tensor.Scatter) and op.outside is Outside.ERROR


NOTHING = Rules(nothing)
