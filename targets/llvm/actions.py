"""What the host does for each op of a step: Python actions on the arrays that stand for values.

Comes in: ops of the step floor, where sizes are known. Goes out: actions, for `Program` to run.
Never: what a kernel computes. Kernels that are still on the tensor floor run in the interpreter.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import step
from ...ir.errors import ExecutionError, Unmet
from ...ir.interpreter import Frame
from ...ir.shared.named import called, read_only
from ...ir.types import Scalar
from ...ir.values import Op
from .kernel import Kernel, Launcher
from .table import Handed, Table

if TYPE_CHECKING:
    from .program import Preparation

Memory = list[Any]
"""What stands for each value of the func: an array, or a number of the host."""
Action = Callable[[Memory], None]
Actions = list[tuple[Action, Op]]
"""What to do in order, and the ops that say so."""


def run(actions: Actions, memory: Memory) -> None:
    """Do all; an error names the op that it comes from."""
    op = None
    try:
        for act, op in actions:  # noqa: B007 (for the error)
            act(memory)
    except (Unmet, ValueError, IndexError, OverflowError, ArithmeticError) as problem:
        assert op is not None
        raise ExecutionError(f"{op.name}: {problem}", op.location) from problem


def _allocate(preparation: "Preparation", op: step.Allocate) -> Action:
    shape, storage = preparation.shape(op.array), op.array.dtype.storage
    place, empty = preparation.place(op.array), preparation.pool.empty

    def act(memory: Memory) -> None:
        memory[place] = empty(shape, storage)

    return act


def _free(preparation: "Preparation", op: step.Free) -> Action:
    place = preparation.place(op.array)

    def act(memory: Memory) -> None:
        memory[place] = None

    return act


def _view(preparation: "Preparation", op: step.View) -> Action:
    source, place = preparation.place(op.array), preparation.place(op.part)
    shape, storage = preparation.shape(op.part), op.part.dtype.storage
    start = preparation.size(op.offset) * op.array.dtype.itemsize
    stop = start + int(np.prod(shape, dtype=np.int64)) * storage.itemsize

    def act(memory: Memory) -> None:
        array = memory[source]
        if (start, stop, storage) == (0, array.nbytes, array.dtype):
            memory[place] = array.reshape(shape)
        else:
            memory[place] = (
                array.reshape(-1).view(np.uint8)[start:stop].view(storage).reshape(shape)
            )

    return act


def _row(preparation: "Preparation", op: step.Row) -> Action:
    source, index = preparation.place(op.array), preparation.place(op.index)
    place = preparation.place(op.row)

    def act(memory: Memory) -> None:
        memory[place] = memory[source][int(memory[index]), ...]

    return act


def _dim(preparation: "Preparation", op: step.Dim) -> Action:
    size = np.asarray(preparation.shape(op.array)[op.axis], np.int64)
    place = preparation.place(op.size)

    def act(memory: Memory) -> None:
        memory[place] = size

    return act


def _copy(preparation: "Preparation", op: step.Copy) -> Action:
    source, destination = preparation.place(op.source), preparation.place(op.destination)

    def act(memory: Memory) -> None:
        np.copyto(memory[destination], memory[source])

    return act


def _fill(preparation: "Preparation", op: step.Fill) -> Action:
    place, value = preparation.place(op.array), op.value.array

    def act(memory: Memory) -> None:
        np.copyto(memory[place], value)

    return act


def _store(preparation: "Preparation", op: step.Store) -> Action:
    number, place = preparation.place(op.number), preparation.place(op.array)

    def act(memory: Memory) -> None:
        memory[place][...] = memory[number]

    return act


def _host(preparation: "Preparation", op: step.Host) -> Action:
    reads = [preparation.place(value) for value in op.reads]
    writes = [preparation.place(value) for value in op.writes]

    def act(memory: Memory) -> None:
        called(
            op.function,
            *[read_only(memory[place]) for place in reads],
            *[memory[place] for place in writes],
        )

    return act


def _inside(preparation: "Preparation", op: step.Inside) -> Action:
    array, indices = preparation.place(op.array), preparation.place(op.indices)

    def act(memory: Memory) -> None:
        op.act(None, memory[array], memory[indices])

    return act


def _launch(preparation: "Preparation", op: step.Launch) -> Action:
    kernel = preparation.program.code.get(preparation.kernel(op))
    return _interpreted(preparation, op) if kernel is None else _compiled(preparation, op, kernel)


def _compiled(preparation: "Preparation", op: step.Launch, kernel: Kernel) -> Action:
    """The launch of a kernel that is machine code."""
    groups = [_handed(preparation, group) for group in op.each]
    plain = not kernel.scratch and all(None not in group.shapes for group in groups)
    if len(groups) > 1 and plain:
        return _tabled(Table(kernel, groups))
    launches = [
        (Launcher(kernel, group.shapes, group.grid, preparation.sizes, preparation.pool), group)
        for group in groups
    ]
    if len(groups) > 1:
        return _all([_launched(*each) for each in launches])
    return _launched(*launches[0])


def _handed(preparation: "Preparation", group: step.Group) -> Handed:
    """What a kernel is handed, where it is kept."""
    values = (*group.reads, *group.writes)
    return Handed(
        [preparation.start(value) for value in values],
        [None if isinstance(v.type, Scalar) else preparation.shape(v) for v in values],
        [preparation.size(size) for size in group.grid],
    )


def _tabled(table: Table) -> Action:
    places = table.places

    def act(memory: Memory) -> None:
        table([memory[place] for place in places])

    return act


def _launched(launch: Launcher, group: Handed) -> Action:
    places = group.places

    def act(memory: Memory) -> None:
        launch([memory[place] for place in places])

    return act


def _all(actions: Sequence[Action]) -> Action:
    def act(memory: Memory) -> None:
        for each in actions:
            each(memory)

    return act


def _interpreted(preparation: "Preparation", op: step.Launch) -> Action:
    """The launch of a kernel that is still tensors."""
    places = [preparation.place(value) for value in (*op.reads, *op.writes)]
    split, module, sizes = len(op.reads), preparation.module, preparation.sizes

    def act(memory: Memory) -> None:
        arrays = [memory[place] for place in places]
        with np.errstate(all="ignore"):
            op.run(Frame(module, sizes), *map(read_only, arrays[:split]), *arrays[split:])

    return act


def _loop(preparation: "Preparation", op: step.Loop) -> Action:
    trip, index = preparation.size(op.trip), preparation.place(op.body.arguments[0])
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


def _when(preparation: "Preparation", op: step.When) -> Action:
    enough = preparation.size(op.size) >= op.at_least
    actions = preparation.block(op.enough if enough else op.below)

    def act(memory: Memory) -> None:
        run(actions, memory)

    return act


PREPARE: dict[type[Op], Callable[["Preparation", Any], Action]] = {
    step.Allocate: _allocate,
    step.Branch: _branch,
    step.Copy: _copy,
    step.Dim: _dim,
    step.Fill: _fill,
    step.Free: _free,
    step.Host: _host,
    step.Inside: _inside,
    step.Launch: _launch,
    step.Loop: _loop,
    step.Row: _row,
    step.Store: _store,
    step.View: _view,
    step.When: _when,
    step.While: _while,
}
