"""One part of a block: a vector next to each other in memory, or one number.

Comes in: a block of a view, the place of a part in it. Goes out: a vector load or store where the
last axis has stride 1, else a gather or scatter; with a mask where the block may stick out.
Never: an access outside of a view.
"""

import numpy as np

from ...ir import loop
from ...ir.dtypes import DType
from ...ir.payloads import Array
from ...ir.values import AnyValue
from .access import Access, all_lanes, is_always
from .registers import Shape
from .when import choose, when

Whole = type[loop.StoreVector | loop.StorePastCaches]
"""How a vector is stored all of whose lanes count."""


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
    else:
        vector = _in_memory(access, part)
        whole = loop.StorePastCaches if past_caches else loop.StoreVector
        if mask is None:
            emitter.emit_all(whole, buffer, _first(access, place), vector)
        else:
            _store_lanes(access, place, vector, _in_memory(access, mask), whole)


def _store_lanes(
    access: Access, place: Shape, vector: AnyValue, mask: AnyValue, whole: Whole
) -> None:
    """Store what a mask says of a vector. Where that takes longer than a whole one, as it does on
    Zen 3 (6 ns), a whole one is stored as such, and an empty one not at all: x[8192, 29] * 2 + b
    takes half the time."""
    emitter, buffer, at = access.emitter, access.memory.buffer, _first(access, place)

    def some() -> None:
        emitter.emit_all(loop.StoreMasked, buffer, at, vector, mask)

    def others() -> list[AnyValue]:
        some() if one is None else when(emitter, one, some)
        return []

    every, one = (None, None) if access.masked else access.lies_inside(place)
    if every is None:
        some()
    else:
        choose(emitter, every, lambda: emitter.emit_all(whole, buffer, at, vector), others)


def _store_number(access: Access, place: Shape, part: AnyValue, mask: AnyValue | None) -> None:
    emitter, buffer = access.emitter, access.memory.buffer
    at = emitter.value(access.address(place))
    if mask is None:
        emitter.emit_all(loop.Store, buffer, at, part)
    else:
        when(emitter, mask, lambda: emitter.emit_all(loop.Store, buffer, at, part))
