"""A whole step as one native call.

Comes in: the ops of a step, where sizes are known and the native core can do them all. Goes out: a
`Plan` for the host.
Never: a step of which something is left to Python.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from ...ir import step
from ...ir.func import Module
from ...ir.types import Scalar
from ...ir.values import AnyValue, Op
from ...passes.touched import touched
from ..script import Form, NoMemory, Number, Plan, Result
from .native import is_native
from .rounds import LARGEST
from .writing import ARENA, MOST, Writing

if TYPE_CHECKING:
    from .program import Preparation


def is_whole(preparation: "Preparation", ops: Sequence[Op]) -> bool:
    """Whether the native core can do all of a step, and gives back arrays of its own or of those it
    was given."""
    func = preparation.module.main
    if any([isinstance(value.type, Scalar) for value in func.results]):
        return False
    given_back = {_memory_of(value) for value in func.results}
    made = {op.array for op in ops if isinstance(op, step.Allocate)}
    made.difference_update([op.array for op in ops if isinstance(op, step.Free)])
    # Memory that is neither freed nor given back would have no holder while the step runs.
    owned = made <= given_back <= {*made, *func.arguments}
    return owned and all([is_native(preparation, op) for op in ops])


def plan_of(preparation: "Preparation", ops: Sequence[Op]) -> Plan:
    """What the host does for a step, in one call."""
    func = preparation.module.main
    written = Writing(preparation, ops, func.arguments)
    launches = [op for op in written.ops if isinstance(op, step.Launch)]
    kernels = [preparation.code(op) for op in launches]
    numbers = [
        Number(slot, written.addresses[value], value.dtype.storage.itemsize)
        for slot, value in written.scalars
    ]
    replaced = preparation.program.replaced
    made = [written.bytes(value) for value in written.made]
    if sum(made, written.arena) > MOST:
        raise NoMemory(sum(made, written.arena))
    behind = dict(zip(replaced, count(1 + len(func.arguments) + len(written.made)), strict=False))
    return Plan(
        script=written.script,
        slots=written.slots,
        numbers=numbers,
        inputs=len(func.arguments),
        made=made,
        replaced=replaced,
        results=[_result(written, value, behind) for value in func.results],
        arena=written.arena,
        work=min(written.work, LARGEST),
        held=[kernel.code for kernel in kernels if kernel is not None],
    )


def replaced_in(module: Module) -> list[int]:
    """Which arguments a step writes to: those that were donated, and in whose place results are."""
    written = set[AnyValue]()
    for op in module.main.body:
        written |= touched(op).writes
    return [place for place, value in enumerate(module.main.arguments) if value in written]


def _result(written: Writing, value: AnyValue, behind: Mapping[int, int]) -> Result:
    """A result; those that replace inputs are numbered `behind` those that are made."""
    root, offset, _ = written.root(value)
    form = Form(written.preparation.shape(value), value.dtype.storage)
    whole = offset == 0 and form.size == written.bytes(root)
    number = written.addresses[root]
    return Result(behind.get(number - 1 - ARENA, number), offset, form, whole)


def _memory_of(value: AnyValue) -> AnyValue:
    while isinstance(value.op, step.View):
        value = value.op.array
    return value
