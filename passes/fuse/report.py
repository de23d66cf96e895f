"""What became of a func: its kernels, what each moves, and why they are not fewer.

Comes in: kernels and the clusters behind them. Goes out: a `Report` of plain values, whose text is
for people to read.
Never: an influence on what is fused.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...ir.attributes import Shape
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.locations import Location
from .axes import elements
from .clusters import Cluster, Clusters
from .graph import Kind, Source
from .kernels import Kernel, Part
from .legal import refusal
from .refuse import Refuse

NOT_WORTH = Refuse("would compute it more often than memory costs")
APART = Refuse("each op was asked to be a kernel of its own")


@dataclass(frozen=True, slots=True)
class Moved:
    """An array that a kernel reads or writes."""

    name: str
    shape: Shape
    dtype: DType

    @property
    def bytes(self) -> Size:
        """How many bytes that is."""
        return elements(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        return f"{self.name} {self.dtype}[{sizes}]"


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One kernel: the user's lines, its ops, what it reads and writes, the bytes that its ops
    would move besides if each were a kernel, and why it is not one with those that read from it."""

    name: str
    location: Location
    ops: tuple[str, ...]
    reads: tuple[Moved, ...]
    writes: tuple[Moved, ...]
    saved: Size
    boundaries: Mapping[str, Refuse]

    @property
    def bytes(self) -> tuple[Size, Size]:
        """How many bytes are read, and how many written."""
        return _total(self.reads), _total(self.writes)

    def __str__(self) -> str:
        read, written = self.bytes
        lines = [f"{self.name}    {self.location}" if self.location else self.name]
        lines.append(f"  ops     {', '.join(self.ops)}")
        lines.append(f"  reads   {', '.join(map(str, self.reads)) or 'nothing'}")
        lines.append(f"  writes  {', '.join(map(str, self.writes))}")
        lines.append(f"  bytes   {read} read, {written} written, {self.saved} saved")
        lines += [f"  not one with {name}: {why}" for name, why in self.boundaries.items()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Report:
    """All kernels of a func, in the order in which they run."""

    func: str
    ops: int
    kernels: tuple[KernelReport, ...]

    @property
    def saved(self) -> Size:
        """The bytes that fusing saves."""
        return sum((each.saved for each in self.kernels), start=0)

    def __str__(self) -> str:
        head = (
            f"@{self.func}: {_counted(self.ops, 'op')} in {_counted(len(self.kernels), 'kernel')}"
        )
        return "\n\n".join([f"{head}, {self.saved} bytes saved", *map(str, self.kernels)])


def make_report(part: Part, apart: bool) -> Report:
    """The report on the kernels of a func, and of the regions that the host runs for it."""
    func = part.clusters.graph.func
    made = tuple(_reports(part, apart))
    return Report(func.name, sum(1 for op in func.walk() if not op.terminator), made)


def _reports(part: Part, apart: bool) -> Iterator[KernelReport]:
    of = {kernel.cluster: kernel for kernel in part.kernels}
    for kernel in part.kernels:
        if not kernel.parts:
            yield _report(part.clusters, kernel, of, apart)
        for inner in kernel.parts:
            yield from _reports(inner, apart)


def _report(
    clusters: Clusters, kernel: Kernel, of: Mapping[Cluster, Kernel], apart: bool
) -> KernelReport:
    cluster = kernel.cluster
    later: dict[Cluster, None] = {}
    for source in cluster.writes:
        for reader in source.readers:
            found = clusters.of[reader.number]
            if found is not cluster and found in of:
                later[found] = None
    boundaries = {
        of[each].func.name: APART if apart else _boundary(clusters, cluster, each)
        for each in sorted(later, key=lambda each: each.place)
    }
    return KernelReport(
        kernel.func.name,
        kernel.location,
        tuple(op.name.partition(".")[2] for op in kernel.ops) or ("copy",),
        tuple(_moved(each) for each in dict.fromkeys(root for root, _ in kernel.reads)),
        tuple(_moved(each) for each, _ in kernel.writes),
        _saved(cluster),
        boundaries,
    )


def _boundary(clusters: Clusters, one: Cluster, other: Cluster) -> Refuse:
    """Why a kernel is not one with another that reads from it."""
    found = refusal(clusters, one, other)
    if found is not None:
        return found
    between = clusters.between(one, other)
    return NOT_WORTH if between is None else between


def _saved(cluster: Cluster) -> Size:
    """The bytes that would be moved besides, if each op read and wrote arrays by itself."""
    total: Size = 0
    reads = Counter(
        read.source.root
        for node in (*cluster.nodes, *cluster.borrowed)
        for read in node.reads
        if read.source is not None
    )
    for source, count in reads.items():
        total = total + _bytes(source) * (count - (source in cluster.reads))
    for node in cluster.nodes:
        for source in node.makes:
            total = total + (0 if source in cluster.writes else _bytes(source))
    return total


def _bytes(source: Source) -> Size:
    return elements(source.shape) * source.value.dtype.itemsize


def _moved(source: Source) -> Moved:
    type_ = source.value.type
    return Moved(_name(source), type_.shape, type_.dtype)


def _name(source: Source) -> str:
    """What a person calls an array: by its name, or by the op that makes it."""
    if source.value.name is not None:
        return source.value.name
    if source.node is None:
        return f"argument {source.value.index}"
    if source.node.kind is Kind.FILL or source.value.op is None:
        return "a constant"
    return source.value.op.name.partition(".")[2]


def _total(moved: Sequence[Moved]) -> Size:
    return sum((each.bytes for each in moved), start=0)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
