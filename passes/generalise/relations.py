"""The relations of the ops: which sizes each wants equal, and what the sizes of its results are.

Comes in: an op and the recording so far. Goes out: what the op adds to the recording.
Never: a size itself; two sizes that happen to be equal are related only where an op wants it.

`RELATIONS` at the end has them, by the op's class or a base of it. An op that has none is asked for
its own shape rule.
"""

from collections.abc import Collection, Mapping, Sequence
from math import prod

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Dim, Size
from ...ir.func import Return, Yield
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.elementwise import Elementwise
from ...ir.tensor.reduce import Reduction
from ...ir.tensor.scan import Scan
from ...ir.tensor.solve import Equations
from ...ir.values import Op as BareOp
from . import factors
from .classes import OFFSETS, Parts
from .numbers import becomes_argument, number_everywhere
from .products import equal_products, multiplied, share
from .recording import Recording, Relation, by_own_rule, keep_op
from .regions import (
    attention,
    attention_backward,
    checkpoint,
    cond,
    custom_vjp,
    linear_call,
    loop,
    while_loop,
    yields,
)

Shaping = tensor.Iota | tensor.Reshape | tensor.Broadcast | tensor.RandomBits

LARGEST_WINDOW = 16
"""Sizes and borders of a convolution's windows up to this are facts."""
MOST_PHASES = 8
"""With up to so many phases, each place between dilated elements has kernels of its own."""
MOST_IN_TURN = 8
"""Up to so many elements in turn have tiles as short as they are."""


def alike(op: BareOp, recording: Recording) -> None:
    """All operands and results have one shape."""
    parts = recording.parts
    first = parts[op.operands[0]]
    for operand in op.operands[1:]:
        recording.classes.unite_all(first, parts[operand])
    for result in op.results:
        parts[result] = first


def unrelated(op: BareOp, recording: Recording) -> None:
    """No size is related to another, and those of the results are given."""
    for result in op.results:
        recording.add(result)


def constant(op: tensor.Constant, recording: Recording) -> None:
    """The sizes of data, and of one number everywhere, may be others; small arrays stay."""
    if becomes_argument(op.value):
        shape = recording.data.get(op.value) or recording.classes.shape(op.value.shape)
        recording.parts[op.result] = recording.data[op.value] = shape
    elif number_everywhere(op.value) is not None:
        recording.add(op.result)
    else:
        recording.state(op.result)


def shaped(op: tensor.Iota, recording: Recording) -> None:
    """The shape asked for."""
    _shaped(op, recording)


def reshape(op: tensor.Reshape, recording: Recording) -> None:
    """Both shapes have one product."""
    shape = _shaped(op, recording)
    equal_products(recording.classes, recording.parts[op.x], shape)


def broadcast(op: tensor.Broadcast, recording: Recording) -> None:
    """Axes that are not 1 keep their size."""
    shape = _shaped(op, recording)
    for part, axis in zip(recording.parts[op.x], op.axes, strict=True):
        if part != 1:
            recording.classes.unite(shape[axis], part)


def permute(op: tensor.Permute, recording: Recording) -> None:
    """The sizes in another order. How many elements come to lie in turn, or lay so before, is a
    fact, unless an argument says it."""
    classes, parts = recording.classes, recording.parts[op.x]
    if parts and op.axes[-1] != len(parts) - 1:
        for part in (parts[op.axes[-1]], parts[-1]):
            if classes.value(part) <= MOST_IN_TURN and not recording.is_given(part):
                classes.fix(part)
    recording.parts[op.result] = tuple([parts[axis] for axis in op.axes])


def slice_(op: tensor.Slice, recording: Recording) -> None:
    """A part of an axis is of any size, and starts anywhere; a whole axis stays whole."""
    classes, parts = recording.classes, recording.parts[op.x]
    axes = zip(parts, op.x.shape, op.start, op.size, op.step, strict=True)
    size = tuple(
        [
            part if extent == count and start == 0 and step == 1 else classes.size(count)
            for part, extent, start, count, step in axes
        ]
    )
    recording.settings[op] = (tuple(map(classes.start, op.start)), size)
    recording.parts[op.result] = size


