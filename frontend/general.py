"""Operations that do the same whatever their sizes are.

Comes in: an op class of the tensor floor, with the types and attributes of an operation. Goes out:
whether it would be recorded alike for each number that its symbols may stand for.
Never: a guess: what no rule here knows is not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir import tensor as ops
from ..ir.dims import interval
from ..ir.facts import Facts
from ..ir.tensor.arg_reduce import ArgReduction
from ..ir.tensor.elementwise import Elementwise
from ..ir.tensor.reduce import Reduction
from ..ir.tensor.scan import Scan
from .symbolic import is_open


def is_general(cls: Any, types: Sequence[Any], attributes: Sequence[Any]) -> bool:
    """Whether an operation does the same for all sizes that are symbols here: it takes no places
    along their axes that are within some of them alone."""
    if issubclass(cls, _GENERAL):
        return True
    rule = _RULES.get(cls)
    names = [field.name for field in cls.attribute_fields]
    return rule is not None and rule(types, dict(zip(names, attributes, strict=False)))


def may_be_small(made: Any) -> bool:
    """Whether a result may have an axis of one element or none: functions decide by that."""
    types = made if isinstance(made, tuple) else (made,)
    return any([interval(size)[0] < 2 for type_ in types for size in type_.shape if is_open(size)])


def _cuts_inside(types: Sequence[Any], given: Mapping[str, Any]) -> bool:
    """A slice lies in every tensor that there may be."""
    facts = Facts()
    ends = zip(types[0].shape, given["start"], given["size"], given["step"], strict=True)
    return all(
        [
            facts.at_most(0, start)
            and facts.at_most(0, size)
            and facts.at_most(start + (size - 1) * step + 1, extent)
            for extent, start, size, step in ends
        ]
    )


def _sorts_all(types: Sequence[Any], given: Mapping[str, Any]) -> bool:
    """As much of a line is wanted as there is, or the line has a number."""
    count = given.get("count")
    return count is None or not is_open((types[0].shape[given["axis"]], count))


def _convolves_more(types: Sequence[Any], given: Mapping[str, Any]) -> bool:
    """There may be more images, of these channels and sizes."""
    x, kernel = types
    return not is_open((x.shape[1:], kernel.shape, given["low"], given["high"]))


_GENERAL: tuple[type, ...] = (
    Elementwise, ArgReduction, Reduction, Scan, ops.Bitcast, ops.Broadcast, ops.Cast, ops.Complex,
    ops.Concat, ops.Constant, ops.Contract, ops.Dim, ops.Flip, ops.Gather, ops.Iota, ops.Pad,
    ops.Permute, ops.RandomBits, ops.Reshape, ops.Scatter, ops.Select,
)  # fmt: skip
_RULES: dict[Any, Callable[[Sequence[Any], Mapping[str, Any]], bool]] = {
    ops.Slice: _cuts_inside,
    ops.Sort: _sorts_all,
    ops.Convolve: _convolves_more,
}
