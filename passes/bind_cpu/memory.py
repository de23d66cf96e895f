"""Loads and stores: a row of a tile is vectors next to each other in memory.

Comes in: views, blocks of them. Goes out: vector loads and stores where the last axis has stride 1,
else gathers and scatters; masked only where neither a proof nor the place in the program says that
all of the block lies inside.
Never: an access outside of a view.
"""

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.payloads import Array
from ...ir.types import View
from ...ir.values import AnyValue
from .access import Access, all_lanes, is_always
from .binding import Binding, Memory, Rules
from .registers import Registers, Shape, registers
from .transpose import swapped
from .when import choose, when


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
        return load_block(binding, access, op)
    return swapped(binding, load_block(binding, turned.access, op), turned.axis)


def load_block(binding: Binding, access: Access, op: tile.Load) -> Registers:
    """All parts of a block, with the padding of a load."""
    padding, dtype = op.padding.array, op.result.dtype
    parts = [load_part(access, place, padding, dtype) for place in access.places]
    return registers(access.shape, binding.lanes, parts)


def load_part(access: Access, place: Shape, padding: Array, dtype: DType) -> AnyValue:
    """One part of a block; the padding where it lies outside."""
    emitter, buffer, mask = access.emitter, access.memory.buffer, access.mask(place)
    if access.width == 1:
        return _load_number(access, place, padding, dtype, mask)
    if not (access.contiguous or access.backwards):
        every = mask if mask is not None else all_lanes(access)
        outside = emitter.constant(np.full(access.width, padding), dtype)
        return emitter.emit(loop.Gather, buffer, access.indices(place), every, outside)
    at = _first(access, place)
    if mask is None:
        made = emitter.emit(loop.LoadVector, buffer, at, lanes=access.width)
    else:
        outside = emitter.constant(np.full(access.width, padding), dtype)
        made = emitter.emit(loop.LoadMasked, buffer, at, _in_memory(access, mask), outside)
    return _in_memory(access, made)


def _first(access: Access, place: Shape) -> AnyValue:
    """Where the lane of a part stands that comes first in memory."""
    address, emitter = access.address(place), access.emitter
    return emitter.value(emitter.sum(address, 1 - access.width) if access.backwards else address)


def _in_memory(access: Access, vector: AnyValue) -> AnyValue:
    """Lanes in the order of memory, or back in their own."""
    if not access.backwards:
        return vector
    lanes = tuple(reversed(range(access.width)))
    return access.emitter.emit(loop.Shuffle, vector, lanes=lanes)


def _load_number(
    access: Access, place: Shape, padding: Array, dtype: DType, mask: AnyValue | None
) -> AnyValue:
    emitter, buffer = access.emitter, access.memory.buffer
    at = emitter.value(access.address(place))
    if mask is None:
        return emitter.emit(loop.Load, buffer, at)
    outside = emitter.constant(padding, dtype)
    (made,) = choose(
        emitter, mask, lambda: [emitter.emit(loop.Load, buffer, at)], lambda: [outside]
    )
    return made


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
    return ()


def store_part(access: Access, place: Shape, part: AnyValue, past_caches: bool = False) -> None:
    """Store what of a part lies inside; whole vectors perhaps past the caches."""
    emitter, buffer, mask = access.emitter, access.memory.buffer, access.mask(place)
    if mask is not None and is_always(mask, False):
        return
    if access.width == 1:
        _store_number(access, place, part, mask)
    elif not (access.contiguous or access.backwards):
        every = mask if mask is not None else all_lanes(access)
        emitter.emit_all(loop.Scatter, buffer, access.indices(place), part, every)
    elif mask is None:
        at = _first(access, place)
        op = loop.StorePastCaches if past_caches else loop.StoreVector
        emitter.emit_all(op, buffer, at, _in_memory(access, part))
    else:
        at, value = _first(access, place), _in_memory(access, part)
        emitter.emit_all(loop.StoreMasked, buffer, at, value, _in_memory(access, mask))


def _store_number(access: Access, place: Shape, part: AnyValue, mask: AnyValue | None) -> None:
    emitter, buffer = access.emitter, access.memory.buffer
    at = emitter.value(access.address(place))
    if mask is None:
        emitter.emit_all(loop.Store, buffer, at, part)
    else:
        when(emitter, mask, lambda: emitter.emit_all(loop.Store, buffer, at, part))


RULES: Rules = {
    tile.View: bind_view,
    tile.Extent: bind_extent,
    tile.Load: bind_load,
    tile.Store: bind_store,
}
