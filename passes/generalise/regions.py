"""The relations of ops with regions: what a region takes and yields has the sizes of its op.

Comes in: an op with regions, or the `yield` that ends one. Goes out: the parts of the regions'
arguments, and of the op's results.
Never: the ops inside; they follow, each with its own relation.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir import tensor
from ...ir.dtypes import INEXACT
from ...ir.func import Yield
from ...ir.values import AnyValue, Block
from ...ir.values import Op as BareOp
from .classes import Part, Parts
from .products import multiplied
from .recording import UNKNOWN_OP, Recording


def loop(op: tensor.Loop, recording: Recording) -> None:
    """Inputs and stacked outputs have as many rows as there are steps."""
    classes, parts = recording.classes, recording.parts
    trip = classes.size(op.trip)
    recording.settings[op] = (trip,)
    carries = [parts[carry] for carry in op.carries]
    inputs = [parts[each] for each in op.inputs]
    for shape in inputs:
        classes.unite(shape[0], trip)
    _hand_over(op.body, [(), *carries, *(shape[1:] for shape in inputs)], recording)
    for place, output in enumerate(op.outputs):
        stacked = place >= len(carries)
        shape = (trip, *classes.shape(output.shape[1:])) if stacked else carries[place]
        parts[output] = shape


def while_loop(op: tensor.While, recording: Recording) -> None:
    """Carries keep their shape."""
    carries = [recording.parts[carry] for carry in op.carries]
    for region in (op.condition, op.body):
        _hand_over(region, carries, recording)
    recording.parts.update(zip(op.outputs, carries, strict=True))


def cond(op: tensor.Cond, recording: Recording) -> None:
    """Both regions take the arguments, and yield one shape for each output."""
    arguments = [recording.parts[argument] for argument in op.arguments]
    for region in (op.on_true, op.on_false):
        _hand_over(region, arguments, recording)
    for output in op.outputs:
        recording.add(output)


def checkpoint(op: tensor.Checkpoint, recording: Recording) -> None:
    """The body takes the arguments and yields the outputs."""
    _hand_over(op.body, [recording.parts[argument] for argument in op.arguments], recording)
    for output in op.outputs:
        recording.add(output)


def custom_vjp(op: tensor.CustomVjp, recording: Recording) -> None:
    """Residuals go from `forward` to `backward`, with the cotangents of the outputs."""
    arguments = [recording.parts[argument] for argument in op.arguments]
    for region in (op.primal, op.forward):
        _hand_over(region, arguments, recording)
    for output in op.outputs:
        recording.add(output)
    cotangents = [recording.parts[output] for output in _inexact(op.outputs)]
    count = len(op.backward.arguments) - len(cotangents)
    for residual in op.backward.arguments[:count]:
        recording.add(residual)
    recording.parts.update(zip(op.backward.arguments[count:], cotangents, strict=True))


def linear_call(op: tensor.LinearCall, recording: Recording) -> None:
    """The body takes the residuals, and what is shaped as the outputs."""
    for output in op.outputs:
        recording.add(output)
    handed = [recording.parts[value] for value in (*op.residuals, *op.outputs)]
    _hand_over(op.backward, handed, recording)


def attention(op: tensor.Attention, recording: Recording) -> None:
    """The output is of the queries' shape, but as wide as the values."""
    parts = recording.parts
    scores, depth = _heads(op, recording)
    _hand_over(op.score, [scores, *(parts[capture] for capture in op.captures)], recording)
    parts[op.output] = (*scores[:3], depth)
    parts[op.log_sum_exp] = parts[op.rest] = scores[:3]


def attention_backward(op: tensor.AttentionBackward, recording: Recording) -> None:
    """Gradients are of the shapes of what they are by."""
    classes, parts = recording.classes, recording.parts
    scores, depth = _heads(op, recording)
    classes.unite_all(parts[op.cotangent], (*scores[:3], depth))
    for rows in (op.log_sum_exp, op.rest, op.delta):
        classes.unite_all(parts[rows], scores[:3])
    handed = [scores, *(parts[capture] for capture in op.captures)]
    _hand_over(op.score, handed, recording)
    _hand_over(op.pull, [*handed, scores], recording)
    for gradient, of in zip(op.gradients, (op.query, op.key, op.value), strict=False):
        parts[gradient] = parts[of]
    for gradient in op.gradients[3:]:
        recording.add(gradient)


