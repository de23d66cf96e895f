"""Which sizes a step cannot have, since it would read outside of its tensors.

Comes in: a func of the tensor floor whose sizes are open. Goes out: its `Limit`s, which are looked
at where sizes become known, before anything runs: kernels trust them.
Never: a part of a tensor that lies within it whatever the sizes are; nor one in a region, which may
not run.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..ir import tensor
from ..ir.dims import Size, interval
from ..ir.errors import ExecutionError
from ..ir.facts import Facts
from ..ir.func import Func
from ..ir.tensor.windows import not_within
from ..ir.values import Op
from .sizes import Numbers

BOUNDS_OF_SYMBOLS = Facts()


class Limit(NamedTuple):
    """`size` elements from `start` on, so many apart, lie within an axis of a slice's tensor."""

    op: Op
    axis: int
    extent: Size
    start: Size
    size: Size
    step: int


def limits_of(func: Func) -> list[Limit]:
    """What of a func is not certain."""
    slices = [op for op in func.body if isinstance(op, tensor.Slice)]
    return [limit for op in slices for limit in _limits_of(op) if not _is_certain(limit)]


def check(limits: Iterable[Limit], numbers: Numbers) -> None:
    """Refuse sizes with which something would lie outside."""
    for op, axis, *sizes, step in limits:
        extent, start, size = [numbers[each] for each in sizes]
        end = start + (size - 1) * step + 1 if size else start
        if start < 0 or size < 0 or end > extent:
            problem = not_within(axis, extent, start, size, step)
            raise ExecutionError(f"{op.name}: {problem}", op.location)


def _limits_of(op: tensor.Slice) -> Iterator[Limit]:
    parts = zip(op.x.shape, op.start, op.size, op.step, strict=True)
    for axis, part in enumerate(parts):
        yield Limit(op, axis, *part)


def _is_certain(limit: Limit) -> bool:
    _, _, extent, start, size, step = limit
    if interval(start)[0] < 0 or interval(size)[0] < 0:
        return False
    return BOUNDS_OF_SYMBOLS.at_most(start + (size - 1) * step + 1, extent)
