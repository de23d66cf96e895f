"""Control flow on the host: loops and branches whose regions are steps of their own.

Comes in: a `tensor.loop`, `tensor.while` or `tensor.cond` whose regions have been fused. Goes out:
the step op that runs their kernels, with what is carried kept in memory.
Never: a value that a kernel must hand to the host, but for a predicate, which stays in memory.
"""

from collections.abc import Sequence
from typing import Any

from ...ir import step, tensor
from ...ir.builder import Builder
from ...ir.dtypes import boolean, i64
from ...ir.func import Func, Return, Yield
from ...ir.types import INDEX, Array
from ...ir.values import AnyValue, Block, Op, replace
from ..copying import copy_ops, inline
from ..reads import captured

Arrays = Sequence[AnyValue]


def is_opened(op: Op | None) -> bool:
    """Whether the host runs the regions of an op."""
    return isinstance(op, tensor.Cond | tensor.Loop | tensor.While)


def region_func(caller: Func, op: Op, region: Block) -> Func:
    """A region as a func that also takes all that the regions of the op read from outside; what is
    carried is its to write to."""
    settings = {"donated": _carried(op)}
    func = Func("region", (), caller.symbols, settings, op.location)
    outer = captured(op.regions)
    values = {
        value: func.body.add_argument(value.type, value.name)
        for value in (*region.arguments, *outer)
    }
    builder = Builder(func.body, location=op.location)
    copy_ops((each for each in region if not each.terminator), builder, values)
    builder.emit_all(Return, [values.get(each, each) for each in region.terminator.operands])
    return func


def _carried(op: Op) -> tuple[int, ...]:
    """At which places the regions of an op take what the next step replaces."""
    first = 1 if isinstance(op, tensor.Loop) else 0
    count = len(op.carries) if isinstance(op, tensor.Loop | tensor.While) else 0
    return tuple(range(first, first + count))


def emit_control(
    builder: Builder, op: Any, reads: Arrays, writes: Arrays, regions: Sequence[Func]
) -> None:
    """The op on memory: `regions` are its steps."""
    emit = _EMIT[op.__class__]
    emit(builder, op, reads, writes, [region.body for region in regions])


def _emit_branch(
    builder: Builder, op: tensor.Cond, reads: Arrays, writes: Arrays, regions: Sequence[Block]
) -> None:
    """Either region, which makes its results where they belong."""
    predicate, *rest = reads
    blocks: list[Block] = []
    for region in regions:
        inner = builder.nest()
        _make(inner, region, rest, writes)
        inner.emit_all(Yield, [])
        blocks.append(inner.block)
    builder.emit_all(step.Branch, predicate, on_true=blocks[0], on_false=blocks[1])


def _emit_loop(
    builder: Builder, op: tensor.Loop, reads: Arrays, writes: Arrays, regions: Sequence[Block]
) -> None:
    """Carries stay where they are returned; each step makes its rows of the other results."""
    (region,) = regions
    carried, rows = len(op.carries), len(op.carries) + len(op.inputs)
    _begin(builder, reads[:carried], writes)
    inner = builder.nest([INDEX])
    index = inner.block.arguments[0]
    slices = [inner.emit(step.Row, array, index) for array in reads[carried:rows]]
    stacked = [inner.emit(step.Row, array, index) for array in writes[carried:]]
    counter = builder.emit(step.Allocate, Array((), i64))
    if region.arguments[0].uses:
        inner.emit_all(step.Store, index, counter)
    taken = [counter, *writes[:carried], *slices, *reads[rows:]]
    following = _make(inner, region, taken, stacked, carried)
    _carry(inner, following, writes)
    inner.emit_all(Yield, [])
    builder.emit_all(step.Loop, trip=op.trip, reverse=op.reverse, body=inner.block)
    builder.emit_all(step.Free, counter)


def _emit_while(
    builder: Builder, op: tensor.While, reads: Arrays, writes: Arrays, regions: Sequence[Block]
) -> None:
    """The condition once before the loop, and again after each step, for the next one."""
    condition, body = regions
    carried = len(op.carries)
    outer = reads[carried:]
    _begin(builder, reads[:carried], writes)
    predicate = builder.emit(step.Allocate, Array((), boolean))
    _make(builder, condition, [*writes, *outer], [predicate])
    inner = builder.nest()
    following = _make(inner, body, [*writes, *outer], [], carried)
    _carry(inner, following, writes)
    _make(inner, condition, [*writes, *outer], [predicate])
    inner.emit_all(Yield, [])
    builder.emit_all(step.While, predicate, body=inner.block)
    builder.emit_all(step.Free, predicate)


_EMIT = {tensor.Cond: _emit_branch, tensor.Loop: _emit_loop, tensor.While: _emit_while}


def _begin(builder: Builder, carries: Arrays, results: Arrays) -> None:
    """Put what is carried into the first step where the last one leaves it."""
    for carry, result in zip(carries, results, strict=False):
        builder.emit_all(step.Copy, carry, result)


def _carry(builder: Builder, following: Arrays, carries: Arrays) -> None:
    """Put what a step has made for the next one in the place of what it was given."""
    for array, carry in zip(following, carries, strict=False):
        builder.emit_all(step.Copy, array, carry)
    for array in following:
        _free(builder, array)


def _make(
    builder: Builder, region: Block, taken: Arrays, targets: Arrays, carried: int = 0
) -> Arrays:
    """Run a region on arrays; what it makes goes into `targets`, but for the first results, which
    are `carried` into the next step and are returned: what they replace is still being read."""
    made = inline(region, taken, builder)
    for array, target in zip(made[carried:], targets, strict=True):
        if isinstance(array.op, step.Allocate) and array.type is target.type:
            replace(array, target)
            array.op.detach()
        else:
            builder.emit_all(step.Copy, array, target)
            _free(builder, array)
    return made[:carried]


def _free(builder: Builder, array: AnyValue) -> None:
    """Give back what a region has made."""
    owner = array.op.array if isinstance(array.op, step.View) else array
    builder.emit_all(step.Free, owner)
