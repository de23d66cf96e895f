"""Recipes for ops that move elements to places which other elements name."""

from brimstone.ir import dtypes, tensor
from brimstone.ir.attributes import Shape
from brimstone.ir.declare import Op
from brimstone.ir.dims import interval
from brimstone.ir.dtypes import ALL, INTEGERS, NUMBERS, ORDERED, SIGNED, UNSIGNED
from brimstone.ir.tensor.indexing import Combiner, Outside
from brimstone.ir.values import AnyValue
from kit.draft import Draft, require_small
from kit.recipes import recipe

LARGEST_INDEX = 255


@recipe(tensor.Gather)
def draw_gather(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand(ranks=(1, 1, 2, 2, 3, 4))
    batch, axes = _axes(draft, x.shape)
    places, result = _places(draft, x.shape, batch, axes)
    require_small(places, result)
    policies = [Outside.ZERO]
    if _least(x.shape, axes) >= 1:
        policies += [Outside.CLAMP, Outside.ERROR, Outside.ERROR]
    outside = draft.random.choice(policies)
    indices = _indices(draft, places, x.shape, axes, outside)
    return draft.emit(cls, x, indices, axes=axes, batch=batch, outside=outside)


@recipe(tensor.Scatter)
def draw_scatter(draft: Draft, cls: type[Op]) -> object:
    combiner = draft.random.choice(list(Combiner))
    accepted = {Combiner.SET: ALL, Combiner.ADD: NUMBERS, Combiner.MULTIPLY: NUMBERS}
    x = draft.operand(accepted.get(combiner, ORDERED), ranks=(1, 1, 2, 2, 3, 4))
    batch, axes = _axes(draft, x.shape)
    places, result = _places(draft, x.shape, batch, axes)
    require_small(places, result)
    updates = draft.like(result, x.dtype)
    can_fail = _least(x.shape, axes) >= 1 and draft.chance(0.6)
    outside = Outside.ERROR if can_fail else Outside.ZERO
    indices = _indices(draft, places, x.shape, axes, outside)
    named = {"axes": axes, "batch": batch, "combiner": combiner, "outside": outside}
    return draft.emit(cls, x, indices, updates, **named)


def _axes(draft: Draft, shape: Shape) -> tuple[int, tuple[int, ...]]:
    """How many batch axes, and which axes are indexed, in any order."""
    batch = draft.random.randint(0, 1) if len(shape) > 1 else 0
    others = list(range(batch, len(shape)))
    return batch, tuple(draft.random.sample(others, draft.random.randint(1, len(others))))


def _places(draft: Draft, shape: Shape, batch: int, axes: tuple[int, ...]) -> tuple[Shape, Shape]:
    """The shape of the indices, and that of what is read there."""
    free = draft.shape(ranks=(0, 1, 1, 2))
    rest = [size for axis, size in enumerate(shape) if axis >= batch and axis not in axes]
    return (*shape[:batch], *free, len(axes)), (*shape[:batch], *free, *rest)


def _least(shape: Shape, axes: tuple[int, ...]) -> int:
    """What every indexed axis has at least."""
    return min(interval(shape[axis])[0] for axis in axes)


def _indices(
    draft: Draft, places: Shape, shape: Shape, axes: tuple[int, ...], outside: Outside
) -> AnyValue:
    """Any integers where the op takes all, else a remainder that is in range on every axis."""
    if outside is not Outside.ERROR:
        return draft.like(places, draft.dtype(INTEGERS))
    dtype = draft.dtype(UNSIGNED)
    limit = draft.number(min(_least(shape, axes), LARGEST_INDEX), dtype)
    limits = draft.emit(tensor.Broadcast, limit, shape=places)[0]
    inside = draft.emit(tensor.Remainder, draft.like(places, dtype), limits)[0]
    if draft.chance(0.5):
        return inside
    return draft.emit(tensor.Cast, inside, dtype=draft.dtype(SIGNED - {dtypes.i8}))[0]
