"""Which program this is: the same on both floors.

Comes in: ops that ask. Goes out: ops that ask. Never: a loop over programs; the printer makes it.
"""

from ...ir import loop, tile
from ...ir.values import AnyValue
from .binding import Binding, Rules


def bind_program_id(binding: Binding, op: tile.ProgramId) -> AnyValue:
    """The place along an axis of the grid."""
    return binding.emitter.emit(loop.ProgramId, axis=op.axis)


def bind_program_count(binding: Binding, op: tile.ProgramCount) -> AnyValue:
    """The number of programs along an axis of the grid."""
    return binding.emitter.emit(loop.ProgramCount, axis=op.axis)


RULES: Rules = {tile.ProgramId: bind_program_id, tile.ProgramCount: bind_program_count}
