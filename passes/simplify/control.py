"""Rewrites of control flow whose course is known when the program is compiled.

Comes in: conditions with a known predicate, loops of no or one step, carries that never change.
Goes out: the ops of the region, in the place of the op that owned it.
Never: an unrolling of more than one step.
"""

from ...ir import tensor
from ...ir.dtypes import i64
from ...ir.func import Yield
from ...ir.payloads import Number, payload
from ...ir.rewriter import Replacement, Rewriter, Rules, rewrite
from ...ir.types import Tensor
from ...ir.values import AnyValue
from ..copying import Values, copy_ops, inline
from .patterns import full, uniform


@rewrite(tensor.Cond)
def cond_known(op: tensor.Cond, rewriter: Rewriter) -> Replacement:
    """cond(true) { x } { y } -> x, cond(false) { x } { y } -> y"""
    predicate = uniform(op.predicate)
    if predicate is None:
        return None
    region = op.on_true if predicate.value else op.on_false
    return inline(region, op.arguments, rewriter)


@rewrite(tensor.Cond)
def cond_same(op: tensor.Cond, rewriter: Rewriter) -> Replacement:
    """cond(p) { x } { x } -> x, when x stands outside"""
    yields = op.on_true.terminator.operands
    if not yields or yields != op.on_false.terminator.operands:
        return None
    return yields if all(value.block is not op.on_true for value in yields) else None


@rewrite(tensor.Loop)
def loop_without_steps(op: tensor.Loop, rewriter: Rewriter) -> Replacement:
    """loop of no steps -> the carries it begins with, and empty stacks"""
    if op.trip != 0:
        return None
    stacks = op.outputs[len(op.carries) :]
    return (*op.carries, *[_zeros(value.type, rewriter) for value in stacks])


def _zeros(type_: Tensor, rewriter: Rewriter) -> AnyValue:
    zero = payload(type_.dtype.storage.type(0).reshape(()), type_.dtype)
    return full(rewriter, zero, type_)


@rewrite(tensor.Loop)
def loop_of_one_step(op: tensor.Loop, rewriter: Rewriter) -> Replacement:
    """loop of one step -> its body"""
    if op.trip != 1:
        return None
    index = rewriter.emit(tensor.Constant, Number(0, i64))
    slices = [rewriter.emit(tensor.Reshape, value, value.shape[1:]) for value in op.inputs]
    made = inline(op.body, (index, *op.carries, *slices), rewriter)
    count = len(op.carries)
    stacked = [
        rewriter.emit(tensor.Reshape, value, result.shape)
        for value, result in zip(made[count:], op.outputs[count:], strict=True)
    ]
    return (*made[:count], *stacked)


@rewrite(tensor.Loop)
def loop_carries_unchanged(op: tensor.Loop, rewriter: Rewriter) -> Replacement:
    """loop(x, y) { yield x, f(y) } -> x, and loop(y) { yield f(y) } that reads x"""
    yields = op.body.terminator.operands
    arguments = op.body.arguments[1 : 1 + len(op.carries)]
    kept = [place for place, each in enumerate(arguments) if yields[place] is not each]
    if len(kept) == len(arguments):
        return None
    inner = rewriter.nest()
    values: Values = dict(zip(arguments, op.carries, strict=True))
    taken = [op.body.arguments[0], *(arguments[place] for place in kept)]
    for argument in (*taken, *op.body.arguments[1 + len(op.carries) :]):
        values[argument] = inner.block.add_argument(argument.type, argument.name)
    copy_ops(list(op.body)[:-1], inner, values)
    wanted = [*(yields[place] for place in kept), *yields[len(arguments) :]]
    inner.emit_all(Yield, [values.get(value, value) for value in wanted])
    carries = [op.carries[place] for place in kept]
    made = rewriter.emit_all(
        tensor.Loop, carries, op.inputs, op.trip, inner.block, reverse=op.reverse
    )
    results = dict(zip(kept, made, strict=False))
    carried = [results.get(place, op.carries[place]) for place in range(len(arguments))]
    return (*carried, *made[len(kept) :])


@rewrite(tensor.Dim)
def dim_known(op: tensor.Dim, rewriter: Rewriter) -> Replacement:
    """dim(x) -> 4, along an axis of size 4"""
    size = op.x.shape[op.axis]
    return rewriter.emit(tensor.Constant, Number(size, i64)) if isinstance(size, int) else None


CONTROL = Rules(
    cond_known, cond_same, loop_without_steps, loop_of_one_step, loop_carries_unchanged, dim_known
)
