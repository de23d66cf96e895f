"""Sizes that the function being traced has not looked at: its recording serves all of them.

Comes in: the sizes that `jit` put symbols in the place of. Goes out: plain numbers for whoever
looks: from then on the recording, what stands there already included, holds for these alone.
Never: a symbol that a user sees, or a decision by a size that nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..ir import tensor as ops
from ..ir.dims import Size, Symbol, substitute
from ..ir.tensor.control import ControlOp
from .general import decisive, small
from .symbolic import resized, symbols_in

if TYPE_CHECKING:
    from .node import Node

Shape = tuple[Size, ...]


class Unseen:
    """The sizes of one function while it is traced: the number that each symbol stands for.

    `seen` are the symbols that somebody has looked at, `nodes` what may have others in it,
    `held` has an item for each size that somebody holds and may look at; `is_shown` says that there
    have been some, and `refused` that an operation has refused something, perhaps on account of a
    symbol.
    """

    __slots__ = ("held", "is_shown", "nodes", "numbers", "refused", "seen")

    def __init__(self, numbers: Mapping[Symbol, int]) -> None:
        self.numbers = dict(numbers)
        self.seen: dict[Symbol, int] = {}
        self.nodes: list[Node] = []
        self.refused = False
        self.held: list[None] = []  # to which threads may add at once
        self.is_shown = False

    @property
    def left(self) -> dict[Symbol, int]:
        """The sizes at which nobody has looked."""
        return {each: number for each, number in self.numbers.items() if each not in self.seen}

    def hand_out(self) -> None:
        """Somebody holds one more size."""
        self.is_shown = True
        self.held.append(None)

    def take_back(self) -> None:
        """Somebody holds one less."""
        self.held.pop()

    def may_explain(self, problem: Exception) -> bool:
        """Whether an error may come of sizes that are no plain numbers: some of what is written in
        C does not take them for integers, and says so."""
        is_of_size = isinstance(problem, TypeError) or "UnseenSize" in str(problem)
        return self.refused or (self.is_shown and is_of_size)

    def look(self, part: Any) -> Any:
        """A size, a type, or a tuple of such things, with plain numbers; all nodes, too."""
        found = {each: self.numbers[each] for each in symbols_in(part) if each in self.numbers}
        if not self.seen.keys() >= found.keys():
            self.seen |= found
            for node in self.nodes:
                node.type, node.attributes = self.known(node.type), self.known(node.attributes)
                node.regions = self.known(node.regions)
        return self.known(part)

    def look_at_what_is_kept(self) -> None:
        """Once the function has ended, or failed: who keeps a size may look at it any time."""
        if self.held:
            self.look(tuple(self.numbers))
        self.nodes.clear()

    def asked(
        self, cls: Any, operands: Sequence[Node], attributes: tuple[Any, ...], made: Any
    ) -> tuple[Any, ...]:
        """The attributes of an operation, which has looked at its sizes if it is not the same for
        all there may be, or if what is `made` may have an axis of one element or none: a fact."""
        types = tuple([operand.type for operand in operands])
        self.look((small(made), decisive(cls, types, attributes)))
        return self.known(attributes)

    def stated(self, cls: Any, operands: Sequence[Node], *parts: Any) -> Sequence[Any]:
        """The same for one whose types are stated: all these parts of it.

        Control flow and attention do the same whatever the sizes are.
        """
        if not issubclass(cls, ops.TensorOp) or issubclass(cls, ControlOp | ops.Attention):
            return self.known(parts)
        return self.look((*parts, *[operand.type for operand in operands]))[: len(parts)]

    def known(self, part: Any) -> Any:
        """The part with plain numbers for sizes that have been looked at."""
        return resized(part, self._plain) if self.seen else part

    def _plain(self, size: Size) -> Size:
        return substitute(size, self.seen)


def looked_at(part: Any, sizes: Any = None) -> Any:
    """A size, a type or a tuple of such things for one who decides by it, or by some `sizes` alone:
    with plain numbers for those that nobody had looked at; symbols that were named for good stay.
    """
    unseen = current_unseen()
    if unseen is None:
        return part
    unseen.look(part if sizes is None else sizes)
    return unseen.known(part)


def differ(one: Any, other: Any) -> bool:
    """Whether two sizes, or shapes, are not the same; if symbols do not tell, their numbers do."""
    return one != other and looked_at(one) != looked_at(other)


def current_unseen() -> Unseen | None:
    """The sizes at which the function that is being traced has not looked, if there may be such."""
    from .trace import current_trace

    trace = current_trace()
    return None if trace is None else trace.unseen


def unseen_by(operands: Sequence[Node]) -> Unseen | None:
    """The same, also for a thread that was handed the tensors of another one's trace."""
    unseen = current_unseen()
    if unseen is not None:
        return unseen
    return next((each.trace.unseen for each in operands if each.trace is not None), None)


def refuse() -> None:
    """Remember that an operation refuses what it is given: other sizes it might take."""
    unseen = current_unseen()
    if unseen is not None:
        unseen.refused = True
