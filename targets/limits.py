"""Which sizes a step cannot have, since it would read outside of its tensors, or choose of nothing.

Comes in: a func of the tensor floor whose sizes are open. Goes out: its `Limit`s, which are looked
at where sizes become known, before anything runs: kernels trust them.
Never: a part of a tensor that lies within it whatever the sizes are; nor one in a loop without a
round. That a branch is not taken is no reason, as it is none where sizes are plain.
"""

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple

from ..ir import tensor
from ..ir.dims import Size, interval, minimum
from ..ir.errors import ExecutionError
from ..ir.facts import Facts
from ..ir.func import Func
from ..ir.tensor.arg_reduce import EMPTY, ArgReduction
from ..ir.tensor.sort import too_few
from ..ir.tensor.windows import not_within
from ..ir.values import Block, Op
from .sizes import Numbers
from .tape import plain

BOUNDS_OF_SYMBOLS = Facts()


class Limit(NamedTuple):
    """`size` elements from `start` on, so many apart, lie within an axis of an op's tensor; if the
    loops around it have a round."""

    op: Op
    axis: int
    extent: Size
    start: Size
    size: Size
    step: int
    rounds: tuple[Size, ...] = ()


def limits_of(func: Func) -> list[Limit]:
    """What of a func is not certain."""
    return [limit for limit in _limits_in(func.body, ()) if not _is_certain(limit)]


def _limits_in(block: Block, rounds: tuple[Size, ...]) -> Iterator[Limit]:
    for op in block:
        for limit in _limits_of(op):
            yield limit._replace(rounds=rounds)
        inside = (*rounds, op.trip) if isinstance(op, tensor.Loop) else rounds
        for region in op.regions:
            yield from _limits_in(region, inside)


def check(limits: Iterable[Limit], numbers: Numbers) -> None:
    """Refuse sizes with which something would lie outside."""
    for op, axis, *sizes, step, rounds in limits:
        if any([numbers[each] < 1 for each in rounds]):
            continue
        extent, start, size = [numbers[each] for each in sizes]
        end = start + (size - 1) * step + 1 if size else start
        if start < 0 or size < 0 or end > extent:
            problem = _problem(op, axis, plain(extent), plain(start), plain(size), step)
            raise ExecutionError(f"{op.name}: {problem}", op.location)


def _problem(op: Op, axis: int, extent: int, start: int, size: int, step: int) -> object:
    """What the op itself says, where the interpreter runs it."""
    if isinstance(op, tensor.Sort):
        return too_few(size, extent)
    if isinstance(op, ArgReduction):
        return EMPTY
    return not_within(axis, extent, start, size, step)


def _limits_of(op: Op) -> Iterator[Limit]:
    if isinstance(op, tensor.Slice):
        parts = zip(op.x.shape, op.start, op.size, op.step, strict=True)
        for axis, part in enumerate(parts):
            yield Limit(op, axis, *part)
    elif isinstance(op, tensor.Sort) and op.count is not None:
        yield Limit(op, op.axis, op.values[0].shape[op.axis], 0, op.count, 1)
    elif isinstance(op, ArgReduction):
        yield Limit(op, op.axis, op.x.shape[op.axis], 0, 1, 1)
    elif isinstance(op, tensor.Gather) and op.outside is tensor.Outside.CLAMP:
        for axis in op.axes:  # the nearest one is an element, if any is asked for
            yield Limit(op, axis, op.x.shape[axis], 0, minimum(prod(op.result.shape), 1), 1)


def _is_certain(limit: Limit) -> bool:
    _, _, extent, start, size, step, _ = limit
    if interval(start)[0] < 0 or interval(size)[0] < 0:
        return False
    return BOUNDS_OF_SYMBOLS.at_most(start + (size - 1) * step + 1, extent)
