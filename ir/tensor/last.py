"""Which of several updates of one place is the last, told from their indices alone.

Comes in: the indices of a `tensor.scatter`. Goes out: axes of the places along which no two are the
same, or, for a few updates, which of them no later one follows at its place.
Never: a look at what is updated.
"""

from math import prod
from typing import Any

from ..builder import Builder
from ..dtypes import i64
from ..values import AnyValue, Op
from .constants import Constant, Iota
from .elementwise import Add, Multiply
from .rules import Term, emit
from .views import Broadcast, Reshape
from .windows import Concat

WIDEST_STEP = 1 << 31
"""Places less far apart than this are other numbers, however many there are."""


def told_apart(indices: AnyValue) -> set[int]:
    """The axes of places along each of which one of the indices counts, and nothing else does."""
    op: Any = indices.op
    is_listed = isinstance(op, Concat) and op.axis == len(indices.type.shape) - 1
    columns = op.tensors if is_listed else (indices,)
    return {axis for axis in map(_counted, columns) if axis is not None}


def last_of_few(builder: Builder, indices: AnyValue, batch: int) -> AnyValue:
    """Whether no later update has the same place: each is compared with each."""
    *shape, columns = indices.type.shape
    lanes, count = tuple(shape[:batch]), prod(shape[batch:])
    places = Term(builder, emit(builder, "reshape", indices, (*lanes, count, columns)))
    whole, own = (*lanes, count, count, columns), tuple(range(batch))
    one, other = (
        places.apply("broadcast", shape=whole, axes=(*own, batch + side, batch + 2))
        for side in (0, 1)
    )
    same = one.apply("equal", other).apply("reduce_and", axes=(batch + 2,))
    first, second = (
        Term(builder, emit(builder, "iota", whole[:-1], batch + side, i64)) for side in (0, 1)
    )
    again = same.apply("bit_and", first.apply("less", second))
    last = again.apply("reduce_or", axes=(batch + 1,)).apply("bit_not")
    return emit(builder, "reshape", last.value, tuple(shape))


def _counted(value: AnyValue) -> int | None:
    """The only axis along which numbers change, if they are those of places at equal steps."""
    op = value.op
    if value.type.dtype is not i64:
        return None
    if isinstance(op, Iota):
        return op.axis
    if isinstance(op, Broadcast):
        axis = _counted(op.x)
        return None if axis is None or op.axes[axis] not in op.kept else op.axes[axis]
    if isinstance(op, Reshape):
        return _counted(op.x) if op.shape == (*op.x.shape, 1) else None
    return _moved(op)


def _moved(op: Op | None) -> int | None:
    """The same, where places are moved, or drawn apart."""
    if not isinstance(op, Add | Multiply):
        return None
    for x, other in ((op.left, op.right), (op.right, op.left)):
        if _is_step(other) if isinstance(op, Multiply) else _is_one_number(other):
            return _counted(x)
    return None


def _is_one_number(value: AnyValue) -> bool:
    return not value.type.shape or (isinstance(value.op, Broadcast) and not value.op.x.shape)


def _is_step(value: AnyValue) -> bool:
    """Whether all numbers are the same one, known, and not 0."""
    op = value.op.x.op if isinstance(value.op, Broadcast) else value.op
    if not isinstance(op, Constant):
        return False
    numbers = {int(each) for each in op.value.array.flat}
    return len(numbers) == 1 and 0 < abs(numbers.pop()) < WIDEST_STEP
