"""Which values differ from lane to lane.

Comes in: a func, which of its arguments are batched, and the name of the axis of lanes, if it has
one. Goes out: the values that may differ, at any depth; all others are the same in every lane.
Never: a value visited twice, however deep loops lie in loops: what once differs, differs.
"""

from collections.abc import Iterable, Iterator, Sequence

from ...ir import tensor
from ...ir.errors import VerifyError
from ...ir.func import Func, Return, Yield
from ...ir.tensor.collectives import Exchange
from ...ir.values import AnyValue, Block, Op, walk
from .collectives import SAME_FOR_ALL, between_lanes
from .flow import FLOWS, Flow, everything
from .masks import certain


def varying_values(func: Func, batched: Sequence[bool], axis_name: str | None) -> set[AnyValue]:
    """The values of `func` that differ from lane to lane."""
    spread = _Spread(axis_name)
    spread.add(value for value, each in zip(func.arguments, batched, strict=True) if each)
    if axis_name is not None:
        for op in func.walk():
            if between_lanes(op, axis_name) and not isinstance(op, SAME_FOR_ALL):
                spread.add(op.results)
    spread.run()
    return spread.values


class _Spread:
    """Goes from each value that differs to all that differ because of it."""

    def __init__(self, axis_name: str | None) -> None:
        self.axis_name = axis_name
        self.values: set[AnyValue] = set()
        self.pending: list[AnyValue] = []
        self.masked: set[Block] = set()

    def add(self, values: Iterable[AnyValue]) -> None:
        """These values differ."""
        for value in values:
            if value not in self.values:
                self.values.add(value)
                self.pending.append(value)

    def run(self) -> None:
        """Go on until nothing more differs."""
        while self.pending:
            value = self.pending.pop()
            for op in value.uses:
                self._read(op, value)

    def _read(self, op: Op, value: AnyValue) -> None:
        """The op reads a value that differs."""
        if isinstance(op, Yield):
            self._yielded(op, value)
        elif op.regions:
            for place in _places(op, value):
                self.add(_flow(op).into(op, place))
            if isinstance(op, tensor.Cond) and op.predicate is value:
                self._mask(op.regions)
        elif not isinstance(op, Return | tensor.Dim) and not between_lanes(op, self.axis_name):
            self.add(op.results)

    def _yielded(self, terminator: Yield, value: AnyValue) -> None:
        """A region hands a value that differs out of it."""
        block = terminator.block
        op = block.parent_op if block is not None else None
        assert op is not None and block is not None
        if isinstance(op, tensor.While) and block is op.condition:
            self._leave_apart(op)
            return
        for place in _places(terminator, value):
            self.add(_flow(op).out_of(op, block, place))

    def _leave_apart(self, op: tensor.While) -> None:
        """Lanes leave the loop one by one: in those that wait for others, carries stay.

        They see the condition again, but with what it has seen before, so it fails in none.
        """
        self.add(everything(op))
        self._mask([op.body])
        for inner in walk(op.condition):
            self._meet(inner)

    def _mask(self, regions: Sequence[Block]) -> None:
        """These regions run for some lanes, while others must not notice."""
        pending = list(regions)
        while pending:
            block = pending.pop()
            if block in self.masked:
                continue
            self.masked.add(block)
            for op in block:
                self._meet(op)
                pending += op.regions
                if isinstance(op, tensor.While):
                    self._leave_apart(op)
                elif not certain(op):
                    self.add(op.results)

    def _meet(self, op: Op) -> None:
        """Refuse an exchange that only some lanes come to."""
        if isinstance(op, Exchange) and between_lanes(op, self.axis_name):
            problem = f"not all lanes of '{self.axis_name}' come here, as the condition differs"
            raise VerifyError(f"{op.name}: {problem} from lane to lane", op.location)


def _places(op: Op, value: AnyValue) -> Iterator[int]:
    return (place for place, operand in enumerate(op.operands) if operand is value)


def _flow(op: Op) -> Flow:
    if op.__class__ not in FLOWS:
        raise VerifyError(f"{op.name}: has no batching rule", op.location)
    return FLOWS[op.__class__]
