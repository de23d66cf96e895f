"""Operations that do the same whatever their sizes are.

Comes in: an op class of the tensor floor, with the types and attributes of an operation. Goes out:
the sizes without which it would not be recorded alike for each number that symbols may stand for.
Never: a guess: where no rule here knows the operation, that is all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir import tensor as ops
from ..ir.dims import Size, interval
from ..ir.facts import Facts
from ..ir.tensor.arg_reduce import ArgReduction
from ..ir.tensor.elementwise import Elementwise
from ..ir.tensor.matrices import MatrixOp
from ..ir.tensor.reduce import Reduction
from ..ir.tensor.scan import Scan
from .symbolic import is_open


def decisive(cls: Any, types: Sequence[Any], attributes: Sequence[Any]) -> Any:
    """The sizes, in whatever has some, that decide what an operation does: places along their axes
    may be within some of them alone. None if it does the same for all that its symbols may be."""
    if issubclass(cls, _GENERAL):
        return None
    if issubclass(cls, MatrixOp):  # there may be more matrices
        return tuple([type_.shape[-2:] for type_ in types])
    rule = _RULES.get(cls)
    if rule is None:
        return types, attributes
    names = [field.name for field in cls.attribute_fields]
    return rule(types, dict(zip(names, attributes, strict=False)))


def small(made: Any) -> tuple[Size, ...]:
    """Those sizes of results that may be one or none: functions decide by that."""
    types = made if isinstance(made, tuple) else (made,)
    return tuple(
        [size for each in types for size in each.shape if interval(size)[0] < 2 and is_open(size)]
    )


def _of_slice(types: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """Of axes along which a slice may not lie inside all sizes."""
    ends = zip(types[0].shape, given["start"], given["size"], given["step"], strict=True)
    return tuple([each for each in ends if not _is_inside(*each)])


def _is_inside(extent: Size, start: Size, size: Size, step: int) -> bool:
    facts = Facts()
    ends_inside = facts.at_most(start + (size - 1) * step + 1, extent)
    return ends_inside and facts.at_most(0, start) and facts.at_most(0, size)


def _of_sort(types: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """None if as much of a line is wanted as there is."""
    count = given.get("count")
    return None if count is None else (types[0].shape[given["axis"]], count)


def _of_convolution(types: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """All but the number of images."""
    x, kernel = types
    return x.shape[1:], kernel.shape, given["low"], given["high"]


_GENERAL: tuple[type, ...] = (
    Elementwise, ArgReduction, Reduction, Scan, ops.Bitcast, ops.Broadcast, ops.Cast, ops.Complex,
    ops.Concat, ops.Constant, ops.Contract, ops.Dim, ops.Flip, ops.Gather, ops.Iota, ops.Pad,
    ops.Permute, ops.RandomBits, ops.Reshape, ops.Scatter, ops.Select,
)  # fmt: skip
_RULES: dict[Any, Callable[[Sequence[Any], Mapping[str, Any]], Any]] = {
    ops.Slice: _of_slice,
    ops.Sort: _of_sort,
    ops.Convolve: _of_convolution,
}
