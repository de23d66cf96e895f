"""Reading and writing at places that tiles name, and memory changed by many programs.

Comes in: `tile.gather`, `tile.scatter`, `tile.atomic`. Goes out: masked gathers and scatters; where
elements take turns, a loop over them, which local memory hands out one by one.
Never: an access outside of a view.
"""

from collections.abc import Sequence

import numpy as np

from ...ir import loop, tile
from ...ir.declare import Op
from ...ir.dtypes import i64, u64
from ...ir.func import Yield
from ...ir.loop import AtomicKind, BinaryKind, CompareKind
from ...ir.tensor.indexing import Combiner
from ...ir.types import INDEX, Vec
from ...ir.values import AnyValue
from .access import Access, all_lanes
from .binding import Binding, Memory, Rules
from .emitter import Emitter, Index
from .local import spilled
from .refused import Refused
from .registers import Registers, registers
from .when import choose, when

ATOMIC = {
    Combiner.ADD: AtomicKind.ADD,
    Combiner.MINIMUM: AtomicKind.MINIMUM,
    Combiner.MAXIMUM: AtomicKind.MAXIMUM,
}


def addresses(
    binding: Binding, memory: Memory, indices: Sequence[Registers]
) -> tuple[Registers, Registers]:
    """Where the elements at these places stand, and which of them the view shows."""
    emitter, width = binding.emitter, indices[0].width

    def address(*places: AnyValue) -> AnyValue:
        total = emitter.splat(emitter.value(memory.start), width)
        for place, stride in zip(places, memory.strides, strict=True):
            moved = emitter.emit(loop.Cast, place, dtype=i64)
            if stride != 1:
                by = emitter.splat(emitter.value(stride), width)
                moved = emitter.binary(BinaryKind.MULTIPLY, moved, by)
            total = moved if total is zero else emitter.binary(BinaryKind.ADD, total, moved)
        return total

    def inside(*places: AnyValue) -> AnyValue:
        return emitter.all_of(
            [below_size(place, size) for place, size in zip(places, memory.sizes, strict=True)]
        )

    def below_size(place: AnyValue, size: Index) -> AnyValue:
        # Seen as unsigned, what is negative is large.
        unsigned = emitter.emit(loop.Cast, emitter.emit(loop.Cast, place, dtype=i64), dtype=u64)
        end = emitter.emit(loop.Cast, emitter.value(size), dtype=u64)
        return emitter.compare(CompareKind.LESS, unsigned, emitter.splat(end, width))

    zero = emitter.splat(emitter.number(0), width)
    first, *others = indices
    return first.map(address, *others), first.map(inside, *others)


def bind_gather(binding: Binding, op: tile.Gather) -> Registers:
    """A masked gather for each vector."""
    emitter, memory, dtype = binding.emitter, binding.memory(op.view), op.result.dtype
    at, inside = addresses(binding, memory, [binding.tile(each) for each in op.indices])
    padding = op.padding.array

    def part(place: AnyValue, mask: AnyValue) -> AnyValue:
        if at.width > 1:
            outside = emitter.constant(np.full(at.width, padding), dtype)
            return emitter.emit(loop.Gather, memory.buffer, place, mask, outside)
        number = emitter.constant(padding, dtype)
        return choose(
            emitter, mask, lambda: [emitter.emit(loop.Load, memory.buffer, place)], lambda: [number]
        )[0]

    return at.map(part, inside)


def bind_scatter(binding: Binding, op: tile.Scatter) -> tuple[()]:
    """A masked scatter for each vector, or a loop over all elements that are combined."""
    emitter, memory, value = binding.emitter, binding.memory(op.view), binding.tile(op.value)
    at, inside = addresses(binding, memory, [binding.tile(each) for each in op.indices])
    if op.combiner is not Combiner.SET:
        take_turns(binding, memory.buffer, at, value, inside, _atomic_kind(op, op.combiner))
        return ()
    for place, part, mask in zip(at.values, value.values, inside.values, strict=True):
        _put(emitter, memory.buffer, place, part, mask)
    return ()


def _put(
    emitter: Emitter, buffer: AnyValue, place: AnyValue, part: AnyValue, mask: AnyValue
) -> None:
    """Put the lanes of a part where the mask is on."""
    if isinstance(part.type, Vec):
        emitter.emit_all(loop.Scatter, buffer, place, part, mask)
    else:
        when(emitter, mask, lambda: emitter.emit_all(loop.Store, buffer, place, part))


def bind_atomic(binding: Binding, op: tile.Atomic) -> tuple[()]:
    """A loop over the elements of a block."""
    value, kind = binding.tile(op.value), _atomic_kind(op, op.combiner)
    access = Access.of(binding, op.view, op.offsets, value.shape)
    lanes = binding.lanes
    at = registers(value.shape, lanes, [access.indices(place) for place in access.places])
    masks = [access.mask(place) or all_lanes(access) for place in access.places]
    inside = registers(value.shape, lanes, masks)
    take_turns(binding, access.memory.buffer, at, value, inside, kind)
    return ()


def take_turns(
    binding: Binding,
    buffer: AnyValue,
    at: Registers,
    value: Registers,
    inside: Registers,
    kind: AtomicKind,
) -> None:
    """Combine element after element, in row-major order, with what stands at its address."""
    if not value.parts.size:
        return
    emitter, location = binding.emitter, binding.emitter.location
    places, values, masks = (spilled(binding, each).buffer for each in (at, value, inside))
    count = value.parts.size * value.width
    with binding.region([INDEX]) as block:
        (turn,) = block.arguments
        turn.name = "turn"

        def combine() -> None:
            place = emitter.emit(loop.Load, places, turn)
            number = emitter.emit(loop.Load, values, turn)
            emitter.emit_all(loop.Atomic, buffer, place, number, kind=kind)

        when(emitter, emitter.emit(loop.Load, masks, turn), combine)
        emitter.emit_all(Yield, [])
    emitter.location = location
    emitter.emit_all(loop.For, *[emitter.number(each) for each in (0, count, 1)], [], block)


def _atomic_kind(op: Op, combiner: Combiner) -> AtomicKind:
    if combiner not in ATOMIC:
        raise Refused(f"no machine combines by {combiner.value} in one step", op.location)
    return ATOMIC[combiner]


RULES: Rules = {tile.Gather: bind_gather, tile.Scatter: bind_scatter, tile.Atomic: bind_atomic}
