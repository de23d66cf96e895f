"""Which blocks the copy engine moves: those of views that a descriptor can tell of.

Comes in: loads and stores of a func whose schedule says `descriptors: true`. Goes out: the shape of
the block, or None.
Never: a fact that is not stated: a descriptor wants aligned rows, and pads with zeros alone.
"""

from typing import TYPE_CHECKING

from ...ir import tile
from ...ir.tile.base import sizes_of
from ...ir.types import View
from ...ir.values import Op

if TYPE_CHECKING:
    from .writer import Shape, Writer

ALIGNMENT = 16
"""In bytes, of addresses and of all strides but the last."""
WIDTHS = (8, 16, 32)
MAX_RANK, MAX_BLOCK = 5, 256


def block_of(writer: "Writer", op: Op) -> "Shape | None":
    """The shape of the block that a descriptor moves for an op, if one can."""
    if not writer.func.attributes.get("descriptors") or not isinstance(op, tile.Load | tile.Store):
        return None
    return writer.once(("block", op), lambda: _find(writer, op))


def _find(writer: "Writer", op: tile.Load | tile.Store) -> "Shape | None":
    moved = op.result if isinstance(op, tile.Load) else op.value
    shape = sizes_of(moved.type)
    if isinstance(op, tile.Load) and any(op.padding.array.tobytes()):
        return None
    able = (
        op.view in writer.func.arguments
        and is_regular(op.view.type)
        and _is_block(shape, op.view.type)
        and all(writer.widths.block_fits(*each) for each in zip(op.offsets, shape, strict=True))
    )
    return shape if able else None


def is_regular(type_: View) -> bool:
    """Whether the facts of a view say that the copy engine can read it."""
    facts, size = type_.facts, type_.dtype.itemsize
    if not 1 <= type_.rank <= MAX_RANK or type_.dtype.bits not in WIDTHS:
        return False
    strides = facts.get("stride_multiple", (1,) * type_.rank)[:-1]
    return (
        facts.get("unit_stride") == type_.rank - 1
        and facts.get("align", 1) % ALIGNMENT == 0
        and all(stride * size % ALIGNMENT == 0 for stride in strides)
    )


def _is_block(shape: "Shape", type_: View) -> bool:
    """Whether a block is neither too long nor, along the last axis, too short."""
    return max(shape) <= MAX_BLOCK and shape[-1] * type_.dtype.itemsize >= ALIGNMENT
