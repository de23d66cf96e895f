"""The nodes of a func, found op by op.

Comes in: a func of the tensor floor. Goes out: its `Graph`. Axes are made one where ops say so;
where they cannot be, as in x + transpose(x), what is read is cut off, and read from memory.
Never: a change to the func.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dtypes import COMPLEXES
from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.payloads import Number
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction
from ...ir.values import AnyValue, Op
from ..reads import reads
from ..simplify.patterns import uniform
from .again import Waits
from .axes import Axes, Groups, flat
from .graph import MAPS, Graph, Kind, Node, Read, Source
from .products import takes
from .refuse import Refuse
from .views import IN_MEMORY, VIEWS, moves, reshape_before_move, stored_within, walk

ANOTHER_INDEX = Refuse("reads it at other places than those it computes")
ANOTHER_SHAPE = Refuse("reads it in a shape whose axes are not made of the same factors")

GIVEN = (*VIEWS, tensor.Iota)

OPERAND = Refuse("a contraction reads its operands from memory")
WHOLE = Refuse("reads all of it")
STORED = Refuse("reads of it what can only be read from memory")


def build_graph(func: Func, apart: bool = False, waits: Waits | None = None) -> Graph:
    """The graph of a func; with `apart` each op is a node that no other joins."""
    return _Maker(func, apart, waits or {}).graph()


class _Maker:
    """Makes nodes in program order."""

    def __init__(self, func: Func, apart: bool, waits: Waits) -> None:
        self.func, self.apart, self.waits, self.axes = func, apart, waits, Axes()
        self.nodes: list[Node] = []
        self.started = 0
        self.sources: dict[AnyValue, Source] = {}
        self.copies: dict[AnyValue, Source] = {}
        self.recast: dict[tuple[Source, AnyValue], Source] = {}

    def graph(self) -> Graph:
        """All of it."""
        arguments = [self._source(value, None) for value in self.func.arguments]
        for op in self.func.body:
            if not op.terminator and (self.apart or not self._is_given(op)):
                self._add(op)
        results = [self._result(value) for value in self.func.results]
        nodes = _living(self.nodes, results)
        self._let_wait(nodes)
        for number, node in enumerate(nodes):
            node.number = number
            self._settle(node)
        for source in arguments:
            source.leaves = self.axes.leaves(flat(source.groups))
        return Graph(self.func, self.axes, nodes, arguments, results)

    def _let_wait(self, nodes: Sequence[Node]) -> None:
        """Note what nodes wait for, among what is computed at all."""
        living = set(nodes)
        for node in nodes if self.waits else ():
            op = node.op or node.makes[0].value.op
            values = self.waits.get(op, ()) if op is not None else ()
            sources = dict.fromkeys([self.sources.get(self._trace(each)[0]) for each in values])
            node.waits = [each for each in sources if each is not None and each.node in living]

    def _settle(self, node: Node) -> None:
        """Fix the leaves of a node, now that nothing more is joined, and tell what it reads."""
        node.leaves = self.axes.leaves(flat(node.groups))
        node.reduced = self.axes.leaves(node.reduced)
        for source in node.makes:
            source.leaves = self.axes.leaves(flat(source.groups))
        for read in node.reads:
            if read.source is not None:
                read.source.root.readers.append(node)
                read.source.root.pinned |= read.cut is not None and not takes(self.axes, node, read)

    def _is_given(self, op: Op) -> bool:
        """Whether an op is no node: a view, a counter, or a constant that is one number."""
        if isinstance(op, tensor.Constant):
            return op.value.dtype not in COMPLEXES and uniform(op.result) is not None
        return isinstance(op, GIVEN) and not _is_complex(op)

    def _add(self, op: Op) -> None:
        if isinstance(op, tensor.Constant) and not self.apart:
            self._constant(op)
        elif self.apart or _is_complex(op):
            self._alone(op)
        elif isinstance(op, MAPS):
            self._map(op)
        elif isinstance(op, Reduction | ArgReduction) and _reduces(op):
            self._reduction(op)
        elif isinstance(op, Reduction):
            self._copy(op.x, op.result)
        elif isinstance(op, tensor.Contract):
            self._product(op)
        else:
            self._alone(op)

    def _map(self, op: Op) -> None:
        node = self._node(Kind.MAP, op)
        found = [self._read(operand) for operand in op.operands]
        node.groups = next((read.groups for read in found if read.source is not None), ())
        if not any(read.source is not None for read in found):
            node.groups = self.axes.groups(op.results[0].type.shape)
        self.axes.own(flat(node.groups), node.number)
        node.reads = [
            self._linked(node.groups, read, operand)
            for read, operand in zip(found, op.operands, strict=True)
        ]
        node.makes = [self._source(op.results[0], node, node.groups)]
        self.nodes.append(node)

    def _reduction(self, op: Any) -> None:
        node = self._node(Kind.REDUCTION, op)
        read = self._stored_read(op.x) if self._uniform(op.x) is not None else self._read(op.x)
        axes = (op.axis,) if isinstance(op, ArgReduction) else op.axes
        groups = [*read.groups]
        if isinstance(op, ArgReduction):
            groups[op.axis] = (self.axes.leaf(op.x.type.shape[op.axis], None),)
        node.groups = tuple(groups)
        self.axes.own(flat(node.groups), node.number)
        node.reads = [self._linked(node.groups, read, op.x)]
        node.reduced = flat(tuple([groups[axis] for axis in axes]))
        kept = tuple([group for axis, group in enumerate(groups) if axis not in axes])
        node.makes = [self._source(op.result, node, kept)]
        self.nodes.append(node)

    def _product(self, op: tensor.Contract) -> None:
        """A node that runs along the axes of its result, and reads other places of its operands."""
        node = self._node(Kind.PRODUCT, op)
        node.reads = [self._stored_read(value, OPERAND) for value in op.operands]
        node.groups = self.axes.groups(op.result.type.shape)
        self.axes.own(flat(node.groups), node.number)
        node.makes = [self._source(op.result, node, node.groups)]
        self.nodes.append(node)

    def _constant(self, op: tensor.Constant) -> None:
        """A node that fills memory with the numbers of a constant."""
        node = self._node(Kind.FILL, op)
        node.filled = op.value
        node.groups = self.axes.groups(op.result.type.shape)
        self.axes.own(flat(node.groups), node.number)
        node.makes = [self._source(op.result, node, node.groups)]
        self.nodes.append(node)

    def _alone(self, op: Op) -> None:
        if isinstance(op, tensor.Call):
            raise IRError(f"@{op.callee} is called: put calls in line, then fuse", op.location)
        node = self._node(Kind.ALONE, op)
        node.reads = [self._alone_read(op, value) for value in reads(op)]
        node.makes = [self._source(result, node) for result in op.results]
        self.nodes.append(node)

    def _alone_read(self, op: Op, value: AnyValue) -> Read:
        """A read of an op that stands alone; a sort counts by itself what it puts in order, and the
        region of an attention states its numbers by itself."""
        scored = isinstance(op, tensor.Attention | tensor.AttentionBackward)
        number = isinstance(value.op, tensor.Constant) and self._is_given(value.op)
        if scored and number and value not in op.operands:
            return Read((), (), (), given=value.op)
        counted = isinstance(value.op, tensor.Iota) and not self.apart
        if counted and isinstance(op, tensor.Sort) and value not in op.values[: op.keys]:
            return Read((), (), (), given=value.op)
        return self._stored_read(value)

    def _copy(self, value: AnyValue, made: AnyValue | None = None) -> Source:
        """A node that writes a value as it is, row by row; known as the value `made`."""
        location = value.op.location if value.op is not None else self.func.location
        node = self._node(Kind.COPY, None, location)
        number = self._uniform(value)
        if number is not None:
            node.kind, node.filled = Kind.FILL, number
            node.groups = self.axes.groups(value.type.shape)
        else:
            node.reads = [self._read(value, copied=True)]
            node.groups = node.reads[0].groups
        self.axes.own(flat(node.groups), node.number)
        source = Source(value, node.groups, node)
        if made is not None:  # which has fewer axes, but those that are gone had size 1
            kept = tuple([group for group in node.groups if group])
            cut = self.axes.cut(kept, made.type.shape)
            assert cut is not None
            source = self.sources[made] = Source(made, cut, node)
        node.makes = [source]
        self.nodes.append(node)
        return source

    def _copied(self, value: AnyValue) -> Source:
        """A value in memory that readers share."""
        if value not in self.copies:
            self.copies[value] = self._copy(value)
        return self.copies[value]

    def _node(self, kind: Kind, op: Op | None, location: Location | None = None) -> Node:
        """A node that has its place in the order only when all it reads has."""
        place = location if op is None else op.location
        self.started += 1
        return Node(self.started, kind, op, place or self.func.location)

    def _source(self, value: AnyValue, node: Node | None, groups: Groups | None = None) -> Source:
        found = self.axes.groups(value.type.shape) if groups is None else groups
        source = self.sources[value] = Source(value, found, node)
        return source

    def _trace(self, value: AnyValue) -> tuple[AnyValue, tuple[Op, ...]]:
        """The value at which views begin, and the views from there on."""
        chain: list[Op] = []
        while value not in self.sources and isinstance(value.op, VIEWS):
            chain.append(value.op)
            value = value.op.operands[0]
        return value, tuple(reversed(chain))

    def _uniform(self, value: AnyValue) -> Number | None:
        """The one number that a value is everywhere."""
        start, chain = self._trace(value)
        op = start.op
        if start in self.sources or not isinstance(op, tensor.Constant):
            return None
        padded = any(isinstance(each, tensor.Pad) for each in chain)
        return None if padded else uniform(start)

    def _read(self, value: AnyValue, copied: bool = False) -> Read:
        start, chain = self._trace(value)
        if start in self.sources:
            return self._through(self.sources[start], chain, copied=copied)
        if self._uniform(value) is not None:
            return Read(chain, (), (), given=start.op)
        moving = next((place for place, op in enumerate(chain) if moves(op)), None)
        if moving is not None:
            inner = self._copied(chain[moving].operands[0])
            return self._through(inner, chain[moving:], copied=copied)
        groups = self._counted(start.op)
        walked = walk(self.axes, chain, groups)
        if isinstance(walked, int):
            return self._through(self._copied(chain[walked].operands[0]), chain[walked:])
        return Read(chain, groups, walked, given=start.op)

    def _counted(self, op: Any) -> Groups:
        """The axes of a counter, which cannot be split along that which it counts."""
        if isinstance(op, tensor.Constant):
            return ()
        groups = [*self.axes.groups(op.shape)]
        if op.shape[op.axis] != 1:
            groups[op.axis] = (self.axes.leaf(op.shape[op.axis], None),)
        return tuple(groups)

    def _through(
        self,
        source: Source,
        chain: tuple[Op, ...],
        start: Groups | None = None,
        copied: bool = False,
    ) -> Read:
        """A read of a source; a reshape that the axes do not show is another view of memory."""
        stored = stored_within(chain, copied)
        if stored is not None:
            whole = self._copied(chain[stored].results[0])
            read = self._through(whole, chain[stored + 1 :], copied=copied)
            read.cut = read.cut or STORED
            return read
        before = reshape_before_move(chain)
        if before is not None:
            inner = chain[before].operands[0]
            in_memory = all(isinstance(op, IN_MEMORY) for op in chain[:before])
            base = source if in_memory else self._copied(inner)
            recast = self._recast(base, chain[before].results[0])
            return self._through(recast, chain[before + 1 :], copied=copied)
        start = source.groups if start is None else start
        groups = walk(self.axes, chain, start)
        if isinstance(groups, int):
            base = self._copied(chain[groups].operands[0]) if groups else source
            recast = self._recast(base, chain[groups].results[0])
            return self._through(recast, chain[groups + 1 :])
        cut = ANOTHER_SHAPE if source.memory else None
        if any(moves(op) for op in chain):
            cut = ANOTHER_INDEX
        return Read(chain, start, groups, source, cut=cut)

    def _recast(self, source: Source, value: AnyValue) -> Source:
        """The memory of a source in the shape of a value, with axes of its own."""
        found = self.recast.get((source, value))
        if found is None:
            groups = self.axes.groups(value.type.shape)
            found = Source(value, groups, memory=source.root)
            self.recast[source, value] = found
        return found

    def _linked(self, groups: Groups, read: Read, value: AnyValue) -> Read:
        """The read with its axes made those of its reader; from memory, if that cannot be."""
        if read.given is not None and not read.groups:
            return read
        if self.axes.unify(groups, read.groups):
            return read
        if read.source is not None:
            if not read.chain:
                return Read((), groups, groups, read.source, cut=ANOTHER_INDEX)
            fresh = self.axes.groups(read.source.shape)
            other = self._through(read.source, read.chain, fresh)
            other.cut = ANOTHER_INDEX
            if self.axes.unify(groups, other.groups):
                return other
        return Read((), groups, groups, self._copied(value), cut=ANOTHER_INDEX)

    def _stored_read(self, value: AnyValue, why: Refuse = WHOLE) -> Read:
        """A read of an array that is the value, whole and row by row."""
        source = self._stored(value)
        return Read((), source.groups, source.groups, source, cut=why)

    def _stored(self, value: AnyValue) -> Source:
        """The value in memory, which may be known in another shape."""
        inner = value
        while inner not in self.sources and isinstance(inner.op, IN_MEMORY):
            inner = inner.op.x
        source = self.sources.get(inner) or self._copied(inner)
        return source if inner is value else self._recast(source, value)

    def _result(self, value: AnyValue) -> Source:
        """What the func returns: memory of its own, that no argument and no other result is."""
        source = self._stored(value)
        if source.root.returned or source.root.node is None:
            copy = self._copy(value)
            source = copy
        source.root.returned = True
        return source


def _living(nodes: list[Node], results: Iterable[Source]) -> list[Node]:
    """The nodes on which results depend, in order."""
    needed = {source.root.node for source in results}
    for node in reversed(nodes):
        if node in needed:
            roots = (read.source.root.node for read in node.reads if read.source is not None)
            needed.update(roots)
    return [node for node in nodes if node in needed]


def _is_complex(op: Op) -> bool:
    values: Iterable[AnyValue] = (*op.operands, *op.results)
    return any(value.type.dtype in COMPLEXES for value in values)


def _reduces(op: Any) -> bool:
    """Whether an op reduces an axis that is not of size 1."""
    shape: Shape = op.x.type.shape
    axes: Sequence[int] = (op.axis,) if isinstance(op, ArgReduction) else op.axes
    return any(shape[axis] != 1 for axis in axes)
