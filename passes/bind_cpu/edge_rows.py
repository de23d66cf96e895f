"""Blocks of many rows at the edge of a view: a loop reads row after row into local memory.

Comes in: a block of which some rows may lie outside. Goes out: the block in registers, which local
memory has without a question of any row: code that is short, and as quick, for what few blocks are.
Never: a block in the interior, which is read where it stands.
"""

from math import prod

from ...ir import loop
from ...ir.dtypes import DType
from ...ir.func import Yield
from ...ir.payloads import Array
from ...ir.types import INDEX
from .access import Access
from .binding import Binding
from .emitter import Index
from .local import load_whole, local_memory
from .parts import load_part, store_part
from .registers import Registers

MANY = 16
"""From how many rows on a loop is shorter than rows that are written out."""


def many_rows(access: Access) -> bool:
    """Whether a block has many rows, along one axis, that may lie outside."""
    *rows, _ = access.shape or (1,)
    asked = [side.axis for side in access.sides if side.axis < len(rows)]
    return access.width > 1 and any([MANY <= rows[axis] == prod(rows) for axis in asked])


def load_rows(binding: Binding, access: Access, padding: Array, dtype: DType) -> Registers:
    """The block, of which a loop has read the rows."""
    *rows, last = access.shape
    axis = rows.index(max(rows))
    emitter, location = binding.emitter, binding.emitter.location
    read = local_memory(binding, access.shape, dtype)
    shape = (*[1 for _ in rows], last)
    with binding.region([INDEX]) as block:
        (number,) = block.arguments
        number.name = "row"
        offsets, places = list(access.offsets), list[Index]([0] * len(access.shape))
        offsets[axis], places[axis] = emitter.sum(offsets[axis], number), number
        from_view = Access(binding, access.memory, offsets, access.sides, shape)
        to_read = Access(binding, read, places, [], shape)
        for place in from_view.places:
            store_part(to_read, place, load_part(from_view, place, padding, dtype))
        emitter.emit_all(Yield, [])
    emitter.location = location
    bounds = [emitter.number(each) for each in (0, rows[axis], 1)]
    emitter.emit_all(loop.For, *bounds, [], block)
    return load_whole(binding, read, [0] * len(access.shape), access.shape)
