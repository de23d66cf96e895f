"""At which places the views of a kernel of tiles are read and written.

Comes in: a kernel of tiles. Goes out: which of its arguments may be written in the memory of which
others, and whether it is but a copy.
Never: a promise about a kernel that was written by hand, whose programs may meet.
"""

from collections.abc import Iterator

from ..ir import tile
from ..ir.dims import ceil_div
from ..ir.func import Func
from ..ir.shared.kinds import BinaryKind
from ..ir.values import AnyValue, Op

Pairs = frozenset[tuple[int, int]]
"""Arguments of a kernel, of which the second may be written in the memory of the first."""


def pairs_of(kernel: Func) -> Iterator[tuple[int, int]]:
    """The views of a kernel of tiles of which each element is stored once, right after those are
    loaded that stand at the same place of others."""
    if "tile" not in kernel.attributes:  # written by hand: its programs may meet
        return
    told = _told(kernel)
    for written, view in enumerate(kernel.arguments):
        stores = _uses(view)
        if len(stores) != 1 or not isinstance(stores[0], tile.Store):
            continue
        store = stores[0]
        if not _is_stored_once(kernel, store, told):
            continue
        for read, other in enumerate(kernel.arguments):
            loads = _uses(other)
            if loads and all(_is_before(op, store) for op in loads):
                yield read, written


def is_copy(kernel: Func) -> bool:
    """Whether a kernel puts all elements of its first array, in order, into its second one."""
    if "tile" not in kernel.attributes or len(kernel.arguments) != 2:
        return False
    (*loads,), (*stores,) = map(_uses, kernel.arguments)
    if len(loads) != 1 or len(stores) != 1:
        return False
    (load,), (store,) = loads, stores
    return (
        isinstance(store, tile.Store)
        and store.block is kernel.body
        and _is_before(load, store)
        and store.value is load.results[0]
        and _shows_all(kernel, store)
    )


def _shows_all(kernel: Func, store: tile.Store) -> bool:
    """Whether programs store tiles of one axis side by side, up to its end."""
    size, grid = store.view.type.facts.get("size"), kernel.attributes.get("grid")
    if not size or len(size) != 1 or len(store.offsets) != 1:
        return False
    (width,), at = store.value.type.shape, store.offsets[0].op
    if not isinstance(at, tile.Binary) or at.kind is not BinaryKind.MULTIPLY:
        return False
    program, factor = at.left.op, at.right.op
    return (
        isinstance(program, tile.ProgramId)
        and program.axis == 0
        and isinstance(factor, tile.Constant)
        and factor.value.array == width
        and grid == (ceil_div(size[0], width),)
    )


def _uses(view: AnyValue) -> list[Op]:
    """What looks at the elements of a view."""
    return [op for op in view.uses if not isinstance(op, tile.Extent)]


def _is_before(op: Op, store: tile.Store) -> bool:
    """Whether an op loads what stands where a store is about to write."""
    return (
        isinstance(op, tile.Load)
        and op.block is store.block
        and op.order < store.order
        and op.offsets == store.offsets
        and op.shape == store.value.type.shape
    )


def _is_stored_once(kernel: Func, store: tile.Store, told: dict[AnyValue, set[object]]) -> bool:
    """Whether each program, and each round of the loops around it, stores at places of its own."""
    grid = kernel.attributes.get("grid") or ()
    needed: set[object] = {axis for axis, count in enumerate(grid) if count != 1}
    op = store.block and store.block.parent_op
    while op is not None:
        needed.update(region for region in op.regions if region.arguments)
        op = op.block and op.block.parent_op
    return needed <= set[object]().union(*[told.get(each, ()) for each in store.offsets])


def _told(kernel: Func) -> dict[AnyValue, set[object]]:
    """On which axes of the grid, and on which rounds of loops, each value depends."""
    told: dict[AnyValue, set[object]] = {}
    for op in kernel.walk():
        known = {each for operand in op.operands for each in told.get(operand, ())}
        if isinstance(op, tile.ProgramId):
            known.add(int(op.axis))
        for value in op.results:
            told[value] = known
        for region in op.regions:
            inner = {*known, region}
            for value in region.arguments:
                told[value] = inner
    return told
