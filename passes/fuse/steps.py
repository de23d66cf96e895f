"""The step: what the host does to run the kernels in order.

Comes in: kernels, in the order in which they run. Goes out: the func `@main` of the step floor:
arrays in, arrays out, with what lies between allocated, written, read and freed.
Never: memory that is written before all who read it are done; each array has memory of its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ...ir import step
from ...ir.builder import Builder
from ...ir.func import Func, Return
from ...ir.types import Array
from ...ir.values import AnyValue
from .control import emit_control
from .graph import Graph, Source
from .kernels import Kernel, Seen


def build_step(graph: Graph, kernels: Sequence[Kernel]) -> Func:
    """The host's func, which takes and returns what the func of the graph does."""
    return _Maker(graph).step(kernels)


class _Maker:
    """Writes the host's ops; knows the memory of each source, and the views of it."""

    def __init__(self, graph: Graph) -> None:
        func = graph.func
        self.graph = graph
        self.func = Func(func.name, (), func.symbols, func.attributes, func.location)
        self.builder = Builder(self.func.body, location=func.location)
        self.memory: dict[Source, AnyValue] = {}
        self.views: dict[Seen, AnyValue] = {}
        for source in graph.arguments:
            type_ = Array(source.shape, source.value.dtype)
            self.memory[source] = self.func.body.add_argument(type_, source.value.name)

    def step(self, kernels: Sequence[Kernel]) -> Func:
        """All of it."""
        last = _last_readers(kernels)
        for kernel in kernels:
            self.builder.location = kernel.location
            for source, _ in kernel.writes:
                self._allocate(source)
            self._run(kernel)
            for source in last.get(kernel, ()):
                self.builder.emit_all(step.Free, self.memory[source])
        self.builder.location = self.func.location
        returned = [self._seen((each.root, each.shape)) for each in self.graph.results]
        self.builder.emit_all(Return, returned)
        return self.func

    def _run(self, kernel: Kernel) -> None:
        node = kernel.cluster.nodes[0]
        if kernel.fills:
            assert node.filled is not None
            self.builder.emit_all(step.Fill, self.memory[node.makes[0]], value=node.filled)
            return
        reads = [self._seen(each) for each in kernel.reads]
        writes = [self._seen(each) for each in kernel.writes]
        if kernel.parts:
            steps = [part.step for part in kernel.parts]
            emit_control(self.builder, node.op, reads, writes, steps)
            return
        if kernel.calls:
            op: Any = node.op
            self.builder.emit_all(step.Host, reads, writes, op.function, returns=True)
            return
        types = [Array(each.shape, each.dtype) for each in kernel.witnesses]
        told = [self.builder.emit(step.Allocate, each) for each in types]
        name = kernel.func.name
        self.builder.emit_all(step.Launch, [*reads, *told], writes, kernel=name, grid=())
        for each in told:
            self.builder.emit_all(step.Free, each)

    def _allocate(self, source: Source) -> None:
        """Memory for what a kernel writes."""
        type_ = Array(source.shape, source.value.dtype)
        (memory,) = self.builder.emit_all(step.Allocate, type_)
        memory.name = source.value.name
        self.memory[source] = memory

    def _seen(self, seen: Seen) -> AnyValue:
        """The memory of a source in a shape."""
        source, shape = seen
        memory = self.memory[source]
        if shape == source.shape:
            return memory
        found = self.views.get(seen)
        if found is None:
            found = self.views[seen] = self.builder.emit(step.View, memory, offset=0, shape=shape)
        return found


def _last_readers(kernels: Iterable[Kernel]) -> dict[Kernel, list[Source]]:
    """After which kernel which intermediate is needed no more."""
    last: dict[Source, Kernel] = {}
    for kernel in kernels:
        for source, _ in (*kernel.writes, *kernel.reads):
            last[source] = kernel
    found: dict[Kernel, list[Source]] = {}
    for source, kernel in last.items():
        if source.node is not None and not source.returned:
            found.setdefault(kernel, []).append(source)
    return found
