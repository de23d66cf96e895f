"""What the elements along a mapped axis compute together.

Comes in: a tensor, and the name of an axis that a `vmap` around gives. Goes out: a tensor.
Never: an axis that nobody has named; that is refused when the function runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import tensor as ops
from ..errors import ArgumentError, fail, one_of
from ..handle import wrap
from ..node import record
from ..trace import current_trace
from .common import as_node

if TYPE_CHECKING:
    from ..tensor import Tensor

_REDUCTIONS = {each.value: each for each in ops.Reduction}


def all_reduce(x: Any, axis_name: str, reduction: str = "sum") -> Tensor:
    """The sum (or "product", "maximum", "minimum") of x over all elements along the axis."""
    one_of("all_reduce", "reduction", reduction, [*_REDUCTIONS])
    _check_named("all_reduce", axis_name)
    node = as_node(x, "all_reduce")
    return wrap(record(ops.AllReduce, (node,), (axis_name, _REDUCTIONS[reduction])))


def axis_index(axis_name: str) -> Tensor:
    """Which element along the axis this is."""
    _check_named("axis_index", axis_name)
    return wrap(record(ops.AxisIndex, (), (axis_name,)))


def all_gather(x: Any, axis_name: str, count: int, axis: int = 0) -> Tensor:
    """The tensors of all `count` elements along the axis, joined along an axis of x."""
    _check_named("all_gather", axis_name)
    node = as_node(x, "all_gather")
    return wrap(record(ops.AllGather, (node,), (axis_name, axis, count)))


def _check_named(operation: str, name: str) -> None:
    """Refuse a name that no function being traced has given an axis."""
    trace = current_trace()
    while trace is not None and trace.axis_name != name:
        trace = trace.outer
    if trace is None:
        fail(
            ArgumentError, operation, f"no axis around is named {name!r}",
            hint=f'name one: `bs.vmap(f, axis_name="{name}")`',
        )  # fmt: skip
