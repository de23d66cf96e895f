"""Into how many chunks the programs of a launch are cut, for threads to share.

Comes in: a kernel, the shapes and the grid of a launch, the threads. Goes out: the axis of the grid
along which it is cut, and how many chunks there are: one, where sharing would cost more than it
gains.
Never: a bit of a result. Programs that may write to the same place stay in one chunk, in which they
run in order.
"""

from collections.abc import Sequence
from math import prod

from ...ir import tile
from ...ir.func import Func
from ...ir.tile import UnaryKind
from ...ir.values import AnyValue, Op
from ..tape import greatest, least

LEAST = 1 << 18
"""A chunk is as much work as to read and write so many bytes, or more."""
WORTH = 16
"""Less work than that of so many chunks is done by one thread: to wake another one takes 10 µs or
more, and what is in the caches of the first must go to those of the other."""
CHUNKS = 16
"""At most so many for each thread, so that one which is held up, or wakes late, leaves its work to
the others: functions of rows take 3 to 10 % less on two threads than with 4."""
PRODUCTS = 4
"""And so many of products, as each chunk reads all of the right operand: with 16, 1024^3 numbers
take a fifth longer."""
FUNCTION = 3
"""A function such as exp, of what a byte stands for, is as much work as so many bytes more."""
LONG: dict[type[Op], int] = {tile.Dot: 8, tile.Sort: 8, tile.RandomBits: 4}
"""And so are these."""
SHORT = frozenset({
    UnaryKind.NEGATE, UnaryKind.ABSOLUTE, UnaryKind.SIGN, UnaryKind.FLOOR, UnaryKind.CEIL,
    UnaryKind.TRUNCATE, UnaryKind.ROUND_EVEN, UnaryKind.BIT_NOT, UnaryKind.SQUARE_ROOT,
    UnaryKind.RECIPROCAL_SQUARE_ROOT,
})  # fmt: skip
"""Functions that are an instruction or two."""


def effort_of(func: Func) -> int:
    """How much work a byte of a kernel's arrays is; 0 if its programs must take turns."""
    if not _are_apart(func):
        return 0
    effort = 1
    for op in func.walk():
        if isinstance(op, tile.Unary) and op.kind not in SHORT:
            effort += FUNCTION
        effort = max(effort, LONG.get(op.__class__, 0))
    return effort


def chunks_of(func: Func) -> int:
    """How many chunks there are for each thread at most."""
    return PRODUCTS if any(isinstance(op, tile.Dot) for op in func.walk()) else CHUNKS


def _are_apart(func: Func) -> bool:
    """Whether no two programs can write to the same place: each axis of the grid has a say in where
    they store, and nothing is combined with what is there."""
    grid = func.attributes.get("grid") or ()
    axes = {axis for axis, count in enumerate(grid) if count != 1}
    told: dict[AnyValue, set[int]] = {}
    for op in func.walk():
        known = {axis for operand in op.operands for axis in told.get(operand, ())}
        if isinstance(op, tile.ProgramId):
            known = {op.axis}
        if isinstance(op, tile.Atomic | tile.Scatter):
            return False
        if isinstance(op, tile.Store) and not _is_own(op.view):
            place = (op.view, *op.offsets)
            if not axes <= set[int]().union(*[told.get(value, ()) for value in place]):
                return False
        made = [*op.results, *[value for region in op.regions for value in region.arguments]]
        told.update(dict.fromkeys(made, known))
    return True


def _is_own(view: AnyValue) -> bool:
    """Whether memory is that of a program alone."""
    while isinstance(view.op, tile.View):
        view = view.op.view
    return isinstance(view.op, tile.Scratch)


def is_shared(work: int) -> bool:
    """Whether threads share what is as much work as so many bytes."""
    return work >= WORTH * LEAST


def cut(work: int, grid: Sequence[int], threads: int, each: int = CHUNKS) -> tuple[int, int]:
    """The axis and the number of chunks of a launch that threads share, which is as much work as so
    many bytes: at most so many for `each` thread."""
    if threads == 1 or prod(grid) < 2:
        return 0, 1
    wanted = least(work // LEAST, threads * each)
    enough = [axis for axis, count in enumerate(grid) if count >= wanted]
    axis = enough[0] if enough else grid.index(max(grid))
    return axis, greatest(1, least(wanted, grid[axis]))