def _heads(op: Any, recording: Recording) -> tuple[Parts, Part]:
    """[B, H, T, D], [B, G, S, D] and [B, G, S, E]; G is H, or H is a fixed number of times G.

    The shape of the scores, and E.
    """
    classes, parts = recording.classes, recording.parts
    query, key, value = parts[op.query], parts[op.key], parts[op.value]
    classes.unite_all((query[0], query[0], query[3]), (key[0], value[0], key[3]))
    classes.unite_all(key[1:3], value[1:3])
    heads, groups = classes.value(query[1]), classes.value(key[1])
    if groups > 1 or heads == groups:
        classes.unite(query[1], multiplied(classes, (heads // max(groups, 1), key[1])))
    return (*query[:3], key[2]), value[3]


def yields(op: Yield, recording: Recording) -> None:
    """What a region yields has the shapes that its op wants."""
    owner = op.block.parent_op if op.block is not None else None
    wanted = WANTED.get(owner.__class__) if owner is not None else None
    if owner is None or wanted is None or op.block is None:
        for operand in op.operands:
            recording.classes.keep(recording.parts[operand], UNKNOWN_OP)
        return
    for operand, shape in zip(op.operands, wanted(owner, op.block, recording), strict=True):
        recording.classes.unite_all(shape, recording.parts[operand])


def _hand_over(region: Block, shapes: list[Parts], recording: Recording) -> None:
    recording.parts.update(zip(region.arguments, shapes, strict=True))


def _wanted_of_loop(op: tensor.Loop, region: Block, recording: Recording) -> list[Parts]:
    outputs = [recording.parts[output] for output in op.outputs]
    count = len(op.carries)
    return outputs[:count] + [shape[1:] for shape in outputs[count:]]


def _wanted_of_while(op: tensor.While, region: Block, recording: Recording) -> list[Parts]:
    return [()] if region is op.condition else _results(op, region, recording)


def _results(op: BareOp, region: Block, recording: Recording) -> list[Parts]:
    return [recording.parts[result] for result in op.results]


def _scores(op: tensor.Attention, region: Block, recording: Recording) -> list[Parts]:
    return [recording.parts[region.arguments[0]]]


def _wanted_of_backward(
    op: tensor.AttentionBackward, region: Block, recording: Recording
) -> list[Parts]:
    scores = recording.parts[region.arguments[0]]
    others = op.gradients[3:] if region is op.pull else ()
    return [scores, *[recording.parts[gradient] for gradient in others]]


def _wanted_of_custom(op: tensor.CustomVjp, region: Block, recording: Recording) -> list[Parts]:
    wanted = op.outputs if region is not op.backward else _inexact(op.arguments)
    if region is op.forward:
        residuals = len(op.backward.arguments) - len(_inexact(op.outputs))
        wanted = (*wanted, *op.backward.arguments[:residuals])
    return [recording.parts[value] for value in wanted]


def _tangents(op: tensor.LinearCall, region: Block, recording: Recording) -> list[Parts]:
    return [recording.parts[tangent] for tangent in op.tangents]


def _inexact(values: Sequence[AnyValue]) -> tuple[AnyValue, ...]:
    """Those of the values that have cotangents."""
    return tuple([value for value in values if value.dtype in INEXACT])


WANTED: Mapping[type[BareOp], Callable[[Any, Block, Recording], list[Parts]]] = {
    tensor.Attention: _scores,
    tensor.AttentionBackward: _wanted_of_backward,
    tensor.Checkpoint: _results,
    tensor.Cond: _results,
    tensor.CustomVjp: _wanted_of_custom,
    tensor.LinearCall: _tangents,
    tensor.Loop: _wanted_of_loop,
    tensor.While: _wanted_of_while,
}
"""What the regions of each op must yield."""
