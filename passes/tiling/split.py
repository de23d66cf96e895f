"""A long reduction into few results: chunks apart, on many programs, and then together.

Comes in: a `Kernel` that only reduces. Goes out: how long a chunk is; the kernel of one chunk,
whose results are partial; and the tensor func that combines them.
Never: a number of threads: where chunks end follows from sizes alone, so results do too.
"""

from math import prod

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dims import MAX_SIZE, Symbol
from ...ir.func import Func, Return
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction
from ...ir.types import Tensor
from ...ir.values import AnyValue, Op
from ..copying import copy_ops
from .kernel import Kernel, Node, Output, Param
from .merge import renumber
from .reductions import sum_dtype
from .schedule import Schedule, tiles_of
from .space import Index, Space

CHUNK = 16384
"""Elements that one program reduces, where the schedule has no `chunk` of its own."""

FEW = 64
"""So many results or fewer are too few to be shared out."""


def chunk_length(kernel: Kernel, schedule: Schedule) -> int | None:
    """How many places along the first reduced axis are a chunk; none where rows are shared out."""
    space, tiles = kernel.space, tiles_of(kernel, schedule)
    if not _only_reduces(kernel) or not _few_rows(space):
        return None
    first = space.reduced[0]
    if len(space.reduced) > 1:  # what lies below one place is long, or it would have been merged
        return 8 * tiles[first]
    beside = prod(tiles[axis] for axis in space.parallel)
    together = beside * tiles[first]
    return -(-schedule.get("chunk", CHUNK) // together) * tiles[first]


def chunks_of(func: Func) -> Symbol:
    """The number of chunks, under a name that the func has not given."""
    name, taken = "chunks", {symbol.name for symbol in func.symbols}
    while name in taken:
        name += "_"
    return Symbol(name, 0, MAX_SIZE)


def partial_kernel(kernel: Kernel, chunks: Symbol, length: int) -> Kernel:
    """The kernel of one chunk: axis 0 of its space numbers chunks."""
    sizes, reduced = kernel.space.sizes, kernel.space.reduced
    kernel.outputs = []
    space = Space((chunks, *sizes), tuple(axis + 1 for axis in reduced))
    renumber(kernel, {axis: axis + 1 for axis in range(len(sizes))}, space)
    kernel.params = [param for param in kernel.params if not param.written]
    for number, node in enumerate(_reductions(kernel)):
        shape = (chunks, *node.value.type.shape)
        name = f"{node.value.name or 'part'}_parts"
        assert node.op is not None
        param = Param(number, shape, sum_dtype(node.op), name, written=True)
        kernel.outputs.append(Output(node, param, (Index(0), *node.place)))
        kernel.params.append(param)
    kernel.chunk = length
    return kernel


def combining_func(
    kernel: Kernel, chunks: Symbol
) -> tuple[Func, tuple[Tensor, ...], tuple[int, ...]]:
    """The func that makes the results of partial ones, the types of these, and the numbers of the
    arguments that it takes beside them."""
    func, parts = kernel.func, _reductions(kernel)
    ops = _after_reductions(func)
    used = [each for each in func.arguments if any(each in op.operands for op in ops)]
    types: list[Tensor] = []
    for node in parts:
        assert node.op is not None
        types.append(Tensor((chunks, *node.value.type.shape), sum_dtype(node.op)))
    made = Func(
        f"{func.name}_combined",
        [*types, *(each.type for each in used)],
        (chunks, *func.symbols),
        location=func.location,
    )
    values = dict(zip(used, made.arguments[len(types) :], strict=True))
    for argument, new in values.items():
        new.name = argument.name
    builder = Builder(made.body, location=func.location)
    for node, argument in zip(parts, made.arguments, strict=False):
        argument.name = f"{node.value.name or 'part'}_parts"
        values[node.value] = _combined(builder, node, argument)
    copy_ops(ops, builder, values)
    results = [values[result] for result in func.results]
    for new, result in zip(results, func.results, strict=True):
        new.name = result.name
    builder.emit_all(Return, results)
    return made, tuple(types), tuple(each.index for each in used)


def _combined(builder: Builder, node: Node, parts: AnyValue) -> AnyValue:
    """All partial results of a reduction as one, in the dtype of its own."""
    op = node.op
    assert isinstance(op, Reduction)
    builder.location = op.location
    whole = builder.emit(op.__class__, parts, axes=(0,))
    same = whole.dtype is node.value.dtype
    return whole if same else builder.emit(tensor.Cast, whole, dtype=node.value.dtype)


def _reductions(kernel: Kernel) -> list[Node]:
    return [node for node in kernel.nodes if node.reduces]


def _only_reduces(kernel: Kernel) -> bool:
    """Whether sums and the like of one level leave the kernel, each at one place only."""
    reductions = _reductions(kernel)
    reduced = {*kernel.space.reduced}
    return (
        kernel.levels == 1
        and not any(isinstance(node.op, ArgReduction) for node in reductions)
        and not any(reduced & {*output.node.axes} for output in kernel.outputs)
        and len({node.value for node in reductions}) == len(reductions)
    )


def _few_rows(space: Space) -> bool:
    """Whether the grid is small: one column of vectors, or certainly few results."""
    last = len(space.sizes) - 1
    if space.parallel == (last,):
        return True
    count = prod(space.sizes[axis] for axis in space.parallel)
    return isinstance(count, int) and count <= FEW


def _after_reductions(func: Func) -> list[Op]:
    """The ops that the results need of those that no reduction needs alone, in program order."""
    needed, pending = set[Op](), [*func.results]
    while pending:
        op = pending.pop().op
        if op is not None and op not in needed and not isinstance(op, Reduction):
            needed.add(op)
            pending += op.operands
    return [op for op in func.body if op in needed]
