"""Where in a row of programs the interior ends: at the first one of which a block may stick out of
its view.

Comes in: the checks of a kernel. Goes out: whether a program comes before that one. The number it
is compared with is the same for all of a row, that is, along the last axis of the grid: who writes
the loop over a row need not ask each program.
Never: an interior that does not begin where its row does.
"""

from collections.abc import Sequence

from ...ir import loop, tile
from ...ir.dims import symbols, terms_of
from ...ir.func import Func
from ...ir.loop import BinaryKind, CompareKind
from ...ir.values import AnyValue
from .binding import Binding
from .checks import Check, not_negative
from .emitter import Index
from .split import evaluate
from .twice import all_hold


def is_interior(func: Func, binding: Binding, checks: Sequence[Check]) -> AnyValue:
    """Whether all checks hold for a program."""
    emitter, axis = binding.emitter, len(binding.ranges.grid) - 1
    steps = [_step(binding, check, axis) for check in checks]
    if None in steps or not any(steps):
        return all_hold(binding, checks)
    found = [*zip(checks, steps, strict=True)]
    ends = [_end(func, binding, check, step) for check, step in found if step]
    steady = [check for check, step in found if not step]
    end = emitter.value(_least(binding, ends))
    if steady:
        end = emitter.emit(loop.Select, all_hold(binding, steady), end, emitter.number(0))
    program = emitter.emit(loop.ProgramId, axis=axis)
    return emitter.compare(CompareKind.LESS, program, end)


def _step(binding: Binding, check: Check, axis: int) -> int | None:
    """How much further the block of a check lies from each program to the next; None where that is
    not known, or the first one may begin before its view."""
    ranges, place = binding.ranges, check.place
    turn = ranges.programs.get(axis)
    if place is None or turn is None:
        return None
    step = terms_of(place).get((turn,), 0)
    if turn in symbols(place - step * turn) or step < 0:
        return None
    return step if not step or not_negative(check, ranges) else None


def _end(func: Func, binding: Binding, check: Check, step: int) -> Index:
    """How many programs of a row pass a check: (extent - start - count + step) / step."""
    emitter, axis = binding.emitter, len(binding.ranges.grid) - 1
    programs = [op for op in func.walk() if isinstance(op, tile.ProgramId) and op.axis == axis]
    start = evaluate(binding, check.offset, {op.result: emitter.number(0) for op in programs})
    assert start is not None  # as the place itself is known
    room = emitter.sum(emitter.difference(binding.extent(check), start), step - check.count)
    if isinstance(room, int):
        return room // step
    return room if step == 1 else emitter.binary(BinaryKind.DIVIDE, room, emitter.number(step))


def _least(binding: Binding, ends: Sequence[Index]) -> Index:
    least, *others = ends
    for other in others:
        least = binding.emitter.least(least, other)
    return least
