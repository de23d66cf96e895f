"""The kernel func of a cluster.

Comes in: a cluster, when all clusters are fixed. Goes out: a `Kernel`: a pure func of the tensor
floor that takes arrays, each in the shape in which it is read, and returns what is written.
Never: a view of anything but an array, or an axis of size 1, except in an op that stands alone.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.func import Func, Return
from ...ir.locations import UNKNOWN, Location
from ...ir.tensor.base import rebuilt
from ...ir.types import Tensor
from ...ir.values import AnyValue, Op
from ..copying import copy_ops
from ..reads import reads
from ..simplify.patterns import uniform
from .axes import Axes, Group, flat
from .clusters import Cluster, Clusters
from .graph import Kind, Node, Read, Source
from .legal import order_of
from .products import contracted, operands_of
from .views import emit_chain, moves, needed

Seen = tuple[Source, Shape]
"""Memory, and the shape in which it is handed to a kernel."""

Placed = tuple[AnyValue, Group]
"""A value of a kernel, and the leaves that its axes are."""


@dataclass(eq=False, slots=True)
class Kernel:
    """A func, the arrays that a launch hands to it, and the ops that it does the work of; or, for
    what the host does by itself, a func that is not launched, and for control flow the `parts` of
    its regions. `witnesses` are the types of empty arrays, handed over after the reads to tell
    sizes."""

    func: Func
    cluster: Cluster
    reads: list[Seen]
    writes: list[Seen]
    ops: list[Op] = field(default_factory=lambda: [])
    witnesses: list[Tensor] = field(default_factory=lambda: [])
    parts: list["Part"] = field(default_factory=lambda: [])

    @property
    def location(self) -> Location:
        """The user's lines that it comes from."""
        return self.cluster.nodes[0].location if self.parts else self.func.location

    @property
    def fills(self) -> bool:
        """Whether the host fills memory with a number."""
        return self.cluster.nodes[0].kind is Kind.FILL

    @property
    def calls(self) -> bool:
        """Whether the host calls a function of Python."""
        return isinstance(self.cluster.nodes[0].op, tensor.HostCall)

    @property
    def launched(self) -> bool:
        """Whether there is a launch, and not something that the host does by itself."""
        return not (self.parts or self.fills or self.calls)


@dataclass(frozen=True, slots=True)
class Part:
    """The step of a func or of a region, its kernels in order, and how they were chosen."""

    step: Func
    kernels: list[Kernel]
    clusters: Clusters


def build_kernel(clusters: Clusters, cluster: Cluster, name: str) -> Kernel:
    """The kernel of a cluster."""
    cluster.nodes.sort(key=lambda node: node.number)
    if cluster.nodes[0].kind is Kind.ALONE:
        return _alone(cluster, name)
    if cluster.nodes[0].kind is Kind.FILL:
        return _filling(cluster, name)
    return _Maker(clusters, cluster, name).kernel()


def _alone(cluster: Cluster, name: str) -> Kernel:
    """One op, as it stands."""
    (node,) = cluster.nodes
    op = node.op
    assert op is not None
    func = Func(name, location=op.location)
    values: dict[AnyValue, AnyValue] = {}
    taken: list[Seen] = []
    given: dict[Op, None] = {}
    for value, read in zip(reads(op), node.reads, strict=True):
        if read.source is None:
            assert read.given is not None
            given[read.given] = None
            continue
        values[value] = func.body.add_argument(value.type, value.name)
        taken.append((read.source.root, read.source.shape))
    builder = Builder(func.body, location=op.location)
    copy_ops([*given, op], builder, values)
    builder.emit_all(Return, [values[result] for result in op.results])
    return Kernel(func, cluster, taken, [(each, each.shape) for each in node.makes], [op])


def _filling(cluster: Cluster, name: str) -> Kernel:
    """No func at all: the host fills memory with a number by itself."""
    (node,) = cluster.nodes
    func = Func(name, location=node.location)
    return Kernel(func, cluster, [], [(each, each.shape) for each in node.makes])


