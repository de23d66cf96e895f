"""What is asked for before it is needed, in kernels whose operands come from memory.

Comes in: a load of a block, the schedule's `ahead`. Goes out: a hint for each line of the caches
that stands so many bytes behind the block. A processor looks only a few iterations ahead, and where
each of them is long, as of a GELU, its own guesses came too late: 16 Mi elements took 23 ms on an
Intel core, and take 7.
Never: a hint where a block may stick out: there the view ends.
"""

from ...ir import loop, tile
from ...ir.shared.lines import LINE
from ...ir.values import AnyValue, Block
from .access import Access


def ask_ahead(access: Access, op: tile.Load, bytes_: int) -> None:
    """Hints of what stands so far behind a block of an argument, in its rows' direction."""
    if not bytes_ or access.sides or access.width == 1 or not access.contiguous:
        return
    if not isinstance(_whole(op.view).owner, Block):  # what a program keeps is near
        return
    emitter, itemsize = access.emitter, op.view.dtype.storage.itemsize
    for place in access.places:
        if place[-1] * access.width * itemsize % LINE == 0:
            at = emitter.moved(access.address(place), bytes_ // itemsize)
            emitter.emit_all(loop.Prefetch, access.memory.buffer, emitter.value(at))


def _whole(view: AnyValue) -> AnyValue:
    """The view that this one is a part of."""
    while isinstance(view.op, tile.View):
        view = view.op.view
    return view
