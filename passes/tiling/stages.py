"""A kernel of the tensor floor as one or several kernels of tiles.

Comes in: a kernel func, and the target's function that chooses schedules. Goes out: `Stages`: tile
funcs in the order in which they are launched, each with the arrays it is handed and its grid.
Never: a step, or a size of a call: all sizes are in the symbols of the kernel func.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from ...ir.attributes import Shape
from ...ir.dims import Size, Symbol, ceil_div, substitute
from ...ir.func import Func
from ...ir.types import Tensor
from ..copying import copy_func
from ..witness import witness
from .across import across_stages
from .alone import alone_stages
from .build import build_stage
from .combined import combining_func
from .kernel import Kernel
from .levels import RESULTS, has_levels, least_elements, level_stages
from .merge import merge_axes, order_axes
from .parts import Stage, Stages
from .powers import below_their_own
from .read import read_kernel
from .schedule import Chooser, shape_of
from .sizes import Unnamed, untold
from .space import Refused, crossings
from .split import chunk_length, chunks_of, combined_results, partial_kernel
from .staging import Staging, by_size, is_at_least

MANY_PROGRAMS = 64
"""A grid of so many programs is shared out well enough."""


def tile_kernel(func: Func, choose: Chooser) -> Stages:
    """A kernel of the tensor floor on the tile floor; `Refused` if it has no such form."""
    try:
        return _tiled(func, choose)
    except Unnamed:
        told = untold(func.symbols, [each.type.shape for each in func.arguments])
        if not told:
            raise
    return _tiled_with(func, told, choose)


def _tiled_with(func: Func, told: Sequence[Symbol], choose: Chooser) -> Stages:
    """The same, where empty arrays tell it some sizes, too."""
    staging, inner = Staging.of(func), copy_func(func)
    for symbol in told:
        inner.body.add_argument(witness(symbol))
    reads, writes = range(len(func.arguments)), range(len(func.arguments), staging.first)
    rooms = [staging.hold(witness(symbol)).array for symbol in told]
    staging.launch_all(_tiled(inner, choose), [*reads, *rooms, *writes])
    return staging.done()


def _tiled(func: Func, choose: Chooser) -> Stages:
    alone = alone_stages(func, choose)
    if alone is not None:
        return alone
    across = crossings(func)
    if across:
        return across_stages(func, across, choose, tile_kernel)
    kernel = _prepared(read_kernel(func))
    arrays = range(len(func.arguments) + len(func.results))
    whole = _stage(kernel, choose, arrays)
    plain = Stages(func, (whole,), in_place=_in_place(kernel))
    length = chunk_length(kernel, choose(shape_of(kernel)))
    if length is None:
        return _by_levels(kernel, plain, choose) if has_levels(kernel) else plain
    cut = partial(_cut, kernel, length, plain, prod(whole.grid), choose)
    if kernel.levels == 1:
        return cut()
    return by_size(func, prod(kernel.space.sizes), _long(kernel, choose), cut, lambda: plain)


def _cut(kernel: Kernel, length: int, plain: Stages, programs: Size, choose: Chooser) -> Stages:
    """In chunks, where the one kernel that it is has few programs."""
    func, reduced = kernel.func, kernel.space.sizes[kernel.space.reduced[0]]
    if is_at_least(reduced, 2 * length) is False:
        return plain  # one chunk would be the whole, and the other one next to nothing

    def few() -> Stages:
        return by_size(func, reduced, 2 * length, split, lambda: plain)

    def split() -> Stages:
        return _split(kernel, length, choose)

    return by_size(func, programs, MANY_PROGRAMS, lambda: plain, few)


def _by_levels(kernel: Kernel, plain: Stages, choose: Chooser) -> Stages:
    """The one kernel that it is; or one for each level, where few results come of much."""
    func, sizes = kernel.func, kernel.space.sizes

    def levels() -> Stages:
        return level_stages(kernel, lambda made: tile_kernel(made, choose), is_cut)

    def is_cut(made: Func) -> bool:
        read = _prepared(read_kernel(made))
        return chunk_length(read, choose(shape_of(read))) is not None

    def few() -> Stages:
        return by_size(func, prod(sizes), _long(kernel, choose), levels, lambda: plain)

    results = prod(sizes[axis] for axis in kernel.space.parallel)
    return by_size(func, results, RESULTS + 1, lambda: plain, few)


def _long(kernel: Kernel, choose: Chooser) -> int:
    """Of how many elements a kernel with several levels takes several launches, if few programs
    would do all the work in one."""
    return choose(shape_of(kernel)).get("long", least_elements(kernel))


def _prepared(kernel: Kernel, merged: bool = True) -> Kernel:
    """The kernel with its axes in their final order, merged if wanted."""
    if not kernel.outputs:
        raise Refused("it stores nothing")
    order_axes(kernel)
    if merged:
        merge_axes(kernel)
    return kernel


def _stage(kernel: Kernel, choose: Chooser, arrays: Sequence[int]) -> Stage:
    """A kernel as one stage; `arrays` are the numbers of what it reads and then writes."""
    try:
        return build_stage(kernel, choose(shape_of(kernel)), arrays)
    except Unnamed:  # a size is needed that no array has any more
        kernel = _prepared(read_kernel(kernel.func), merged=False)
        return build_stage(kernel, choose(shape_of(kernel)), arrays)


def _split(kernel: Kernel, length: int, choose: Chooser) -> Stages:
    """Chunks of the reduced axis apart, and then together."""
    func, chunks = kernel.func, chunks_of(kernel.func)
    reads = range(len(func.arguments))
    writes = range(len(reads), len(reads) + len(func.results))
    combining, types, used = combining_func(kernel, chunks)
    rooms = range(writes.stop, writes.stop + len(types))
    apart = func if kernel.levels == 1 else below_their_own(func)
    chunked = _prepared(partial_kernel(read_kernel(apart), chunks, length))
    shape = shape_of(chunked)
    schedule = choose(shape)
    if kernel.levels > 1 and "wide" in schedule and not shape.vector_reduced:
        schedule = {**schedule, "below": length}
    partial = build_stage(chunked, schedule, [*reads, *writes, *rooms])
    partial.func.name = f"{func.name}_parts"
    results = [writes[number] for number in combined_results(kernel)]
    combined = _stage(_prepared(read_kernel(combining)), choose, [*rooms, *used, *results])
    known = {chunks: ceil_div(chunked.space.sizes[chunked.space.reduced[0]], length)}
    return Stages(
        func,
        tuple(_settled(stage, known) for stage in (partial, combined)),
        tuple(Tensor(_sizes(type_.shape, known), type_.dtype) for type_ in types),
    )


def _settled(stage: Stage, known: Mapping[Symbol, Size]) -> Stage:
    """The stage with sizes in the place of symbols."""
    reads, writes = (
        tuple(replace(part, shape=_sizes(part.shape, known)) for part in each)
        for each in (stage.reads, stage.writes)
    )
    return Stage(stage.func, reads, writes, _sizes(stage.grid, known))


def _sizes(shape: Shape, known: Mapping[Symbol, Size]) -> Shape:
    return tuple(substitute(size, known) for size in shape)


def _in_place(kernel: Kernel) -> frozenset[tuple[int, int]]:
    """The reads of which each element is read where, and before, that of the write is stored."""
    if kernel.levels:
        return frozenset()
    accesses = [node.access for node in kernel.nodes if node.access is not None]
    return frozenset(
        (read, write)
        for read in range(len(kernel.func.arguments))
        for write, output in enumerate(kernel.outputs)
        if all(
            each.plain and each.at == output.at for each in accesses if each.param.number == read
        )
    )
