"""What Python does for ops of a step that the native core cannot do: actions on arrays.

Comes in: ops of the step floor, where sizes are known. Goes out: actions, for `Program` to run.
Never: a kernel for which there is code. Those that are still on the tensor floor run in the
interpreter.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import step
from ...ir.errors import ExecutionError, Unmet
from ...ir.interpreter import Frame
from ...ir.shared.named import read_only
from ...ir.values import Op
from ..notes import NOTES
from . import interruptible

if TYPE_CHECKING:
    from .preparation import Preparation

Memory = list[Any]
"""What stands for each value of the func: an array, or a number of the host."""
Action = Callable[[Memory], None]
Actions = list[tuple[Action, Op]]
"""What to do in order, and the ops that say so."""


def run(actions: Actions, memory: Memory) -> None:
    """Do all; an error names the op that it comes from."""
    for act, op in actions:
        try:
            act(memory)
        except (Unmet, ValueError, IndexError, OverflowError, ArithmeticError) as problem:
            raise ExecutionError(f"{op.name}: {problem}", op.location) from problem


def noted(act: Action, op: Op, memory: Memory) -> None:
    """Do what Python does itself, and tell profiles of it."""
    if not NOTES.wanted:
        act(memory)
        return
    called = f" {re.split('[.:]', op.function)[-1]}" if isinstance(op, step.Host) else ""
    with NOTES.about(op.name + called, str(op.location)):
        act(memory)


def _row(preparation: "Preparation", op: step.Row) -> Action:
    source, index = preparation.place(op.array), preparation.place(op.index)
    place = preparation.place(op.row)

    def act(memory: Memory) -> None:
        memory[place] = memory[source][int(memory[index]), ...]

    return act


def _fill(preparation: "Preparation", op: step.Fill) -> Action:
    place, value = preparation.place(op.array), op.value.array

    def act(memory: Memory) -> None:
        np.copyto(memory[place], value)

    return act


def _host(preparation: "Preparation", op: step.Host) -> Action:
    reads = [preparation.place(value) for value in op.reads]
    writes = [preparation.place(value) for value in op.writes]

    def act(memory: Memory) -> None:
        op.call([memory[place] for place in reads], [memory[place] for place in writes])

    return act


def _interpreted(preparation: "Preparation", op: step.Launch) -> Action:
    """The launch of a kernel that is still tensors."""
    reads = [preparation.place(value) for value in op.reads]
    writes = [preparation.place(value) for value in op.writes]
    elements = sum([preparation.elements(value) for value in (*op.reads, *op.writes)])
    launch = op.ready(Frame(preparation.program.code.module, preparation.sizes))

    def act(memory: Memory) -> None:
        given = [read_only(memory[place]) for place in reads]
        made = [memory[place] for place in writes]

        def work() -> None:
            with np.errstate(all="ignore"):
                launch(given, made)

        interruptible.do(work, elements)

    return act


def _loop(preparation: "Preparation", op: step.Loop) -> Action:
    trip, index = preparation.numbers[op.trip], preparation.place(op.body.arguments[0])
    order = range(trip - 1, -1, -1) if op.reverse else range(trip)
    actions = preparation.block(op.body)

    def act(memory: Memory) -> None:
        for count in order:
            memory[index] = np.asarray(count, np.int64)
            run(actions, memory)

    return act


def _while(preparation: "Preparation", op: step.While) -> Action:
    predicate, actions = preparation.place(op.predicate), preparation.block(op.body)

    def act(memory: Memory) -> None:
        while memory[predicate]:
            run(actions, memory)

    return act


def _branch(preparation: "Preparation", op: step.Branch) -> Action:
    predicate = preparation.place(op.predicate)
    on_true, on_false = preparation.block(op.on_true), preparation.block(op.on_false)

    def act(memory: Memory) -> None:
        run(on_true if memory[predicate] else on_false, memory)

    return act


PREPARE: dict[type[Op], Callable[["Preparation", Any], Action]] = {
    step.Branch: _branch,
    step.Fill: _fill,
    step.Host: _host,
    step.Launch: _interpreted,
    step.Loop: _loop,
    step.Row: _row,
    step.While: _while,
}
