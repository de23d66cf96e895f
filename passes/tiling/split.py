"""A long reduction into few results: chunks apart, on many programs, and then together.

Comes in: a `Kernel` that reduces once, and stores on its way only what needs no reduction. Goes
out: how long a chunk is; the kernel of one chunk, whose reductions are partial; and the tensor func
that combines them.
Never: a number of threads: where chunks end follows from sizes alone, so results do too.
"""

from collections.abc import Sequence
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
from ..witness import is_witness
from .kernel import Kernel, Node, Output, Param
from .merge import renumber
from .reductions import sum_dtype
from .schedule import Schedule, parts_of, tiles_of
from .space import Index, Space

CHUNK = 16384
"""Elements that one program reduces, where the schedule has no `chunk` of its own."""

ROWS = 256
"""And so many rows, where it sums columns that lie beside each other for a while: two of 512x4096
are shared by two threads, which take three quarters of the time of one."""

FEW = 64
"""So many results or fewer are too few to be shared out."""


def chunk_length(kernel: Kernel, schedule: Schedule) -> int | None:
    """How many places along the first reduced axis are a chunk; none where rows are shared out."""
    space, tiles = kernel.space, tiles_of(kernel, schedule)
    if not _passes_once(kernel) or not _few_rows(space):
        return None
    first = space.reduced[0]
    if len(space.reduced) > 1:  # what lies below one place is long, or it would have been merged
        return 8 * tiles[first]
    beside = prod(tiles[axis] for axis in space.parallel)
    step = parts_of(kernel, schedule) * tiles[first]
    rows = ROWS if "wide" in schedule else -(-schedule.get("chunk", CHUNK) // beside)
    return -(-rows // step) * step


def chunks_of(func: Func) -> Symbol:
    """The number of chunks, under a name that the func has not given."""
    name, taken = "chunks", {symbol.name for symbol in func.symbols}
    while name in taken:
        name += "_"
    return Symbol(name, 0, MAX_SIZE)


def partial_kernel(kernel: Kernel, chunks: Symbol, length: int) -> Kernel:
    """The kernel of one chunk: axis 0 of its space numbers chunks. Of what it writes, partial
    results come after the results of the kernel."""
    sizes, reduced = kernel.space.sizes, kernel.space.reduced
    results = combined_results(kernel)
    kernel.outputs = [each for each in kernel.outputs if each.param.number not in results]
    space = Space((chunks, *sizes), tuple(axis + 1 for axis in reduced))
    renumber(kernel, {axis: axis + 1 for axis in range(len(sizes))}, space)
    kernel.params = [param for param in kernel.params if not param.written]
    kernel.params += [each.param for each in kernel.outputs]
    for number, node in enumerate(_reductions(kernel), len(kernel.func.results)):
        shape = (chunks, *node.value.type.shape)
        name = f"{node.value.name or 'part'}_parts"
        assert node.op is not None
        param = Param(number, shape, sum_dtype(node.op), name, written=True)
        kernel.outputs.append(Output(node, param, (Index(0), *node.place)))
        kernel.params.append(param)
    kernel.chunk = length
    return kernel


def combined_results(kernel: Kernel) -> list[int]:
    """The numbers of the results that are known when all chunks are: none has a reduced axis."""
    reduced = {*kernel.space.reduced}
    return [each.param.number for each in kernel.outputs if not reduced & {*each.node.axes}]


def combining_func(
    kernel: Kernel, chunks: Symbol
) -> tuple[Func, tuple[Tensor, ...], tuple[int, ...]]:
    """The func that makes the combined results of partial ones, the types of these, and the numbers
    of the arguments that it takes beside them."""
    func, parts = kernel.func, _reductions(kernel)
    results = [func.results[number] for number in combined_results(kernel)]
    ops = _after_reductions(func, results)
    read = {operand for op in ops for operand in op.operands}
    asks = any(isinstance(op, tensor.Slice | tensor.Pad) for op in ops)
    used = [each for each in func.arguments if each in read or (asks and is_witness(each.type))]
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
    for result in results:
        values[result].name = result.name
    builder.emit_all(Return, [values[result] for result in results])
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


def _passes_once(kernel: Kernel) -> bool:
    """Whether one run along the reduced axes does it: sums and the like of one level, each at one
    place only, of which nothing that has those axes is made."""
    reductions = _reductions(kernel)
    reduced = {*kernel.space.reduced}
    return (
        kernel.levels == 1
        and not any(isinstance(node.op, ArgReduction) for node in reductions)
        and not any(each.node.level and reduced & {*each.node.axes} for each in kernel.outputs)
        and len({node.value for node in reductions}) == len(reductions)
    )


def _few_rows(space: Space) -> bool:
    """Whether the grid is small: one column of vectors, or certainly few results."""
    last = len(space.sizes) - 1
    if space.parallel == (last,):
        return True
    count = prod(space.sizes[axis] for axis in space.parallel)
    return isinstance(count, int) and count <= FEW


def _after_reductions(func: Func, results: Sequence[AnyValue]) -> list[Op]:
    """The ops that these results need of those that no reduction needs alone, in program order."""
    needed, pending = set[Op](), [*results]
    while pending:
        op = pending.pop().op
        if op is not None and op not in needed and not isinstance(op, Reduction):
            needed.add(op)
            pending += op.operands
    return [op for op in func.body if op in needed]
