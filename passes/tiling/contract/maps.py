"""Maps of a kernel, computed for one block of a matrix at a time.

Comes in: a kernel of maps, and which of its axes are those of the batch, of rows, of columns. Goes
out: an `Emitter` that stands at a block, to be told what is known there and asked for the rest.
Never: a reduction, or a store.
"""

from collections.abc import Mapping, Sequence

from ....ir.dtypes import DType, i64
from ....ir.values import AnyValue
from ..emit import Emitter, Scope
from ..kernel import Kernel, Param
from ..merge import merge_axes
from ..space import Refused
from ..writer import Writer

Along = Sequence[tuple[int, ...]]
"""The axes of a space that are the batch, the rows and the columns."""


def merge_roles(kernel: Kernel, roles: Mapping[int, str], names: Sequence[str]) -> Along:
    """Merge the axes of each role as far as may be; `roles` lists them in the matrix's order. The
    new axes of each role."""
    if len(roles) < len(kernel.space.sizes) or kernel.levels:
        raise Refused("a matrix is reduced, or repeated, by a kernel of its own")
    changes = {axis for axis in roles if axis and roles[axis] != roles[axis - 1]}
    merged = merge_axes(kernel, changes)
    return [
        tuple(dict.fromkeys(merged[axis] for axis, mine in roles.items() if mine == role))
        for role in names
    ]


def is_wider(kernel: Kernel, wide: DType) -> bool:
    """Whether maps hold wider numbers than sums: fewer of them fit into a vector, and all vectors
    of a kernel have as many lanes."""
    dtypes = {node.value.dtype for node in kernel.nodes if node.axes} - {i64}
    return any(dtype.itemsize > wide.itemsize for dtype in dtypes)


def read_by(kernel: Kernel) -> list[Param]:
    """What a kernel reads; an array that nobody reads is not among them."""
    used = {node.access.param for node in kernel.nodes if node.access is not None}
    return [each for each in kernel.params if each in used]


def standing_at(
    writer: Writer,
    kernel: Kernel,
    along: Along,
    views: Mapping[Param, AnyValue],
    place: Sequence[AnyValue],
    counts: Sequence[int],
) -> Emitter:
    """An emitter at a place (which matrix, which row, which column) for a block of so many rows and
    columns."""
    sizes = kernel.space.sizes
    tiles, starts = [1] * len(sizes), dict[int, AnyValue]()
    for axes, count, start in zip(along, (1, *counts), place, strict=True):
        at = start
        for axis in axes[-1:]:
            tiles[axis] = count
        for axis in reversed(axes[1:]):
            size = writer.size(sizes[axis])
            above = writer.divide(at, size)
            starts[axis] = writer.subtract(at, writer.multiply(above, size))
            at = above
        starts.update(dict.fromkeys(axes[:1], at))
    depths = dict.fromkeys(range(len(sizes)), 1)
    emitter = Emitter(kernel, tuple(tiles), writer.sizes, {**views}, depths, 0)
    emitter.scopes += [Scope(writer.builders[0], {}), Scope(writer.builders[-1], starts)]
    return emitter
