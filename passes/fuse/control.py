"""Control flow on the host: loops and branches whose regions are steps of their own.

Comes in: a `tensor.loop` or `tensor.cond` whose regions have been fused. Goes out: the step op that
runs their kernels, with what is carried kept in memory.
Never: a loop that runs backwards or until a condition fails; the step floor cannot say it, and such
an op stays one kernel.
"""

from collections.abc import Sequence
from typing import Any

from ...ir import step, tensor
from ...ir.builder import Builder
from ...ir.dtypes import i64
from ...ir.func import Func, Return, Yield
from ...ir.payloads import Number
from ...ir.types import INDEX, Array, Tensor
from ...ir.values import AnyValue, Block, Op
from ..copying import copy_ops, inline
from ..reads import captured

Arrays = Sequence[AnyValue]


def is_opened(op: Op | None) -> bool:
    """Whether the host runs the regions of an op."""
    return isinstance(op, tensor.Cond) or (isinstance(op, tensor.Loop) and not op.reverse)


def region_func(caller: Func, op: Op, region: Block) -> Func:
    """A region as a func that also takes all that the regions of the op read from outside."""
    func = Func("region", (), caller.symbols, location=op.location)
    outer = captured(op.regions)
    values = {
        value: func.body.add_argument(value.type, value.name)
        for value in (*region.arguments, *outer)
    }
    builder = Builder(func.body, location=op.location)
    copy_ops((each for each in region if not each.terminator), builder, values)
    builder.emit_all(Return, [values.get(each, each) for each in region.terminator.operands])
    return func


def counting(name: str) -> Func:
    """The kernel that counts on by one."""
    func = Func(name, (Tensor((), i64),))
    builder = Builder(func.body)
    one = builder.emit(tensor.Constant, Number(1, i64))
    builder.emit_all(Return, [builder.emit(tensor.Add, func.arguments[0], one)])
    return func


def counts(op: Op) -> bool:
    """Whether the body of a loop reads its index."""
    return isinstance(op, tensor.Loop) and bool(op.body.arguments[0].uses)


def emit_control(
    builder: Builder, op: Any, reads: Arrays, writes: Arrays, regions: Sequence[Func], count: str
) -> None:
    """The op on memory: `regions` are its steps, `count` is the kernel that counts."""
    if isinstance(op, tensor.Cond):
        _emit_branch(builder, op, reads, writes, regions)
    else:
        _emit_loop(builder, op, reads, writes, regions[0], count)


def _emit_branch(
    builder: Builder, op: tensor.Cond, reads: Arrays, writes: Arrays, regions: Sequence[Func]
) -> None:
    """Either region, and copies of what it makes."""
    predicate, *rest = reads
    blocks: list[Block] = []
    for region in regions:
        inner = builder.nest()
        _copied(inner, inline(region.body, rest, inner), writes)
        inner.emit_all(Yield, [])
        blocks.append(inner.block)
    builder.emit_all(step.Branch, predicate, on_true=blocks[0], on_false=blocks[1])


def _emit_loop(
    builder: Builder, op: tensor.Loop, reads: Arrays, writes: Arrays, region: Func, count: str
) -> None:
    """Carries stay where they are returned; each step writes its rows of the other results."""
    carried, rows = len(op.carries), len(op.carries) + len(op.inputs)
    for carry, result in zip(reads[:carried], writes, strict=False):
        builder.emit_all(step.Copy, carry, result)
    (counter,) = builder.emit_all(step.Allocate, Array((), i64))
    builder.emit_all(step.Fill, counter, value=Number(0, i64))
    inner = builder.nest([INDEX])
    index = inner.block.arguments[0]
    slices = [inner.emit(step.Row, array, index) for array in reads[carried:rows]]
    made = inline(region.body, [counter, *writes[:carried], *slices, *reads[rows:]], inner)
    stacked = [inner.emit(step.Row, array, index) for array in writes[carried:]]
    _copied(inner, made, [*writes[:carried], *stacked])
    if counts(op):
        (following,) = inner.emit_all(step.Allocate, Array((), i64))
        inner.emit_all(step.Launch, [counter], [following], kernel=count, grid=())
        _copied(inner, [following], [counter])
    inner.emit_all(Yield, [])
    builder.emit_all(step.Loop, trip=op.trip, body=inner.block)
    builder.emit_all(step.Free, counter)


def _copied(builder: Builder, made: Arrays, into: Arrays) -> None:
    """Put arrays that a region has made where they belong, and give them back."""
    for array, target in zip(made, into, strict=True):
        builder.emit_all(step.Copy, array, target)
    for array in made:
        owner = array.op.array if isinstance(array.op, step.View) else array
        builder.emit_all(step.Free, owner)
