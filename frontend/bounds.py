"""Bound dims: sizes that the data decide, named while a function is compiled.

Comes in: a count that the program computes, and the most that it can be. Goes out: a size: the
count itself where its value is there, else a symbol that stands for it inside the `jit`.
Never: two symbols for one count: counts that are computed alike are one size.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from ..ir.dims import DEFAULT_MAXIMUM, MAX_SIZE, Size, Symbol, interval
from ..ir.func import Func
from ..ir.locations import Location
from .caller import user_line
from .errors import TracedValueError, fail
from .handle import wrap
from .node import Argument, Leaf, Node
from .recording import Numbering, Recording, gather, gathering
from .symbolic import symbols_in
from .trace import Trace, current_trace

PREFIX = "count"
"""How the symbols are called, with a number behind."""


class Bound(NamedTuple):
    """A size that is a count: its symbol, and which operation asked for it, where."""

    symbol: Symbol
    operation: str
    location: Location


class Bounds:
    """The bound dims of one function while it is traced, and their counts, in order of making.

    `taken` are the names that no other symbol may have.
    """

    def __init__(self, current: Trace) -> None:
        self.counts: dict[Bound, Node] = {}
        self._numbering = Numbering([])
        self._known: dict[int, Symbol] = {}
        types = tuple([argument.type for argument in current.arguments])
        self.taken = {each.name for each in symbols_in(types)}
        outer = current.outer
        while outer is not None:
            self.taken |= outer.bounds.taken if outer.bounds is not None else set()
            outer = outer.outer

    def symbol(self, operation: str, count: Node, most: int) -> Symbol:
        """The symbol of a count; the same for counts that are computed alike."""
        number = self._number(count)
        symbol = self._known.get(number)
        if symbol is None:
            names = (f"{PREFIX}{place}" for place in itertools.count(len(self.counts)))
            symbol = Symbol(next(name for name in names if name not in self.taken), 0, most)
            self.taken.add(symbol.name)
            self._known[number] = symbol
            self.counts[Bound(symbol, operation, user_line())] = count
        return symbol

    def _number(self, count: Node) -> int:
        numbering = self._numbering
        with gathering():
            nodes = gather([count]).nodes
            numbering.extend([node for node in nodes if node not in numbering.numbers])
            return numbering.number_of(count)


def bound_size(
    operation: str, count: Node, most: Size = DEFAULT_MAXIMUM, instead: str = ""
) -> Size:
    """A size that is the value of `count`, an integer: read now, or bound inside `jit`.

    `instead` says for the error what does without, inside another transformation.
    """
    if count.trace is None:
        from .tensor import host_array

        return int(host_array(wrap(count), operation))
    current = current_trace()
    if current is None or count.trace.ended:
        count.trace.refuse()
    if current.bounds is None:
        _refuse(operation, count, current, instead)
    if current.unseen is not None:  # what counts depend on is split off, at plain sizes
        most = current.unseen.look((most, *current.unseen.numbers))[0]
    highest = min(interval(most)[1], MAX_SIZE)
    return current.bounds.symbol(operation, count, highest) if highest > 0 else 0


def _refuse(operation: str, count: Node, current: Trace, instead: str) -> NoReturn:
    """Complain about a size that depends on values, where a size may not."""
    outside = f"compute it outside of the `{current.kind}`"
    fail(
        TracedValueError,
        operation,
        f"the size of the result depends on the value of a traced tensor, which `{current.kind}` "
        f"(traced at {current.location}) does not allow; the tensor was made at "
        f"{count.location or 'its arguments'}",
        hint=f"{instead}, or {outside}" if instead else outside,
    )


def with_counts(
    current: Trace, gathered: Callable[..., Recording], known: Sequence[Any]
) -> tuple[Recording, dict[Bound, Node]]:
    """What a function computes, with the counts of the sizes in it or in what else it returns.

    `gathered` is the recording of its outputs and of further nodes.
    """
    recording, counts = gathered(), dict[Bound, Node]()
    made = {} if current.bounds is None else current.bounds.counts
    while made:
        used = set(symbols_in(tuple(known)))
        for node in recording.nodes:
            used.update(symbols_of(node))
        found = {bound: count for bound, count in made.items() if bound.symbol in used}
        if len(found) == len(counts):
            break
        counts = found
        recording = gathered(*counts.values())
    return recording, counts


def symbols_of(node: Node) -> Iterator[Symbol]:
    """The symbols in a node's type, attributes and regions."""
    if node.cls is not Argument and node.cls is not Leaf:
        yield from symbols_in(node.attributes)
        yield from symbols_in(node.regions)
    yield from symbols_in(node.type)


def declare(func: Func) -> Func:
    """The func, with the symbols that it uses declared."""
    func.symbols = tuple(dict.fromkeys(symbols_in(func)))
    return func
