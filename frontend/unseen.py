"""Sizes that the function being traced has not looked at: its recording serves all of them.

Comes in: the sizes that `jit` put symbols in the place of. Goes out: plain numbers for whoever
looks: from then on the recording, what stands there already included, holds for these alone.
Never: a symbol that a user sees, or a decision by a size that nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..ir import tensor as ops
from ..ir.dims import Size, Symbol, substitute
from ..ir.tensor.control import ControlOp
from .general import is_general, may_be_small
from .symbolic import is_open, resized, symbols_in
from .tree import register

if TYPE_CHECKING:
    from .node import Node

Shape = tuple[Size, ...]


class Unseen:
    """The sizes of one function while it is traced: the number that each symbol stands for.

    `seen` are the symbols that somebody has looked at, `nodes` what may have others in it,
    `shapes` how many there are that somebody holds and may look at; and `refused` says that an
    operation has refused something, perhaps on account of a symbol.
    """

    __slots__ = ("nodes", "numbers", "refused", "seen", "shapes")

    def __init__(self, numbers: Mapping[Symbol, int]) -> None:
        self.numbers = dict(numbers)
        self.seen: dict[Symbol, int] = {}
        self.nodes: list[Node] = []
        self.refused = False
        self.shapes = 0

    @property
    def left(self) -> dict[Symbol, int]:
        """The sizes at which nobody has looked."""
        return {each: number for each, number in self.numbers.items() if each not in self.seen}

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
        """Once the function has ended: who has kept a shape may look at it any time."""
        if self.shapes:
            self.look(tuple(self.numbers))
        self.nodes.clear()

    def asked(
        self, cls: Any, operands: Sequence[Node], attributes: tuple[Any, ...], made: Any
    ) -> tuple[Any, ...]:
        """The attributes of an operation, which has looked at its sizes if it is not the same for
        all there may be, or if what is `made` may have an axis of one element or none: a fact."""
        types = tuple([operand.type for operand in operands])
        if may_be_small(made) or not is_general(cls, types, attributes):
            self.look((attributes, types))
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


class _Size:
    """What stands in the memory of a shape, where C finds it without asking the shape."""

    __slots__ = ("size", "unseen")

    def __init__(self, size: Size, unseen: Unseen) -> None:
        self.size, self.unseen = size, unseen

    def __index__(self) -> int:
        return self.unseen.look(self.size)

    __int__ = __index__

    def __repr__(self) -> str:
        return str(self.__index__())


class UnseenShape(tuple[int, ...]):
    """A shape of which some sizes have not been looked at: for Python it is a tuple of plain
    numbers, and whoever takes one of these, or the whole, has looked."""

    sizes: Shape
    unseen: Unseen

    def __new__(cls, sizes: Shape, unseen: Unseen) -> UnseenShape:
        hidden = [_Size(size, unseen) if is_open(size) else size for size in sizes]
        made = super().__new__(cls, cast(list[int], hidden))
        made.sizes, made.unseen = sizes, unseen
        unseen.shapes += 1
        return made

    def __del__(self) -> None:
        self.unseen.shapes -= 1

    def __getitem__(self, place: Any) -> Any:
        found = self.sizes[place]
        return shown(found, self.unseen) if isinstance(found, tuple) else self.unseen.look(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._looked(),)

    def _looked(self) -> tuple[int, ...]:
        return self.unseen.look(self.sizes)


def _looking(name: str) -> Any:
    inherited = getattr(tuple, name)

    def method(self: UnseenShape, *args: Any) -> Any:
        # In another such shape C would find what stands for a size, and no number.
        plain = [each._looked() if isinstance(each, UnseenShape) else each for each in args]
        return inherited(self._looked(), *plain)

    method.__name__ = name
    return method


for _name in (
    "__add__", "__contains__", "__eq__", "__ge__", "__gt__", "__hash__", "__iter__", "__le__",
    "__lt__", "__mul__", "__ne__", "__repr__", "__rmul__", "count", "index",
):  # fmt: skip
    setattr(UnseenShape, _name, _looking(_name))


def _behind(self: UnseenShape, before: Any) -> Any:
    return before + self._looked() if isinstance(before, tuple) else NotImplemented


UnseenShape.__radd__ = _behind  # pyright: ignore[reportAttributeAccessIssue]
register(UnseenShape, lambda shape: (tuple(shape), None), cast(Any, lambda _, sizes: tuple(sizes)))


def shown(shape: Shape, unseen: Unseen | None, ended: bool = False) -> tuple[int, ...]:
    """A shape as users get it; once the trace has `ended`, in plain numbers."""
    if unseen is None or unseen.numbers.keys().isdisjoint(symbols_in(shape)):
        return cast(tuple[int, ...], shape)
    if ended:
        return resized(shape, lambda size: substitute(size, unseen.numbers))
    known = unseen.known(shape)
    return UnseenShape(known, unseen) if is_open(known) else known


def looked_at(part: Any) -> Any:
    """A size, a type or a tuple of such things for one who decides by it: with plain numbers for
    sizes that nobody has looked at; symbols that were named for good stay."""
    unseen = current_unseen()
    return part if unseen is None else unseen.look(part)


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