class _Maker:
    """Makes the values of a kernel, from what is written back to what is read."""

    def __init__(self, clusters: Clusters, cluster: Cluster, name: str) -> None:
        self.clusters, self.cluster = clusters, cluster
        self.axes: Axes = clusters.graph.axes
        self.order = order_of(cluster)
        self.places = {leaf: place for place, leaf in enumerate(self.order)}
        self.func = Func(name)
        self.builder = Builder(self.func.body)
        self.made: dict[Node, Placed] = {}
        self.before: list[Node] = []
        self.taken: dict[Seen, AnyValue] = {}

    def kernel(self) -> Kernel:
        """All of it."""
        sources = sorted(self.cluster.writes, key=_number)
        for node in self._nodes(sources):
            self.builder.location = node.location
            self.made[node] = self._value(node)
        results: list[AnyValue] = []
        for source in sources:
            assert source.node is not None
            self.builder.location = source.node.location
            placed = self.made[source.node]
            results.append(self._aligned(placed, self._in_order(source.leaves)))
            results[-1].name = results[-1].name or source.value.name
        lines = self._location()
        self.builder.location = self.func.location = lines
        self.builder.emit_all(Return, results)
        writes = [(each, self.axes.sizes(self._in_order(each.leaves))) for each in sources]
        made = sorted((*self.before, *self.made), key=_place)
        ops = [node.op for node in made if node.op is not None]
        return Kernel(self.func, self.cluster, [*self.taken], writes, ops)

    def _nodes(self, sources: list[Source]) -> list[Node]:
        """The nodes that the kernel computes, each after what it reads. What is written says in
        which order, so that kernels which do the same are the same, wherever their ops stood."""
        found: dict[Node, None] = {}
        pending = [(source.node, False) for source in reversed(sources) if source.node is not None]
        while pending:
            node, ready = pending.pop()
            if ready:
                found[node] = None
            elif node not in found:
                inner = (read.source for read in reversed(node.reads) if self._is_computed(read))
                pending += [
                    (node, True),
                    *((each.node, False) for each in inner if each is not None and each.node),
                ]
        return [*found]

    def _is_computed(self, read: Read) -> bool:
        """Whether what is read is no array, but a value of this kernel."""
        source = read.source
        if source is None or read.cut is not None or source.node is None:
            return False
        theirs = self.clusters.of[source.node.number]
        return theirs is self.cluster or source not in theirs.writes

    def _value(self, node: Node) -> Placed:
        if node.kind is Kind.PRODUCT:
            return self._product(node)
        placed = [self._read(read) for read in node.reads]
        if node.kind is Kind.REDUCTION:
            return self._reduced(node, placed[0])
        present = {leaf for _, leaves in placed for leaf in leaves}
        leaves = self._in_order(present)
        operands = [self._aligned(each, leaves) for each in placed]
        if node.op is None:
            return operands[0], leaves
        op: Any = node.op
        if op.attributes:
            (value,) = rebuilt(op, self.builder, tuple(operands))
        else:
            value = self.builder.emit(op.__class__, *operands)
        value.name = value.name or op.results[0].name
        return value, leaves

    def _product(self, node: Node) -> Placed:
        """A contraction of arrays, in the order of its own axes."""
        both = operands_of(self.axes, node)
        values = [
            self._operand(read, operand.shape)
            for read, operand in zip(node.reads, both, strict=True)
        ]
        return contracted(self.builder, _declared(node), both, values), node.leaves

    def _operand(self, read: Read, shape: Shape) -> AnyValue:
        """An operand of a contraction: an array, or what is computed from arrays for it alone."""
        assert read.source is not None
        source = read.source.root
        if source.node is None or source in self.clusters.of[source.node.number].writes:
            return self._taken((source, shape))
        inner = copy(self)
        inner.order, inner.made = source.leaves, {}
        inner.places = {leaf: place for place, leaf in enumerate(inner.order)}
        for node in inner._nodes([source]):
            inner.made[node] = inner._value(node)
        self.before += inner.made
        value = inner._aligned(inner.made[source.node], source.leaves)
        return value if value.shape == shape else self.builder.emit(tensor.Reshape, value, shape)

    def _reduced(self, node: Node, operand: Placed) -> Placed:
        """A reduction over all axes of the kernel."""
        value, op = self._aligned(operand, self.order), _declared(node)
        places = tuple([self.places[leaf] for leaf in node.reduced])
        kept = tuple([leaf for leaf in self.order if leaf not in node.reduced])
        if isinstance(op, tensor.ArgMaximum | tensor.ArgMinimum):
            made = self.builder.emit(op.__class__, value, axis=places[0], dtype=op.dtype)
        else:
            made = self.builder.emit(op.__class__, value, axes=tuple(sorted(places)))
        made.name = made.name or op.results[0].name
        return made, kept

    def _read(self, read: Read) -> Placed:
        if read.source is None:
            return self._given(read)
        if self._is_computed(read):
            assert read.source.node is not None
            return self.made[read.source.node]
        root = read.source.root
        if not any(moves(op) for op in read.chain):
            leaves = self.axes.leaves(flat(read.start))
            return self._taken((root, self.axes.sizes(leaves))), leaves
        wanted = tuple([self.axes.sizes(group) for group in read.groups])
        value = self._taken((root, flat_sizes(needed(read.chain, wanted))))
        return emit_chain(self.builder, value, read.chain, wanted), self.axes.leaves(
            flat(read.groups)
        )

    def _given(self, read: Read) -> Placed:
        """A number, or a counter along its only axis."""
        op: Any = read.given
        if isinstance(op, tensor.Constant):
            return self.builder.emit(tensor.Constant, uniform(op.result)), ()
        axis: int = op.axis
        counted = self.axes.leaves(read.start[axis])
        sizes = self.axes.sizes(counted)
        if not counted:
            zero = self.builder.emit(tensor.Iota, shape=(1,), axis=0, dtype=op.dtype)
            return self.builder.emit(tensor.Reshape, zero, ()), ()
        return self.builder.emit(tensor.Iota, shape=sizes, axis=0, dtype=op.dtype), counted

    def _taken(self, seen: Seen) -> AnyValue:
        """The argument that stands for an array."""
        found = self.taken.get(seen)
        if found is None:
            source, shape = seen
            type_ = Tensor(shape, source.value.dtype)
            found = self.taken[seen] = self.func.body.add_argument(type_, source.value.name)
        return found

    def _in_order(self, leaves: Iterable[int]) -> Group:
        """Leaves as the kernel runs along them."""
        return tuple(sorted(leaves, key=self.places.__getitem__))

    def _aligned(self, placed: Placed, leaves: Group) -> AnyValue:
        """A value along exactly these leaves, which stand in the kernel's order."""
        value, own = placed
        order = self._in_order(own)
        if order != own:
            value = self.builder.emit(
                tensor.Permute, value, tuple(own.index(leaf) for leaf in order)
            )
        if order == leaves:
            return value
        axes = tuple([leaves.index(leaf) for leaf in order])
        return self.builder.emit(tensor.Broadcast, value, self.axes.sizes(leaves), axes)

    def _location(self) -> Location:
        """The lines of all that the kernel computes."""
        nodes = sorted(self.made, key=_place)
        places = [place for node in nodes for place in node.location]
        return Location(*places) if places else UNKNOWN


def flat_sizes(groups: Sequence[Shape]) -> Shape:
    """The sizes of all groups in one row."""
    return tuple([size for group in groups for size in group])


def _declared(node: Node) -> Any:
    """The op of a node that has one."""
    assert node.op is not None
    return node.op


def _place(node: Node) -> int:
    return node.number


def _number(source: Source) -> tuple[int, int]:
    assert source.node is not None
    return source.node.number, source.value.index
