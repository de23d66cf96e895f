"""Reads a kernel func as a graph over its iteration space.

Comes in: a kernel func of the tensor floor. Goes out: its `Kernel`, or `Refused` with the reason.
Never: a change to the func.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Size
from ...ir.dtypes import COMPLEXES
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.payloads import Payload
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.elementwise import Elementwise
from ...ir.tensor.reduce import Reduction
from ...ir.values import AnyValue, Op
from .elementwise import has_form
from .kernel import REDUCING, Access, Kernel, Node, Output, Param
from .space import Index, Place, Refused, Space, broadcast_place, find_space, reduced_place
from .trace import Source, trace

Key = tuple[AnyValue, Place]
COMPUTED = (Elementwise, tensor.Select, tensor.Cast, tensor.Bitcast)
GIVEN = (tensor.Constant, tensor.Iota, tensor.Dim)


def read_kernel(func: Func) -> Kernel:
    """The graph of a kernel, or `Refused`."""
    _check_ops(func)
    space = find_space(func)
    roots = [(value, space.place(value.type.shape)) for value in func.results]
    reader = _Reader(func, space)
    reader.demand(roots)
    nodes = reader.nodes()
    outputs: list[Output] = []
    for number, (value, place) in enumerate(roots):
        param = Param(number, value.type.shape, value.dtype, value.name, written=True)
        outputs.append(Output(reader.node_of((value, place)), param, place))
    params = [*reader.reads(), *(output.param for output in outputs)]
    return Kernel(func, space, nodes, params, outputs)


def _check_ops(func: Func) -> None:
    for value in func.arguments:
        if value.type.dtype in COMPLEXES:
            raise Refused("complex numbers")
    for op in func.body:
        if not op.terminator and not _is_known(op.__class__):
            raise Refused(f"{op.name} has no form of tiles yet")
        if any(value.type.dtype in COMPLEXES for value in op.results):
            raise Refused("complex numbers")
        if isinstance(op, tensor.Constant) and not _is_one_number(op.value):
            raise Refused("a constant of several numbers")


@cache
def _is_known(cls: type[Op]) -> bool:
    """Whether ops of a class can stand in a kernel of tiles."""
    views = (tensor.Permute, tensor.Slice, tensor.Flip, tensor.Pad, tensor.Reshape)
    known = (*GIVEN, *views, tensor.Broadcast, Reduction, ArgReduction)
    return issubclass(cls, known) or (issubclass(cls, COMPUTED) and has_form(cls))


def _is_one_number(value: Payload) -> bool:
    elements = value.array.reshape(-1)
    return bool(len(elements)) and elements.tobytes() == elements[:1].tobytes() * len(elements)


@dataclass(slots=True)
class _Reader:
    """First what is wanted of each value, from the results back; then nodes, in program order."""

    func: Func
    space: Space
    wanted: dict[AnyValue, dict[Place, None]] = field(default_factory=lambda: {})
    sources: dict[Key, Source] = field(default_factory=lambda: {})
    asked_at: dict[Source, Location] = field(default_factory=lambda: {})
    made: dict[Any, Node] = field(default_factory=lambda: {})
    params: dict[tuple[int, Shape], Param] = field(default_factory=lambda: {})

    def demand(self, roots: list[Key]) -> None:
        """Note where each value is read."""
        for value, place in roots:
            self._want(value, place, value.op.location if value.op else self.func.location)
        for op, place in self._wanted(reversed(list(self.func.body))):
            for operand, at in self._reads(op, place):
                self._want(operand, at, op.location)

    def nodes(self) -> list[Node]:
        """The nodes, those that are read before their readers."""
        found: list[Node] = []
        for source in self.sources.values():
            if source.value.op is None and source not in self.made:
                found.append(self._leaf(source))
        for op, place in self._wanted(self.func.body):
            node = self._node(op, place)
            self.made[op.results[0], place] = node
            if node.value is op.results[0]:
                found.append(node)
        return found

    def node_of(self, key: Key) -> Node:
        """The node that stands for a value at a place."""
        source = self.sources[key]
        return self.made[source if source.value.op is None else (source.value, source.place)]

    def reads(self) -> list[Param]:
        """The params that are read, at least one an argument, in order."""
        found: list[Param] = []
        for number, argument in enumerate(self.func.arguments):
            mine = [param for (each, _), param in self.params.items() if each == number]
            found += mine or [Param(number, argument.type.shape, argument.dtype, argument.name)]
        return found

    def _wanted(self, ops: Iterable[Op]) -> Iterator[tuple[Op, Place]]:
        """Each op whose result is wanted, with each place."""
        for op in ops:
            places = self.wanted.get(op.results[0], {}) if op.results else ()
            yield from ((op, place) for place in places)

    def _want(self, value: AnyValue, place: Place, location: Location) -> None:
        source = self.sources.setdefault((value, place), trace(value, place))
        self.asked_at.setdefault(source, location)
        if source.value.op is not None:
            self.wanted.setdefault(source.value, {})[source.place] = None

    def _reads(self, op: Op, place: Place) -> list[Key]:
        """What an op reads, and where, if its result is wanted at a place."""
        if isinstance(op, tensor.Broadcast):
            return [(op.x, broadcast_place(op, place))]
        if isinstance(op, REDUCING):
            return [(op.x, reduced_place(op, place, self.space))]
        if isinstance(op, GIVEN):
            return []
        return [(operand, place) for operand in op.operands]

    def _node(self, op: Op, place: Place) -> Node:
        operands = tuple([self.node_of(key) for key in self._reads(op, place)])
        axes = _axes(place)
        nothing_done = isinstance(op, tensor.Broadcast | Reduction) and operands[0].axes == axes
        if nothing_done:
            return operands[0]
        varies = frozenset([axis for each in operands for axis in each.varies])
        level = max([each.level for each in operands], default=0)
        if isinstance(op, tensor.Iota):
            varies = frozenset(_axes((place[op.axis],)))
        if isinstance(op, REDUCING):
            varies, level = varies - {*self.space.reduced}, level + 1
        return Node(op.results[0], place, axes, operands, varies, level, op.location)

    def _leaf(self, source: Source) -> Node:
        number = source.value.index
        param = Param(number, source.shape, source.value.dtype, source.value.name)
        param = self.params.setdefault((number, source.shape), param)
        access = _access(source, param, self.space)
        axes = _axes(access.at)
        node = Node(source.value, (), axes, (), frozenset(axes), 0, self.asked_at[source], access)
        self.made[source] = node
        return node


def _axes(place: Place) -> tuple[int, ...]:
    return tuple(sorted(index.axis for index in place if index.axis is not None))


def _access(source: Source, param: Param, space: Space) -> Access:
    """How a source is read: a part that is shifted or stepped through is a window of its own."""
    if source.entries is not None:
        return _windowed(source, source.entries, param, space)
    if source.padding is not None and any(index.step != 1 for index in source.place):
        return _stepped(source, param, space)
    if source.padding is not None or _is_all(source, space):
        return Access(param, source.place, padding=source.padding)
    numbers: dict[int, int] = {}
    for index in source.place:
        if index.axis is not None:
            numbers[index.axis] = len(numbers)
    window = [
        index if index.axis is None else replace(index, axis=numbers[index.axis])
        for index in source.place
    ]
    sizes = tuple(space.sizes[axis] for axis in numbers)
    return Access(param, tuple(Index(axis) for axis in numbers), tuple(window), sizes)


def _windowed(source: Source, entries: Place, param: Param, space: Space) -> Access:
    """A window that is read where `entries` say. Where these go in steps there is no padding, and
    the window goes in these steps itself, since tiles are loaded without."""
    window, sizes, plain = list(source.place), list(source.sizes), list(entries)
    for number, entry in enumerate(entries):
        if entry.axis is None or entry.step == 1:
            continue
        for axis, index in enumerate(window):
            if index.axis == number:
                start = index.start + index.step * entry.start
                window[axis] = Index(number, start, index.step * entry.step)
        plain[number], sizes[number] = Index(entry.axis), space.sizes[entry.axis]
    return Access(param, tuple(plain), tuple(window), tuple(sizes), source.padding)


def _stepped(source: Source, param: Param, space: Space) -> Access:
    """A window that goes in steps along some axes; there is padding along the others."""
    entries: list[Index] = []
    window: list[Index] = []
    sizes: list[Size] = []
    for axis, (index, size) in enumerate(zip(source.place, source.shape, strict=True)):
        steps = index.axis is not None and index.step != 1
        entries.append(Index(index.axis) if steps else index)
        window.append(replace(index, axis=axis) if steps else Index(axis))
        sizes.append(space.sizes[index.axis] if steps and index.axis is not None else size)
    return Access(param, tuple(entries), tuple(window), tuple(sizes), source.padding)


def _is_all(source: Source, space: Space) -> bool:
    """Whether the axes that are run along are read from end to end."""
    return all(
        index.axis is None or (index.whole and space.sizes[index.axis] == size)
        for index, size in zip(source.place, source.shape, strict=True)
    )
