"""Recipes for views: ops that only say where an element stands."""

from math import prod

from brimstone.ir import tensor
from brimstone.ir.attributes import Shape
from brimstone.ir.declare import Op
from brimstone.ir.dims import Size, interval
from brimstone.ir.payloads import payload
from kit import special
from kit.draft import Draft, require_small
from kit.recipes import recipe

ONE_OR_MORE = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5)


@recipe(tensor.Reshape)
def draw_reshape(draft: Draft, cls: type[Op]) -> object:
    """Join neighbouring axes, split static ones, and put in or leave out ones."""
    x = draft.operand()
    shape = list(x.shape)
    for _ in range(draft.random.randint(1, 3)):
        draft.random.choice((_join, _split, _put_one, _drop_one))(draft, shape)
    return draft.emit(cls, x, shape=tuple(shape))


def _join(draft: Draft, shape: list[Size]) -> None:
    if len(shape) >= 2:
        at = draft.random.randrange(len(shape) - 1)
        shape[at : at + 2] = [prod(shape[at : at + 2])]


def _split(draft: Draft, shape: list[Size]) -> None:
    for at, size in enumerate(shape):
        if isinstance(size, int) and size > 1 and len(shape) < 8:
            divisors = [each for each in (2, 3, 5, 7) if size % each == 0] or [size]
            factor = draft.random.choice(divisors)
            shape[at : at + 1] = [factor, size // factor]
            return


def _put_one(draft: Draft, shape: list[Size]) -> None:
    if len(shape) < 8:
        shape.insert(draft.random.randint(0, len(shape)), 1)


def _drop_one(draft: Draft, shape: list[Size]) -> None:
    if 1 in shape:
        shape.remove(1)


@recipe(tensor.Permute)
def draw_permute(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand()
    axes = list(range(len(x.shape)))
    draft.random.shuffle(axes)
    return draft.emit(cls, x, axes=tuple(axes))


@recipe(tensor.Broadcast)
def draw_broadcast(draft: Draft, cls: type[Op]) -> object:
    """Axes of size 1 grow, and new axes come in between."""
    x = draft.operand()
    sizes = [draft.size() if size == 1 and draft.chance(0.7) else size for size in x.shape]
    axes: list[int] = list(range(len(sizes)))
    while len(sizes) < 8 and draft.chance(0.5):
        at = draft.random.randint(0, len(sizes))
        sizes.insert(at, draft.size())
        axes = [axis + (axis >= at) for axis in axes]
    require_small(sizes)
    return draft.emit(cls, x, shape=tuple(sizes), axes=tuple(axes))


@recipe(tensor.Slice)
def draw_slice(draft: Draft, cls: type[Op]) -> object:
    """Static axes anywhere with any step; of symbolic ones the whole, or all but a known part."""
    x = draft.operand(ranks=ONE_OR_MORE)
    axes = [_part(draft, size) for size in x.shape]
    start, size, step = (tuple(each) for each in zip(*axes, strict=True))
    return draft.emit(cls, x, start=start, size=size, step=step)


def _part(draft: Draft, size: Size) -> tuple[Size, Size, int]:
    least = interval(size)[0]
    if not isinstance(size, int):
        away = draft.random.randint(0, max(least, 0))
        return away, size - away, 1
    start = draft.random.randint(0, size)
    step = draft.random.choice((1, 1, 2, 3))
    return start, draft.random.randint(0, -(-(size - start) // step)), step


@recipe(tensor.Pad)
def draw_pad(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand(ranks=ONE_OR_MORE)
    low = tuple(draft.random.choice((0, 0, 1, 2)) for _ in x.shape)
    high = tuple(draft.random.choice((0, 0, 1, 3)) for _ in x.shape)
    interior = tuple(draft.random.choice((0, 0, 0, 1, 2)) for _ in x.shape)
    sizes = [
        before + size * (1 + inner) + after + inner
        for size, before, after, inner in zip(x.shape, low, high, interior, strict=True)
    ]
    require_small(sizes)
    value = payload(special.array(draft.random, x.dtype, ()), x.dtype)
    return draft.emit(cls, x, low=low, high=high, interior=interior, value=value)


@recipe(tensor.Flip)
def draw_flip(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand()
    axes = tuple(axis for axis in range(len(x.shape)) if draft.chance(0.5))
    return draft.emit(cls, x, axes=axes)


@recipe(tensor.Concat)
def draw_concat(draft: Draft, cls: type[Op]) -> object:
    """Several parts, which differ along the axis alone."""
    x = draft.operand(ranks=ONE_OR_MORE)
    axis = draft.random.randrange(len(x.shape))
    shapes = [x.shape]
    for _ in range(draft.random.randint(0, 2)):
        size = draft.random.choice((x.shape[axis], draft.size()))
        shapes.append(_with_axis(x.shape, axis, size))
    total = sum((shape[axis] for shape in shapes), start=0)
    require_small(_with_axis(x.shape, axis, total))
    parts = [x, *(draft.like(shape, x.dtype) for shape in shapes[1:])]
    return draft.emit(cls, parts, axis=axis)


def _with_axis(shape: Shape, axis: int, size: Size) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])