def pad(op: tensor.Pad, recording: Recording) -> None:
    """Any number of elements before and after."""
    start = recording.classes.start
    recording.settings[op] = (tuple(map(start, op.low)), tuple(map(start, op.high)))
    recording.derive(op)


def concat(op: tensor.Concat, recording: Recording) -> None:
    """One shape but for the axis, along which sizes add up."""
    classes, axis = recording.classes, op.axis
    shapes = [recording.parts[each] for each in op.tensors]
    first, total = shapes[0], classes.dim(shapes[0][axis])
    for shape in shapes[1:]:
        classes.unite_all(_without(first, (axis,)), _without(shape, (axis,)))
        total += classes.dim(shape[axis])
    whole = classes.derived(total, op.result.shape[axis])
    recording.parts[op.result] = (*first[:axis], whole, *first[axis + 1 :])


def reduction(op: Reduction, recording: Recording) -> None:
    """The axes that are kept."""
    recording.parts[op.result] = _without(recording.parts[op.x], op.axes)


def arg_reduction(op: ArgReduction, recording: Recording) -> None:
    """All axes but one."""
    recording.parts[op.result] = _without(recording.parts[op.x], (op.axis,))


def contract(op: tensor.Contract, recording: Recording) -> None:
    """Batch axes and summed axes pair off."""
    left, right = recording.parts[op.left], recording.parts[op.right]
    ours, theirs = (*op.left_batch, *op.left_contract), (*op.right_batch, *op.right_contract)
    for one, other in zip(ours, theirs, strict=True):
        recording.classes.unite(left[one], right[other])
    batch = tuple([left[axis] for axis in op.left_batch])
    recording.parts[op.result] = (*batch, *_without(left, ours), *_without(right, theirs))


def convolve(op: tensor.Convolve, recording: Recording) -> None:
    """Channels fit; windows stay, and the sizes of images follow from each other."""
    classes, x, kernel = recording.classes, recording.parts[op.x], recording.parts[op.kernel]
    steps = op.input_dilation
    for window, low, high, by in zip(kernel[2:], op.low, op.high, steps, strict=True):
        if classes.value(window) <= max(LARGEST_WINDOW, _margin(low, high, by)):
            classes.fix(window)
    recording.settings[op] = tuple(_border(recording, each, steps) for each in (op.low, op.high))
    classes.unite(x[1], multiplied(classes, (op.groups, kernel[1])))
    share(classes, kernel[0], op.groups)
    recording.derive(op)
    _keep_unlike(op, recording)


def _keep_unlike(op: tensor.Convolve, recording: Recording) -> None:
    """Where x is dilated so much that each phase cannot have a kernel of its own, sizes that do not
    tell how many places each has stay numbers."""
    classes, steps = recording.classes, op.input_dilation
    if prod(steps) <= MOST_PHASES:
        return
    for parts in (recording.parts[op.kernel], recording.parts[op.result]):
        for part, by in zip(parts[2:], steps, strict=True):
            size = classes.dim(part)
            if isinstance(size, Dim) and size.multiple % by:
                classes.keep([part], "phases of a dilated x are to be as long as each other")


def sort(op: tensor.Sort, recording: Recording) -> None:
    """All have one shape; of each line any number is wanted, or all of it."""
    alike(op, recording)
    if op.count is None:
        return
    count, parts = recording.classes.size(op.count), recording.parts[op.values[0]]
    recording.settings[op] = (count,)
    made = (*parts[: op.axis], count, *parts[op.axis + 1 :])
    recording.parts.update(dict.fromkeys(op.results, made))


def gather(op: tensor.Gather, recording: Recording) -> None:
    """Batch axes pair off, and the last axis of the indices has one for each axis."""
    recording.parts[op.result] = _gathered(op, recording)


def scatter(op: tensor.Scatter, recording: Recording) -> None:
    """As a gather, whose result the updates would be."""
    recording.classes.unite_all(recording.parts[op.updates], _gathered(op, recording))
    recording.parts[op.result] = recording.parts[op.x]


def random_bits(op: tensor.RandomBits, recording: Recording) -> None:
    """The shape asked for, for each key, anywhere in the stream; a key has two words."""
    classes, keys = recording.classes, recording.parts[op.random_key]
    classes.unite(keys[-1], 2)
    shape = _shaped(op, recording)
    recording.parts[op.result] = (*keys[:-1], *shape)
    recording.settings[op] = (shape, classes.start(op.offset, OFFSETS))


