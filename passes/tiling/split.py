"""A long reduction into few results: chunks apart, on many programs, and then together.

Comes in: a `Kernel` that reduces once, or finds the largest and sums powers below it, and stores on
its way only what needs no reduction. Goes out: how long a chunk is, and the kernel of one chunk,
whose reductions are partial; `combined` has what comes after.
Never: a number of threads: where chunks end follows from sizes alone, so results do too.
"""

from math import prod

from ...ir.dims import MAX_SIZE, Symbol
from ...ir.func import Func
from ...ir.tensor.arg_reduce import ArgReduction
from .kernel import Kernel, Node, Output, Param
from .merge import renumber
from .plan import plan_loops
from .powers import powers_in
from .reductions import sum_dtype
from .schedule import Schedule, parts_of, tiles_of
from .space import Index, Space

CHUNK = 16384
"""Elements that one program reduces, where the schedule has no `chunk` of its own."""

ROWS = 256
"""And so many rows, where it sums columns that lie beside each other for a while: two of 512x4096
are shared by two threads, which take three quarters of the time of one."""

NEAR = 64
"""And so many where they pass twice: the second time they come out of a level-2 cache. For largest
and sum down 65536x64 two Intel cores take 0.95 ms; 1.19 where each has a kernel of its own."""

FEW = 64
"""So many results or fewer are too few to be shared out."""


def chunk_length(kernel: Kernel, schedule: Schedule) -> int | None:
    """How many places along the first reduced axis are a chunk; none where rows are shared out."""
    space, tiles = kernel.space, tiles_of(kernel, schedule)
    if not _few_rows(space) or not _can_be_cut(kernel):
        return None
    first = space.reduced[0]
    if len(space.reduced) > 1:  # what lies below one place is long, or it would have been merged
        return 8 * tiles[first]
    beside = prod(tiles[axis] for axis in space.parallel)
    step = parts_of(kernel, schedule) * tiles[first]
    if "wide" in schedule:
        rows = ROWS if kernel.levels == 1 else NEAR
    else:
        rows = -(-schedule.get("chunk", CHUNK) // beside)
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
    for number, node in enumerate(reductions_of(kernel), len(kernel.func.results)):
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


def reductions_of(kernel: Kernel) -> list[Node]:
    """The reductions, in program order."""
    return [node for node in kernel.nodes if node.reduces]


def _can_be_cut(kernel: Kernel) -> bool:
    """Whether chunks can be reduced apart: there are only sums and the like, each at one place, of
    one level or of two, and nothing that has the reduced axes is made of them."""
    reductions = reductions_of(kernel)
    reduced = {*kernel.space.reduced}
    return (
        not any(isinstance(node.op, ArgReduction) for node in reductions)
        and not any(each.node.level and reduced & {*each.node.axes} for each in kernel.outputs)
        and len({node.value for node in reductions}) == len(reductions)
        and (kernel.levels == 1 or _sums_powers(kernel))
    )


def _sums_powers(kernel: Kernel) -> bool:
    """Whether there is a second level, which only sums powers below what the first finds to be the
    largest, and for which nothing is kept."""
    if kernel.levels != 2:
        return False
    powers = powers_in(kernel.func)
    known = all(node.op in powers for node in reductions_of(kernel) if node.level > 1)
    return known and not any(loop.kept for loop in plan_loops(kernel))


def _few_rows(space: Space) -> bool:
    """Whether the grid is small: one column of vectors, or certainly few results."""
    last = len(space.sizes) - 1
    if space.parallel == (last,):
        return True
    count = prod(space.sizes[axis] for axis in space.parallel)
    return isinstance(count, int) and count <= FEW
