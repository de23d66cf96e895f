"""What is asked for before it is needed, in kernels whose operands or results are in memory.

Comes in: a load or a store of a block, and how many bytes the schedule says. Goes out: hints for
lines of the caches that stand so far behind it.
Never: a hint of what a program keeps for itself, which is near.
"""

from math import prod

from ...ir import loop, tile
from ...ir.shared.lines import LINE
from ...ir.values import AnyValue, Block
from ..labels import level_name
from .access import Access
from .binding import Binding
from .registers import Shape

SECOND_PASS = level_name(1)
SECOND_LEVEL = 2
"""Where what will pass next is wanted: the nearest cache has what passes now."""


def ask_ahead(access: Access, op: tile.Load, bytes_: int, rank: int) -> None:
    """Hints of each line that stands so far behind a block, unless that may stick out: then the
    view ends; or all programs read it, or each row of them does: then it is near.

    A processor looks a few iterations ahead. Where each is long, as of a GELU, its own guesses came
    too late: 16 Mi elements took 23 ms on an Intel core, and take 7.
    """
    if not bytes_ or access.sides or access.width == 1 or not access.contiguous:
        return
    if not _moves(op, rank):
        return
    itemsize = op.view.dtype.storage.itemsize
    for place in access.places:
        if place[-1] * access.width * itemsize % LINE == 0:
            _hint(access, op.view, place, bytes_)


def ask_below(binding: Binding, access: Access, op: tile.Load, rows: int) -> None:
    """Hints of each line that stands so many rows below a block, or of the last row's, while rows
    pass a second time.

    Then they come out of a near cache and something is computed of each, such as an exponential,
    while memory has nothing to do; the first time it is memory that all wait for. The largest and
    the sum of 4096x768 numbers, down, take two Intel cores 0.70 ms instead of 0.84.
    """
    itemsize = op.view.dtype.storage.itemsize
    length = access.shape[-1] if access.shape else 1
    if not rows or access.sides or length * itemsize < LINE or not access.contiguous:
        return
    axis = _passing(op)
    if axis is None or not isinstance(op.view.owner, Block):
        return
    emitter, offsets = access.emitter, [*access.offsets]
    last = emitter.difference(access.memory.sizes[axis], 1)
    offsets[axis] = emitter.least(emitter.sum(offsets[axis], rows), last)
    below = Access(binding, access.memory, offsets, (), access.shape)
    for place in below.places:
        if place[-1] * access.width * itemsize % LINE == 0:
            at = emitter.value(below.address(place))
            emitter.emit_all(loop.Prefetch, access.memory.buffer, at, locality=SECOND_LEVEL)


def _passing(op: tile.Load) -> int | None:
    """The axis of a view along which the loop goes in which rows pass a second time."""
    block = op.block
    while block is not None and block.parent_op is not None:
        outside = block.parent_op
        if isinstance(outside, tile.For) and outside.label == SECOND_PASS:
            at = block.arguments[0]
            return next((axis for axis, each in enumerate(op.offsets) if each is at), None)
        block = outside.block
    return None


def ask_next(access: Access, op: tile.Store, bytes_: int) -> None:
    """A hint of where the next element goes that belongs behind one which is put at a place that
    the data say.

    A sort puts elements in 2,000 places in turn, and nobody else can guess that each will be in
    another line soon: a pass over 16 Mi elements took 62 ms on an Intel core, and takes 27.
    """
    if bytes_ and prod(access.shape) == 1:
        _hint(access, op.view, (0,) * len(access.shape), bytes_)


def _hint(access: Access, view: AnyValue, place: Shape, bytes_: int) -> None:
    """A hint of what stands so many bytes behind a part of an argument."""
    if isinstance(_whole(view).owner, Block):
        emitter, further = access.emitter, bytes_ // view.dtype.storage.itemsize
        at = emitter.value(emitter.moved(access.address(place), further))
        emitter.emit_all(loop.Prefetch, access.memory.buffer, at)


def _moves(op: tile.Load, rank: int) -> bool:
    """Whether a load is at another place in each row of a grid of this rank, or in its only one."""
    axes = set[int]()
    view, places = op.view, [*op.offsets]
    while isinstance(view.op, tile.View):
        places += view.op.offsets
        view = view.op.view
    while places:
        owner = places.pop().owner
        made = owner.parent_op if isinstance(owner, Block) else owner
        if isinstance(made, tile.ProgramId):
            axes.add(made.axis)
        elif made is not None:  # the index of a loop begins where its first operand says
            places += made.operands[:1] if isinstance(owner, Block) else made.operands
    return bool(axes) and (rank == 1 or axes != {rank - 1})


def _whole(view: AnyValue) -> AnyValue:
    """The view that this one is a part of."""
    while isinstance(view.op, tile.View):
        view = view.op.view
    return view