def reduce_scatter(op: tensor.ReduceScatter, recording: Recording) -> None:
    """An axis that has equal shares."""
    share(recording.classes, recording.parts[op.x][op.axis], op.count)
    recording.derive(op)


def all_to_all(op: tensor.AllToAll, recording: Recording) -> None:
    """One axis that has equal shares, and another one as often as there are devices."""
    share(recording.classes, recording.parts[op.x][op.split_axis], op.count)
    recording.derive(op)


def _shaped(op: Shaping, recording: Recording) -> Parts:
    """The parts of the shape that an op is asked for, which its result has."""
    shape = recording.classes.shape(op.shape)
    recording.settings[op] = (shape,)
    recording.parts[op.result] = shape
    return shape


def _gathered(op: tensor.Gather | tensor.Scatter, recording: Recording) -> Parts:
    """The shape of what is read, or would be."""
    x, indices = recording.parts[op.x], recording.parts[op.indices]
    recording.classes.unite_all(x[: op.batch], indices[: op.batch])
    recording.classes.unite(indices[-1], len(op.axes))
    return (*indices[:-1], *_without(x, (*range(op.batch), *op.axes)))


def _without(parts: Parts, axes: Collection[int]) -> Parts:
    return tuple([part for axis, part in enumerate(parts) if axis not in axes])


def _margin(low: Size, high: Size, apart: int) -> int:
    """How large a window fits between the borders of a dilated x, as a kernel's does, and no image
    in its place: it is a fact, too, since it says which weights a place of the result meets."""
    return low + high if apart > 1 and isinstance(low, int) and isinstance(high, int) else 0


def _border(recording: Recording, sizes: Shape, apart: Sequence[int]) -> Parts:
    """Padding of a convolution, which is a fact as long as it is small, or where x is dilated: it
    says which places meet elements of x, and which meet the zeros between them."""
    start = recording.classes.start
    axes = zip(sizes, apart, strict=True)
    facts = [by > 1 or (isinstance(size, int) and size <= LARGEST_WINDOW) for size, by in axes]
    return tuple([size if fact else start(size) for size, fact in zip(sizes, facts, strict=True)])


RELATIONS: Mapping[type[BareOp], Relation] = {
    Elementwise: alike,
    tensor.Select: alike,
    tensor.Cast: alike,
    tensor.Bitcast: alike,
    tensor.Complex: alike,
    tensor.Flip: alike,
    tensor.Sort: sort,
    Scan: alike,
    tensor.AllReduce: alike,
    tensor.CollectivePermute: alike,
    tensor.AxisIndex: unrelated,
    tensor.Dim: unrelated,
    tensor.Custom: unrelated,
    tensor.HostCall: unrelated,
    Return: unrelated,
    tensor.Constant: constant,
    tensor.Iota: shaped,
    tensor.RandomBits: random_bits,
    tensor.Broadcast: broadcast,
    tensor.Reshape: reshape,
    tensor.Permute: permute,
    tensor.Slice: slice_,
    tensor.Pad: pad,
    tensor.Concat: concat,
    Reduction: reduction,
    ArgReduction: arg_reduction,
    tensor.Contract: contract,
    tensor.Convolve: convolve,
    Equations: factors.equations,
    tensor.Cholesky: factors.cholesky,
    tensor.Eigh: factors.eigenvalues,
    tensor.Eig: factors.eigenvalues,
    tensor.Lu: factors.lu,
    tensor.Qr: factors.qr,
    tensor.Svd: factors.svd,
    tensor.Gather: gather,
    tensor.Scatter: scatter,
    tensor.AllGather: by_own_rule,
    tensor.ReduceScatter: reduce_scatter,
    tensor.AllToAll: all_to_all,
    tensor.Call: keep_op,
    tensor.Attention: attention,
    tensor.AttentionBackward: attention_backward,
    tensor.Checkpoint: checkpoint,
    tensor.Cond: cond,
    tensor.CustomVjp: custom_vjp,
    tensor.LinearCall: linear_call,
    tensor.Loop: loop,
    tensor.While: while_loop,
    Yield: yields,
}
