"""A whole step as one native call.

Comes in: a step, where sizes are known and the native core can do all of it. Goes out: a `Plan` for
the host.
Never: a step of which something is left to Python.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from ...ir import step
from ...ir.func import Func
from ...ir.shared.properties import cached_property
from ...ir.types import Scalar
from ...ir.values import AnyValue, Op
from ...passes.touched import touched
from ..script import NoMemory, Number, Plan, Result
from ..tape import least, plain
from .flow import Flow
from .native import SIMPLE, is_native
from .outline import ARENA, Outline
from .rounds import LARGEST
from .writing import MOST, Writing

if TYPE_CHECKING:
    from .preparation import Preparation


class Whole:
    """A step before its sizes are known, where its choices are made: whether it gives back arrays
    of its own or of those it was given; and of which ops the native core may not be able to do."""

    def __init__(self, func: Func, flow: Flow) -> None:
        ops = flow.ops[func.body]
        self.is_owned = _is_owned(func, ops)
        self.doubtful = [op for op in ops if op.__class__ not in SIMPLE]
        self._func, self._flow = func, flow

    @cached_property
    def outline(self) -> Outline:
        """What it becomes, if the core can do all of it."""
        return Outline(self._flow, self._flow.ops[self._func.body], self._func.arguments)


def is_whole(preparation: "Preparation") -> bool:
    """Whether the native core can do all of a step."""
    whole = _whole(preparation)
    return whole.is_owned and all([is_native(preparation, op) for op in whole.doubtful])


def plan_of(preparation: "Preparation") -> Plan:
    """What the host does for a step, in one call."""
    func, outline = preparation.main, _whole(preparation).outline
    written = Writing(preparation, outline)
    numbers = [
        Number(slot, outline.addresses[value], value.dtype.storage.itemsize)
        for slot, value in outline.scalars
    ]
    replaced = preparation.program.replaced
    made = [written.bytes(value) for value in outline.made]
    if sum(made, written.arena) > MOST:
        raise NoMemory(plain(sum(made, written.arena)))
    behind = dict(zip(replaced, count(1 + len(func.arguments) + len(made)), strict=False))
    return Plan(
        script=written.script,
        slots=written.slots,
        numbers=numbers,
        inputs=len(func.arguments),
        made=made,
        replaced=replaced,
        results=[_result(written, value, behind) for value in func.results],
        arena=written.arena,
        work=least(written.work, LARGEST),
        held=written.held,
    )


def replaced_in(main: Func) -> list[int]:
    """Which arguments a step writes to: those that were donated, and in whose place results are."""
    written = set[AnyValue]()
    for op in main.body:
        written.update(touched(op).writes)
    return [place for place, value in enumerate(main.arguments) if value in written]


def _whole(preparation: "Preparation") -> Whole:
    """What is known of a step for all sizes that choose the same."""
    flow = preparation.flow
    if flow.whole is None:
        flow.whole = Whole(preparation.main, flow)
    return flow.whole


def _is_owned(func: Func, ops: Sequence[Op]) -> bool:
    """Whether a step gives back arrays that it makes or is given, and each that it makes and does
    not free: another one would have no holder while the step runs."""
    if any([isinstance(value.type, Scalar) for value in func.results]):
        return False
    given_back = {memory_of(value) for value in func.results}
    made = {op.array for op in ops if isinstance(op, step.Allocate)}
    made.difference_update([op.array for op in ops if isinstance(op, step.Free)])
    return made <= given_back <= {*made, *func.arguments}


def _result(written: Writing, value: AnyValue, behind: Mapping[int, int]) -> Result:
    """A result; those that replace inputs are numbered `behind` those that are made."""
    (root, offset, _), layout = written.root(value), written.preparation.layout(value)
    number = written.outline.addresses[root]
    whole = root is value or (offset == 0 and layout.bytes == written.bytes(root))
    form = written.preparation.form(value)
    return Result(behind.get(number - 1 - ARENA, number), offset, form, whole)


def memory_of(value: AnyValue) -> AnyValue:
    """The array that a value is, or shows a part of."""
    while isinstance(value.op, step.View):
        value = value.op.array
    return value
