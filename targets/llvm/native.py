"""What of a step the native core does.

Comes in: ops of a step, where sizes are known. Goes out: whether Python has no part in them; and
all ops that they are made of.
Never: how; that say `outline` and `writing`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...ir import step
from ...ir.payloads import Number
from ...ir.values import AnyValue, Block, Op
from .flow import Flow

if TYPE_CHECKING:
    from .preparation import Preparation

Trips = Mapping[AnyValue, int]
"""Of the indices of the loops around an op, below what each stays."""
MANY = 1 << 62
"""More rows than any array has."""
SIMPLE = frozenset({
    step.Allocate, step.Free, step.View, step.Copy, step.Inside, step.Expect, step.Store,
    step.Dim,
})  # fmt: skip
"""Ops that are native whatever they are given."""


def is_native(preparation: "Preparation", op: Op, trips: Trips | None = None) -> bool:
    """Whether the native core can do an op, which stands in these loops."""
    if op.__class__ in SIMPLE:
        return True
    known = trips or {}
    if isinstance(op, step.Launch):
        return preparation.code(op) is not None
    if isinstance(op, step.Fill):
        return isinstance(op.value, Number)
    if isinstance(op, step.Row):
        return known.get(op.index, MANY) <= preparation.shape(op.array)[0]
    if isinstance(op, step.Loop):
        (index,) = op.body.arguments
        known = {**known, index: preparation.numbers[op.trip]}
        return _is_region(preparation, op.body, known)
    if isinstance(op, step.While | step.Branch):
        return all([_is_region(preparation, region, known) for region in op.regions])
    return False


def _is_region(preparation: "Preparation", region: Block, trips: Trips) -> bool:
    """Whether the native core can do what a region does, which lets go of the memory that it takes:
    each time that it is run, it takes the same."""
    ops = preparation.flat(region)
    made = {op.array for op in ops if isinstance(op, step.Allocate)}
    freed = {op.array for op in ops if isinstance(op, step.Free)}
    return made == freed and all([is_native(preparation, op, trips) for op in ops])


def all_of(flow: Flow, ops: Iterable[Op]) -> Iterator[Op]:
    """Ops, and behind each those of its regions."""
    for op in ops:
        yield op
        for region in op.regions:
            yield from all_of(flow, flow.ops[region])
