"""Loads and stores: a row of a tile is vectors next to each other in memory.

Comes in: views, blocks of them. Goes out: vector loads and stores where the last axis has stride 1,
else gathers and scatters; masked only where neither a proof nor the place in the program says that
all of the block lies inside.
Never: an access outside of a view.
"""

from ...ir import tile
from ...ir.func import Func
from ...ir.types import View
from ...ir.values import AnyValue
from .access import Access
from .ahead import ask_ahead, ask_below, ask_next
from .binding import Binding, Memory, Rules
from .edge_rows import load_rows, many_rows
from .parts import load_part, store_part
from .registers import Registers, registers
from .transpose import swapped


def bind_view(binding: Binding, op: tile.View) -> Memory:
    """The same buffer, from another element on."""
    memory, emitter = binding.memory(op.view), binding.emitter
    offsets = [binding.scalar(offset) for offset in op.offsets]
    moves = [emitter.product(at, by) for at, by in zip(offsets, memory.strides, strict=True)]
    steps = op.steps or (1,) * len(op.axes)
    return Memory(
        memory.buffer,
        emitter.sum(memory.start, *moves),
        tuple([emitter.known(binding.scalar(size)) for size in op.sizes]),
        tuple(
            [
                emitter.product(memory.strides[axis], by)
                for axis, by in zip(op.axes, steps, strict=True)
            ]
        ),
    )


def bind_extent(binding: Binding, op: tile.Extent) -> AnyValue:
    """The size, which came with the view."""
    return binding.emitter.value(binding.memory(op.view).sizes[op.axis])


def load_numbers(func: Func, binding: Binding) -> None:
    """Load the arguments that are one number each, which no program changes.

    An array may be read and written under two names, but only at the same places: as of one rank.
    """
    stores = [op for op in func.walk() if isinstance(op, tile.Store | tile.Scatter | tile.Atomic)]
    if any(_rank(op.view) == 0 for op in stores):
        return
    for view in func.arguments:
        if isinstance(view.type, View) and view.type.rank == 0 and view.uses:
            binding.numbers[view] = binding.emitter.steady(binding.memory(view).buffer)


def _rank(view: AnyValue) -> int:
    """The rank of the array that a view is of, or is a part of."""
    while isinstance(view.op, tile.View):
        view = view.op.view
    return view.type.rank


def bind_load(binding: Binding, op: tile.Load) -> Registers:
    """Vectors of a block; those along another axis than the last are turned in registers."""
    if op.view in binding.numbers:
        return registers((), binding.lanes, [binding.numbers[op.view]])
    access = Access.of(binding, op.view, op.offsets, op.shape)
    turned = access.turned(binding)
    if turned is None:
        ask_ahead(access, op, binding.schedule.get("ahead", 0), len(binding.ranges.grid))
        ask_below(binding, access, op, binding.schedule.get("below", 0))
        return load_block(binding, access, op)
    return swapped(binding, load_block(binding, turned.access, op), turned.axis)


def load_block(binding: Binding, access: Access, op: tile.Load) -> Registers:
    """All parts of a block, with the padding of a load."""
    padding, dtype = op.padding.array, op.result.dtype
    if many_rows(access):
        return load_rows(binding, access, padding, dtype)
    parts = [load_part(access, place, padding, dtype) for place in access.places]
    return registers(access.shape, binding.lanes, parts)


def bind_store(binding: Binding, op: tile.Store) -> tuple[()]:
    """Vectors of a block."""
    value = binding.tile(op.value)
    access = Access.of(binding, op.view, op.offsets, value.shape)
    turned = access.turned(binding)
    if turned is not None:
        access, value = turned.access, swapped(binding, value, turned.axis)
    past_caches = op in binding.past_caches
    for place, part in zip(access.places, value.values, strict=True):
        store_part(access, place, part, past_caches)
    ask_next(access, op, binding.schedule.get("next", 0))
    return ()


RULES: Rules = {
    tile.View: bind_view,
    tile.Extent: bind_extent,
    tile.Load: bind_load,
    tile.Store: bind_store,
}
