"""A kernel of tiles: the tile func, and its grid.

Comes in: a `Kernel` whose axes are final, and a schedule. Goes out: a tile func, and its grid in
the symbols of the tensor func.
Never: what a program does; `program` writes it, or `streamed`, where vectors run along another axis
than reductions do and the schedule lets a program take a `wide` block of it, or `crossed`.
"""

from collections.abc import Sequence

from .crossed import Crossed
from .emit import Emitter
from .kernel import Kernel
from .late import Begun, when_asked
from .opening import close_func, open_func
from .parts import Part, Stage
from .program import Program
from .schedule import Schedule, parts_of, tiles_of
from .streamed import Streamed

GRID_AXES = 3


def build_stage(kernel: Kernel, schedule: Schedule, arrays: Sequence[int]) -> Stage:
    """A kernel as one stage; `arrays` are the numbers of what it reads and then writes."""
    func, grid = build_program(kernel, schedule)
    count = len(kernel.func.arguments)
    reads = tuple(
        Part(arrays[param.number], param.shape) for param in kernel.params if not param.written
    )
    writes = tuple(
        Part(arrays[count + param.number], param.shape) for param in kernel.params if param.written
    )
    return Stage(func, reads, writes, grid)


@when_asked
def build_program(kernel: Kernel, schedule: Schedule) -> Begun:
    """The tile func of a kernel, and its grid."""
    tiles = tiles_of(kernel, schedule)
    space, last = kernel.space, len(kernel.space.sizes) - 1
    grid_axes, looped = _shared_out(space.parallel)
    wide = _wide(kernel, schedule, tiles)
    blocks = {axis: tiles[axis] for axis in grid_axes} | ({last: wide} if wide else {})
    counts = [(space.sizes[axis], block) for axis, block in blocks.items()]
    if kernel.across is not None:
        counts, grid_axes, looped = [(kernel.across.chunks, 1)], (), space.parallel
    opening = open_func(kernel.func, kernel.params, counts, schedule)
    func, sizes = opening.func, opening.sizes
    steps = [*looped, *space.reduced]
    depths = dict.fromkeys(grid_axes, 0) | {axis: at for at, axis in enumerate(steps, 1)}
    views = dict(zip(kernel.params, sizes.views, strict=True))
    emitter = Emitter(kernel, tiles, sizes, views, depths, len(looped))
    starts = dict(zip(grid_axes, opening.starts, strict=not kernel.across))
    parts = 1 if kernel.chunk is None else parts_of(kernel, schedule)
    writer = Program(kernel, emitter, opening.names, parts)
    if wide:
        writer = Streamed(kernel, emitter, opening.names, wide=wide)
    elif kernel.across is not None:
        writer = Crossed(
            kernel, emitter, opening.names, chunk=opening.starts[0], across=kernel.across
        )

    def write() -> None:
        writer.write(starts, looped)
        close_func(func, sizes.builder)

    certain = all(map(sizes.knows, kernel.asked)) and all(map(opening.names.knows, space.sizes))
    return Begun(func, opening.grid, write, certain)


def _wide(kernel: Kernel, schedule: Schedule, tiles: Sequence[int]) -> int:
    """How many columns a program lets rows stream past, in whole tiles; 0 where none do."""
    last = len(tiles) - 1
    if not kernel.levels or last in kernel.space.reduced:
        return 0
    return -(-schedule.get("wide", 0) // tiles[last]) * tiles[last]


def _shared_out(parallel: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of the grid, and those over which each program loops."""
    if len(parallel) <= GRID_AXES:
        return tuple(parallel), ()
    first, last = tuple(parallel[: GRID_AXES - 1]), parallel[-1]
    return (*first, last), tuple(parallel[GRID_AXES - 1 : -1])
