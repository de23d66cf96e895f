"""Sums of powers below the largest, in the pass that finds the largest: a softmax's, of each chunk.

Comes in: a func with sums of exp(x - shift) that finds the largest of the same x before. Goes out:
the func of one chunk, where the shift is the chunk's own largest; and the sum of all chunks, each
of which counts exp(its largest - shift) times.
Never: a shift that is not finite; only what all chunks come to may be NaN or infinite.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.func import Func
from ...ir.tensor.axes import other_axes
from ...ir.tensor.rules import Term, broadcast_along
from ...ir.values import AnyValue, Op
from ..copying import copy_func
from ..reads import needed
from ..recognise.views import View, arranged, seen_through
from .reductions import sum_dtype


class Powers(NamedTuple):
    """The sum `total`, the subtraction whose powers it sums, and the reduction that finds the
    `largest` of what is subtracted from. `shift` is what is subtracted, and along which axes."""

    total: tensor.ReduceSum
    below: tensor.Subtract
    largest: tensor.ReduceMaximum
    shift: View


Largest = dict[tuple[AnyValue, tuple[int, ...]], tensor.ReduceMaximum]
"""What finds the largest of a value along axes."""


def powers_in(func: Func) -> dict[Op, Powers]:
    """The sums of powers in a func, by the reductions that they are."""
    found: dict[Op, Powers] = {}
    largest: Largest = {}
    for op in func.body:
        if isinstance(op, tensor.ReduceMaximum):
            largest.setdefault((op.x, op.axes), op)
        elif isinstance(op, tensor.ReduceSum):
            powers = _powers(func, op, largest)
            if powers is not None:
                found[op] = powers
    return found


def _powers(func: Func, op: tensor.ReduceSum, largest: Largest) -> Powers | None:
    """The powers that a sum sums, if what they are below is made of what is largest, and one for
    all of them."""
    exp = op.x.op
    below = exp.x.op if isinstance(exp, tensor.Exp) else None
    if not isinstance(below, tensor.Subtract) or (below.left, op.axes) not in largest:
        return None
    peak, axes = largest[below.left, op.axes], tuple(range(len(below.result.shape)))
    shift = seen_through(below.right, axes)
    if shift.along & {*op.axes} or peak.result not in needed(func.body, [shift.value]):
        return None
    return Powers(op, below, peak, shift)


def below_their_own(func: Func) -> Func:
    """A copy, of which each sum of powers has its own largest for a shift, or 0 where that is not
    finite."""
    copy = copy_func(func)
    for powers in powers_in(copy).values():
        builder = Builder(copy.body, before=powers.below, location=powers.below.location)
        largest = Term(builder, powers.largest.result)
        shift = largest.where(largest.apply("is_finite"), 0.0).value
        shape, axes = powers.below.result.shape, powers.total.axes
        shift = broadcast_along(builder, shift, shape, axes)
        powers.below.set_operands((powers.below.left, shift))
    return copy


def added_up(
    builder: Builder,
    powers: Powers,
    sums: AnyValue,
    largest: AnyValue,
    values: Mapping[AnyValue, AnyValue],
) -> AnyValue:
    """The sums of all chunks as one: `largest` has those of chunks, and `values` what is known."""
    kept = other_axes(len(powers.below.result.shape), powers.total.axes)
    sizes = dict(enumerate(powers.below.result.shape))
    shift = replace(powers.shift, value=values[powers.shift.value])
    one = arranged(builder, shift, [(axis,) for axis in kept], sizes)
    dtype = sum_dtype(powers.total)
    every = Term(builder, broadcast_along(builder, one, sums.shape, (0,)))
    above = Term(builder, largest).cast(dtype) - every.cast(dtype)
    counted = Term(builder, sums) * above.apply("exp")
    return counted.apply("reduce_sum", axes=(0,)).value
