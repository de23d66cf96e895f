"""Control flow of linear functions, transposed.

Comes in: an op with regions that is linear in some of its operands, or in values that its regions
capture, and cotangents of its results. Goes out: an op whose regions run backward, and make
cotangents of those values; what is not linear in the regions is computed in them again.
"""

from collections.abc import Mapping

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import INEXACT
from ...ir.errors import require
from ...ir.tensor.base import Tangents
from ...ir.tensor.control import INDEX, types_of
from ...ir.tensor.rules import present, zeros
from ...ir.values import Op
from .. import dead
from ..copying import copy_ops
from .added import is_zero, total
from .backward import Backward, Rule
from .regions import apart, closed, filled_in, in_any, opened, parted, some, spaced
from .sums import SUMS


def cond(backward: Backward, op: tensor.Cond, given: Tangents) -> None:
    """The regions take cotangents of the results."""
    builder, outside = backward.builder, backward.captured(op)
    require(op.predicate not in backward.linear, "is chosen by what it should be linear in")
    (predicate,) = backward.taken((op.predicate,))
    is_linear = [value in backward.linear for value in op.arguments]
    moved, known = parted(op.arguments, is_linear)
    sides: list[tuple[Builder, Tangents]] = []
    for region in op.regions:
        inner, (cotangents,) = opened(builder, types_of(some(given)))
        moving, fixed = parted(region.arguments, is_linear)
        sweep = backward.inside(inner)
        sweep.know(fixed, backward.taken(known))
        sweep.block(region, moving, spaced(cotangents, given))
        sides.append((inner, sweep.found((*moving, *outside))))
    changed = in_any([made for _, made in sides])
    targets = (*moved, *outside)
    blocks = [closed(inner, filled_in(inner, targets, made, changed)) for inner, made in sides]
    results = builder.emit_all(tensor.Cond, predicate, some(given), *blocks)
    backward.add(targets, spaced(results, changed))


def loop(backward: Backward, op: tensor.Loop, given: Tangents) -> None:
    """The steps in the opposite order, in which the cotangents of the carries are carried.

    So are those of captured values, each a sum over the steps.
    """
    builder, count = backward.builder, len(op.carries)
    outside, stacked = backward.captured(op), given[count:]
    own, rows = op.body.arguments[1 : 1 + count], op.body.arguments[1 + count :]
    is_linear = [value in backward.linear for value in op.inputs]
    moved, known = parted(op.inputs, is_linear)
    moving, fixed = parted(rows, is_linear)
    _check_carries(backward, op)
    started = [present(builder, c, value) for c, value in zip(given, op.carries, strict=False)]
    sums = [zeros(builder, value.type) for value in outside]
    pairs = zip(op.body.terminator.operands[count:], stacked, strict=True)
    slopes = [value.type for value, c in pairs if c]
    inner, (index, carried, totals, slices, sloped) = opened(
        builder, [INDEX], types_of(own), types_of(sums), types_of(fixed), slopes
    )
    sweep = backward.inside(inner)
    sweep.know((op.body.arguments[0], *fixed), (*index, *slices))
    sweep.block(op.body, (*own, *moving), (*carried, *spaced(sloped, stacked)))
    following = filled_in(inner, own, sweep.found(own), own)
    more = [total(inner, pair) for pair in zip(totals, sweep.found(outside), strict=True)]
    made = sweep.found(moving)
    body = closed(inner, following, some(more), some(made))
    operands = (*started, *sums), (*backward.taken(known), *some(stacked))
    results = builder.emit_all(tensor.Loop, *operands, op.trip, body, reverse=not op.reverse)
    last = count + len(outside)
    backward.add((*op.carries, *outside), results[:last])
    backward.add(moved, spaced(results[last:], made))


def checkpoint(backward: Backward, op: tensor.Checkpoint, given: Tangents) -> None:
    """The body computes again what is not linear, and then goes backward."""
    builder, outside = backward.builder, backward.captured(op)
    is_linear = [value in backward.linear for value in op.arguments]
    moved, known = parted(op.arguments, is_linear)
    moving, fixed = parted(op.body.arguments, is_linear)
    inner, (own, cotangents) = apart(builder, types_of(known), types_of(some(given)))
    sweep = backward.inside(inner)
    sweep.know(fixed, own)
    sweep.block(op.body, moving, spaced(cotangents, given))
    made = sweep.found((*moving, *outside))
    body = closed(inner, some(made))
    dead.sweep(body)
    operands = [*backward.taken(known), *some(given)]
    results = builder.emit_all(tensor.Checkpoint, operands, again=True, body=body)
    backward.add((*moved, *outside), spaced(results, made))


def linear_call(backward: Backward, op: tensor.LinearCall, given: Tangents) -> None:
    """The region that says what the transpose is."""
    builder = backward.builder
    pairs = zip(given, op.outputs, strict=True)
    cotangents = [present(builder, c, output) for c, output in pairs]
    backward.know(op.backward.arguments, (*backward.taken(op.residuals), *cotangents))
    copy_ops((each for each in op.backward if not each.terminator), builder, backward.values)
    backward.add(op.tangents, backward.taken(op.backward.terminator.operands))


CONTROL: Mapping[type[Op], Rule] = {
    tensor.Cond: cond,
    tensor.Loop: loop,
    tensor.Checkpoint: checkpoint,
    tensor.LinearCall: linear_call,
    **SUMS,
}


def _check_carries(backward: Backward, op: tensor.Loop) -> None:
    """Refuse a carry that does not start as a linear value or zero: a count, say."""
    for value in op.carries:
        starts = value in backward.linear or is_zero(value)
        require(starts and value.dtype in INEXACT, f"carries {value}, which is not linear")
