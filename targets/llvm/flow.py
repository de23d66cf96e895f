"""The ops of a step without its choices, which sizes decide.

Comes in: the body of a step, and what its sizes are. Goes out: a `Flow`: for the body, and for each
region of a loop or a branch, the ops that are done, in order.
Never: the same ops gone through again for other sizes that choose the same.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...ir import step
from ...ir.dims import Size
from ...ir.shared.cache import Cache
from ...ir.values import Block, Op

if TYPE_CHECKING:
    from .outline import Outline
    from .whole import Whole

FLOWS_AT_MOST = 64
"""So many are remembered of a step."""


class Flow:
    """What is done where the choices are these, by blocks; which blocks are not chosen; and what is
    known of the whole step, and of parts of it, once somebody has asked."""

    __slots__ = ("ops", "parts", "skipped", "whole")

    def __init__(self, body: Block, numbers: Mapping[Size, int]) -> None:
        self.ops: dict[Block, list[Op]] = {}
        self.skipped: set[Block] = set()
        self.whole: Whole | None = None
        self.parts: dict[tuple[Op, ...], Outline] = {}
        self._add(body, numbers)

    def is_skipped(self, op: Op) -> bool:
        """Whether an op stands in a region that is not chosen."""
        block = op.block
        while block is not None and block not in self.skipped:
            outer = block.parent_op
            block = None if outer is None else outer.block
        return block is not None

    def _add(self, block: Block, numbers: Mapping[Size, int]) -> None:
        found = self.ops[block] = list[Op]()
        self._flatten(block, numbers, found)
        for op in found:
            for region in op.regions:
                self._add(region, numbers)

    def _flatten(self, block: Block, numbers: Mapping[Size, int], found: list[Op]) -> None:
        for op in block:
            if isinstance(op, step.When):
                is_enough = numbers[op.size] >= op.at_least
                self.skipped.add(op.below if is_enough else op.enough)
                self._flatten(op.enough if is_enough else op.below, numbers, found)
            elif not op.terminator:
                found.append(op)


class Choice(NamedTuple):
    """One that a size decides, and those that stand in either region."""

    size: Size
    at_least: int
    enough: "list[Choice]"
    below: "list[Choice]"


class Flows:
    """Those of one step, each made when it is first asked for."""

    def __init__(self, body: Block) -> None:
        self._body, self._choices = body, [*_choices(body)]
        self._known: Cache[tuple[bool, ...], Flow] = Cache(FLOWS_AT_MOST)

    def at(self, numbers: Mapping[Size, int]) -> Flow:
        """What is done where sizes are these."""
        made: list[bool] = []
        _decide(self._choices, numbers, made)
        key = tuple(made)
        return self._known.get(key) or self._known.put(key, Flow(self._body, numbers))


def _choices(block: Block) -> Iterator[Choice]:
    """Those of a block, and of what its loops and branches do."""
    for op in block:
        if isinstance(op, step.When):
            regions = [*_choices(op.enough)], [*_choices(op.below)]
            yield Choice(op.size, op.at_least, *regions)
        else:
            for region in op.regions:
                yield from _choices(region)


def _decide(choices: list[Choice], numbers: Mapping[Size, int], made: list[bool]) -> None:
    """Whether each size is enough, of those choices that there are then."""
    for size, at_least, enough, below in choices:
        is_enough = numbers[size] >= at_least
        made.append(is_enough)
        if inner := enough if is_enough else below:
            _decide(inner, numbers, made)
