"""Recipes for ops that combine many elements: reductions, scans, sorts, contractions, attention."""

import numpy as np

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import ALL, FLOATS, INTEGERS, NUMBERS, ORDERED, DType
from brimstone.ir.func import Yield
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue, Block
from kit.draft import Draft, Unsuitable, largest_of, require_small, volume
from kit.recipes import recipe

ONE_OR_MORE = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5)
MOST_PRODUCTS = 1 << 16
HEADS = ((1, 1), (2, 1), (2, 2), (4, 2))


@recipe(tensor.reduce.Reduction)
def draw_reduction(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand(_accepted(cls))
    axes = tuple(axis for axis in range(len(x.shape)) if draft.chance(0.5))
    return draft.emit(cls, x, axes=axes)


@recipe(tensor.scan.Scan)
def draw_scan(draft: Draft, cls: type[Op]) -> object:
    """At times both ways round: two ops that differ in an attribute only."""
    x = draft.operand(_accepted(cls), ONE_OR_MORE)
    axis, reverse = _axis(draft, x), draft.chance(0.4)
    if draft.chance(0.2):
        draft.emit(cls, x, axis=axis, reverse=not reverse)
    return draft.emit(cls, x, axis=axis, reverse=reverse)


@recipe(tensor.arg_reduce.ArgReduction)
def draw_place(draft: Draft, cls: type[Op]) -> object:
    """In a dtype that can count to the end of the axis."""
    x = draft.operand(_accepted(cls), ONE_OR_MORE, least=1)
    axis = _axis(draft, x)
    wide = {each for each in INTEGERS if np.iinfo(each.storage).max >= largest_of(x.shape[axis])}
    return draft.emit(cls, x, axis=axis, dtype=draft.dtype(wide))


@recipe(tensor.Sort)
def draw_sort(draft: Draft, cls: type[Op]) -> object:
    first = draft.operand(ORDERED, ONE_OR_MORE)
    keys = [first] + [draft.like(first.shape, draft.dtype(ORDERED)) for _ in range(_few(draft))]
    others = [draft.like(first.shape, draft.dtype(ALL)) for _ in range(_few(draft))]
    axis = _axis(draft, first)
    whole = first.shape[axis]
    count = draft.random.randint(0, whole) if isinstance(whole, int) else whole
    named = {"count": count} if draft.chance(0.3) else {}
    descending = draft.chance(0.4)
    return draft.emit(cls, keys + others, axis=axis, keys=len(keys), descending=descending, **named)


@recipe(tensor.Contract)
def draw_contract(draft: Draft, cls: type[Op]) -> object:
    """Each axis of the left is a batch axis, or summed, or free; the right has what these need."""
    left = draft.operand(NUMBERS, (0, 1, 2, 2, 2, 3, 3, 4))
    roles = [draft.random.choice(("batch", "sum", "sum", "free")) for _ in left.shape]
    paired = [axis for axis, role in enumerate(roles) if role != "free"]
    free = draft.shape(ranks=(0, 1, 1, 2))
    source: list[int | None] = [*paired, *(None for _ in free)]
    draft.random.shuffle(source)
    others = iter(free)
    shape = tuple(next(others) if axis is None else left.shape[axis] for axis in source)
    summed = [axis for axis in paired if roles[axis] == "sum"]
    batch = [axis for axis in paired if roles[axis] == "batch"]
    result = [size for axis, size in enumerate(left.shape) if axis not in summed] + list(free)
    require_small(shape, result)
    if volume(result) * volume([left.shape[axis] for axis in summed]) > MOST_PRODUCTS:
        raise Unsuitable("too many products")
    return draft.emit(
        cls,
        left,
        draft.like(shape, left.dtype),
        tuple(batch),
        tuple(source.index(axis) for axis in batch),
        tuple(summed),
        tuple(source.index(axis) for axis in summed),
        _of_kind(draft, left.dtype),
    )


@recipe(tensor.Convolve)
def draw_convolve(draft: Draft, cls: type[Op]) -> object:
    """Small windows over up to three axes."""
    dtype = draft.dtype(NUMBERS)
    space = draft.random.choice((0, 1, 1, 2, 2, 3))
    groups, inputs, outputs = (draft.random.choice((1, 1, 2)) for _ in range(3))
    sizes = draft.shape(ranks=(space,)) if space < 3 else (3, 2, 4)
    shape = (draft.random.choice((0, 1, 2)), groups * inputs, *sizes)
    kernel = (groups * outputs, inputs, *(draft.random.randint(1, 3) for _ in range(space)))

    def each(*choices: int) -> tuple[int, ...]:
        return tuple(draft.random.choice(choices) for _ in range(space))

    low, high = each(0, 0, 1), each(0, 1, 2)
    strides, dilation, apart = each(1, 1, 2), each(1, 1, 2), each(1, 1, 2)
    field = [size * by + 3 for size, by in zip(sizes, dilation, strict=True)]
    require_small(shape, (shape[0], max(shape[1], kernel[0]), *field))
    return draft.emit(
        cls,
        draft.like(shape, dtype),
        draft.like(kernel, dtype),
        strides=strides,
        low=low,
        high=high,
        input_dilation=dilation,
        kernel_dilation=apart,
        groups=groups,
        dtype=_of_kind(draft, dtype),
    )


@recipe(tensor.Attention)
def draw_attention(draft: Draft, cls: type[Op]) -> object:
    """A few heads, and a score region of some ops that reads its captures."""
    query, key, value, scores = _heads(draft)
    captures = [draft.operand() for _ in range(_few(draft))]
    score = _change(draft, [scores, *(capture.type for capture in captures)])
    return draft.emit(cls, query, key, value, captures, _scale(draft), score)


@recipe(tensor.AttentionBackward)
def draw_attention_backward(draft: Draft, cls: type[Op]) -> object:
    """The same, and a region that changes a gradient by what it is handed besides."""
    query, key, value, scores = _heads(draft)
    captures = [draft.operand() for _ in range(_few(draft))]
    taken = [scores, *(capture.type for capture in captures)]
    rows = [draft.like(scores.shape[:3], scores.dtype) for _ in range(3)]
    cotangent = draft.like((*scores.shape[:3], value.shape[3]), value.dtype)
    regions = _change(draft, taken), _change(draft, [*taken, scores], more=draft.chance(0.5))
    *known, delta = rows
    operands = query, key, value, *known, cotangent, delta
    return draft.emit(cls, *operands, captures, _scale(draft), *regions)


def _heads(draft: Draft) -> tuple[AnyValue, AnyValue, AnyValue, Tensor]:
    """Query, key and value of a few heads, and the type of their scores."""
    dtype = draft.dtype(FLOATS)
    heads, shared = draft.random.choice(HEADS)
    batch, rows, columns = draft.random.choice((1, 1, 2)), draft.size(), draft.size()
    width, depth = draft.random.choice((1, 2, 4)), draft.random.choice((1, 3, 4))
    scores = Tensor((batch, heads, rows, columns), dtype.accumulator)
    require_small(scores.shape, (batch, heads, columns, 4), (batch, heads, rows, 4))
    query = draft.like((batch, heads, rows, width), dtype)
    key = draft.like((batch, shared, columns, width), dtype)
    value = draft.like((batch, shared, columns, depth), _value_dtype(draft, dtype))
    return query, key, value, scores


def _change(draft: Draft, types: list[Tensor], more: bool = False) -> Block:
    """A region that changes scores by some numbers; with `more` it yields these too."""
    with draft.region(types) as region:
        block = region.builder.block
        region.grow(region, draft.random.randint(0, 3))
        change = draft.random.choice((tensor.Add, tensor.Maximum, tensor.Multiply))
        by = region.like(types[0].shape, types[0].dtype)
        (scored,) = region.emit(change, block.arguments[0], by)
        region.builder.emit_all(Yield, [scored, by] if more else [scored])
    return block


def _scale(draft: Draft) -> float:
    return draft.random.choice((1.0, 0.5, -1.0, 0.1))


def _accepted(cls: type[Op]) -> frozenset[DType]:
    """The dtypes that an op's first operand may have."""
    return cls.operand_fields[0].rule.dtypes or ALL


def _axis(draft: Draft, x: AnyValue) -> int:
    return draft.random.randrange(len(x.shape))


def _few(draft: Draft) -> int:
    return draft.random.choice((0, 0, 1, 2))


def _of_kind(draft: Draft, dtype: DType) -> DType:
    """What sums of this dtype may be kept in."""
    if dtype in INTEGERS:
        return draft.dtype(INTEGERS)
    return draft.dtype([each for each in NUMBERS if each.kind is dtype.kind])


def _value_dtype(draft: Draft, dtype: DType) -> DType:
    return draft.dtype([each for each in FLOATS if each.accumulator is dtype.accumulator])
