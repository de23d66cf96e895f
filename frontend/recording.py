"""What is to be computed together: nodes in order, the leaves they read, and a key that says what.

Comes in: nodes whose values are wanted. Goes out: a `Recording`; equal keys mean equal programs,
whatever lines they came from; `lower` turns one into a func of the tensor floor.
Never: a computation, or a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from threading import RLock
from typing import Any, NamedTuple

from ..ir.builder import Builder
from ..ir.func import Func, Return, Yield
from ..ir.tensor import Constant
from ..ir.values import AnyValue, Block
from ..passes.context import Context
from ..passes.copying import inline
from ..passes.forks import held_across_forks
from ..passes.once import once
from ..passes.recognise import recognise
from .funcs import table_of_funcs
from .node import Argument, Called, Leaf, Node, Part

IsInput = Callable[[Node], bool]
_GATHERING = held_across_forks(RLock())
_FUNCS = table_of_funcs()


class Recording(NamedTuple):
    """Nodes in the order of their making, what they read from outside, and what is wanted."""

    nodes: list[Node]
    inputs: list[Node]
    outputs: list[Node]
    key: tuple[Any, ...]


def gathering() -> Any:
    """The lock held while nodes are gathered and lowered, and while buffers take the place of their
    operands. A handler of signals does not get it in the midst of that, and is told so."""
    return once(_GATHERING)


def is_leaf(node: Node) -> bool:
    """Whether a node's value is there already, or comes from outside."""
    return node.cls is Leaf or node.cls is Argument


def gather(
    outputs: Sequence[Node], first: Sequence[Node] = (), is_input: IsInput = is_leaf
) -> Recording:
    """The recording that computes `outputs`; `first` are inputs that come first, used or not."""
    known = {*first}
    nodes, inputs = list[Node](), list(first)
    pending = list(outputs)
    while pending:
        node = pending.pop()
        if node in known:
            continue
        known.add(node)
        if is_input(node):
            inputs.append(node)
        else:
            nodes.append(node)
            pending.extend(node.operands)
    nodes.sort(key=attrgetter("serial"))
    return _numbered(nodes, list(first), outputs)


def _numbered(nodes: list[Node], inputs: list[Node], outputs: Sequence[Node]) -> Recording:
    numbering = Numbering(inputs)
    numbering.extend(nodes)
    wanted = tuple([numbering.number_of(node) for node in outputs])
    return Recording(nodes, inputs, list(outputs), (tuple(numbering.entries), wanted))


class Numbering:
    """Numbers for nodes and for what they read, and an entry for each number: the parts of a key.

    Inputs and constants are numbered when they are first read, since a constant may be older than
    the program that reads it; equal nodes are numbered as one.
    """

    __slots__ = ("constants", "entries", "inputs", "numbers", "seen")

    def __init__(self, inputs: list[Node]) -> None:
        self.inputs = inputs
        self.constants: list[Node] = []
        self.numbers = {node: place for place, node in enumerate(inputs)}
        self.entries: list[Any] = [node.type for node in inputs]
        self.seen: dict[Any, int] = {}

    def extend(self, nodes: Iterable[Node]) -> None:
        """Number the nodes that come next."""
        numbers, seen, entries, outside = self.numbers, self.seen, self.entries, self._outside
        for node in nodes:
            if node.cls is Constant:
                continue
            read = tuple(
                [numbers[each] if each in numbers else outside(each) for each in node.operands]
            )
            entry = (node.cls, read, node.attributes, node.type, node.regions)
            number = seen.get(entry)
            if number is None:
                number = seen[entry] = len(entries)
                entries.append(entry)
            numbers[node] = number

    def number_of(self, node: Node) -> int:
        """The number of a node that may not have been read."""
        return self.numbers[node] if node in self.numbers else self._outside(node)

    def _outside(self, node: Node) -> int:
        """The number of an input, or of a constant, that is read for the first time."""
        if node.cls is not Constant:
            number = len(self.entries)
            self.entries.append(node.type)
            self.inputs.append(node)
        else:
            entry = (Constant, (), node.attributes, node.type, ())
            number = self.seen.setdefault(entry, len(self.entries))
            if number == len(self.entries):
                self.entries.append(entry)
            self.constants.append(node)
        self.numbers[node] = number
        return number


def weight(node: Node) -> int:
    """How many ops a node stands for."""
    if node.cls is Part:
        return 0
    funcs = node.attributes if node.cls is Called else node.regions
    return 1 + sum([1 for func in funcs for _ in func.body])


def last_reads(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, int]:
    """By the nodes that are read: the place of the last node that does, behind all if it is
    wanted."""
    found = {each: place for place, node in enumerate(nodes) for each in node.operands}
    return found | dict.fromkeys(outputs, len(nodes))


def func_of(recording: Recording) -> Func:
    """The func of an equal recording; its lines may be those of another one."""
    return _FUNCS.get(recording.key) or keep(recording, lower(recording))


def passing_func_of(recording: Recording) -> Func:
    """The same, and nobody keeps it yet."""
    return _FUNCS.get(recording.key) or lower(recording)


def keep(recording: Recording, func: Func) -> Func:
    """Know the func of a recording, or of an equal one."""
    return _FUNCS.put(recording.key, func)


def func_of_lines(recording: Recording) -> Func:
    """The func of an equal recording from the same lines."""
    key = (recording.key, tuple([node.location for node in recording.nodes]))
    return _FUNCS.get(key) or _FUNCS.put(key, lower(recording))


def lower(recording: Recording, name: str = "step") -> Func:
    """The func that a recording means: its inputs are arguments, its outputs are returned."""
    func = Func(name, [node.type for node in recording.inputs])
    values: dict[Any, AnyValue] = dict(zip(recording.inputs, func.arguments, strict=True))
    parts: dict[Node, tuple[AnyValue, ...]] = {}
    builder = Builder(func.body)
    for node in recording.nodes:
        if node.cls is Part:
            values[node] = parts[node.operands[0]][node.attributes[0]]
            continue
        builder.location = node.location
        results = _lowered(node, [values[each] for each in node.operands], builder)
        if isinstance(node.type, tuple):
            parts[node] = results
        else:
            values[node] = results[0]
    builder.emit_all(Return, [values[node] for node in recording.outputs])
    recognise(func, Context())
    return func


def _lowered(node: Node, operands: list[AnyValue], builder: Builder) -> tuple[AnyValue, ...]:
    """The values that a node stands for, made where the builder stands."""
    if node.cls is Called:
        return inline(node.attributes[0].body, operands, builder)
    types: Iterable[Any] = node.type if isinstance(node.type, tuple) else (node.type,)
    count = len(operands) - node.captures
    captured = operands[count:]
    regions = tuple([_region(func, captured, builder) for func in node.regions])
    if node.cls.numbered:
        found = builder.find((node.cls, tuple(operands), node.attributes))
        if found is not None:
            return found
    op = node.cls(tuple(operands[:count]), node.attributes, types, regions, node.location)
    builder.block.insert(op)
    return op.results


def _region(func: Func, captured: list[AnyValue], builder: Builder) -> Block:
    """A region that does what `func` does; the captured values it reads where they stand."""
    own = len(func.arguments) - len(captured)
    inside = builder.nest([value.type for value in func.arguments[:own]])
    results = inline(func.body, [*inside.block.arguments, *captured], inside)
    inside.emit_all(Yield, results)
    return inside.block
