"""Branches: what happens only where something holds.

Comes in: a condition, and functions that emit. Goes out: `loop.if`.
Never: a carried value; a branch reads what stands around it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...ir import loop
from ...ir.func import Yield
from ...ir.values import AnyValue, Block
from .emitter import Emitter

Emit = Callable[[], Sequence[AnyValue]]


def choose(
    emitter: Emitter, condition: AnyValue, on_true: Emit, on_false: Emit
) -> tuple[AnyValue, ...]:
    """What one of two branches makes."""
    regions = [_branch(emitter, each) for each in (on_true, on_false)]
    return emitter.emit_all(loop.If, condition, [], *regions)


def when(emitter: Emitter, condition: AnyValue, on_true: Callable[[], Any]) -> None:
    """Emit something for the case that the condition holds."""

    def nothing() -> Sequence[AnyValue]:
        on_true()
        return []

    choose(emitter, condition, nothing, list)


def _branch(emitter: Emitter, emit: Emit) -> Block:
    block = emitter.open([], is_branch=True)
    made = emit()
    emitter.emit_all(Yield, made)
    emitter.close()
    return block
