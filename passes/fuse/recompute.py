"""Values that are computed again by all of their readers, because that is cheaper than memory.

Comes in: clusters, when no more of them are joined. Goes out: the same clusters, which write less:
one value in the place of several that follow from it, and none that follows from what is in memory
anyway. Clusters that have nothing to write any more are gone.
Never: a reduction that is done twice, or a value that some readers compute and others read.
"""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass

from .choose import bytes_of, reading, repeated
from .clusters import Cluster, Clusters
from .cost import LAUNCH, MOST_ARRAYS, MOST_OPS, MOST_RECOMPUTED, count, effort, length
from .graph import Kind, Node, Source
from .legal import arranged
from .refuse import Refuse


@dataclass(frozen=True, slots=True)
class Again:
    """How readers compute a value by themselves: these nodes, from these inputs."""

    source: Source
    readers: tuple[Cluster, ...]
    nodes: list[Node]
    inputs: list[Source]


def recompute(clusters: Clusters) -> None:
    """Let readers compute what is cheap; the last values first, so that chains follow."""
    for cluster in clusters.ordered:
        while len(cluster.writes) > 1 and _write_another(clusters, cluster):
            pass
    for node in reversed(clusters.graph.nodes):
        for source in node.makes:
            if source in clusters.of[node.number].writes:
                _recompute(clusters, source)
    for cluster in clusters.ordered:
        if not cluster.writes:
            clusters.drop(cluster)


def _write_another(clusters: Clusters, own: Cluster) -> bool:
    """Write one value more, if readers can then do without others that cost more."""
    best, most = None, 0.0
    for other in _origins(clusters, own):
        ways = [_way(clusters, each, (other,)) for each in own.writes]
        found = [each for each in ways if each is not None and other in each.inputs]
        gains = [(each, _gain(clusters, each, (other,))) for each in found]
        chosen = [each for each, gain in gains if gain > 0]
        readers = {reader for each in chosen for reader in each.readers}
        gain = sum(gain for _, gain in gains if gain > 0) - bytes_of(other)
        gain -= sum(_reading(clusters, other, reader) for reader in readers)
        if gain > most and _can_write(own, other, chosen):
            best, most = (other, chosen), gain
    if best is None:
        return False
    other, chosen = best
    own.writes[other] = None
    for each in chosen:
        _let(clusters, own, each)
    return True


def _origins(clusters: Clusters, own: Cluster) -> list[Source]:
    """Values of a cluster that it does not write, from which two or more that it writes follow."""
    met = Counter(each for source in own.writes for each in _behind(clusters, own, source))
    return sorted([source for source, count in met.items() if count > 1], key=_number)


def _behind(clusters: Clusters, own: Cluster, source: Source) -> set[Source]:
    """The values of a cluster from which this one follows by maps, up to those that it writes."""
    found: set[Source] = set()
    pending = [source]
    while pending and len(found) < MOST_RECOMPUTED:
        node = pending.pop().node
        assert node is not None
        reads = node.reads if node.kind in (Kind.MAP, Kind.COPY) else ()
        inner = [
            root
            for root in (read.source.root for read in reads if read.source is not None)
            if root.node is not None and clusters.of[root.node.number] is own
        ]
        new = [each for each in inner if each not in own.writes and each not in found]
        found.update(new)
        pending += new
    return found


def _can_write(own: Cluster, other: Source, instead: Iterable[Again]) -> bool:
    """Whether a cluster can write a value, in the place of others, as it runs along its axes."""
    gone = {each.source for each in instead}
    writes = [*(each for each in own.writes if each not in gone), other]
    return not isinstance(arranged(own.space, own.reduced, writes), Refuse)


def _recompute(clusters: Clusters, source: Source) -> None:
    """Stop writing a value, if its readers can do without."""
    assert source.node is not None
    own = clusters.of[source.node.number]
    if not source.returned and not own.alone and not _readers(clusters, source):
        clusters.forget(own, source)
        return
    way = _way(clusters, source)
    if way is not None:
        gain = _gain(clusters, way) + (LAUNCH if len(own.writes) == 1 else 0)
        if gain > 0:
            _let(clusters, own, way)


def _way(clusters: Clusters, source: Source, more: Container[Source] = ()) -> Again | None:
    """How the readers of a value can compute it, from what is in memory, or if `more` were."""
    assert source.node is not None
    own = clusters.of[source.node.number]
    readers = _readers(clusters, source)
    if source.returned or source.pinned or own.alone or not readers:
        return None
    needs = _needs(clusters, source, more)
    if needs is None:
        return None
    way = Again(source, readers, *needs)
    return None if any([_is_large(each, way) for each in readers]) else way


def _is_large(reader: Cluster, way: Again) -> bool:
    """Whether a reader that computes a value would have too many ops, or too many arrays."""
    arrays = {*reader.reads, *reader.writes, *way.inputs}.difference([way.source])
    more = sum([length(node.op) for node in way.nodes])
    return reader.ops + more > MOST_OPS or len(arrays) > MOST_ARRAYS


def _readers(clusters: Clusters, source: Source) -> tuple[Cluster, ...]:
    """The clusters that read a value from memory."""
    assert source.node is not None
    own = clusters.of[source.node.number]
    found = dict.fromkeys(clusters.of[node.number] for node in source.readers)
    return tuple([each for each in found if each is not own])


def _gain(clusters: Clusters, way: Again, free: Container[Source] = ()) -> float:
    """What is saved when readers compute a value, less what it costs; what is `free` costs nothing
    to read."""
    paid = [each for each in way.inputs if each not in free]
    saved = bytes_of(way.source)
    for reader in way.readers:
        saved += _reading(clusters, way.source, reader) - _cost(clusters, way, paid, reader)
    return saved


def _let(clusters: Clusters, own: Cluster, way: Again) -> None:
    """Let readers compute a value by themselves."""
    for reader in way.readers:
        clusters.hand_over(way.source, reader, way.nodes, way.inputs)
    clusters.forget(own, way.source)


def _needs(
    clusters: Clusters, source: Source, more: Container[Source]
) -> tuple[list[Node], list[Source]] | None:
    """The nodes that compute a source from memory, and what they read there."""
    assert source.node is not None
    nodes: dict[Node, None] = {}
    inputs: dict[Source, None] = {}
    pending = [source.node]
    while pending:
        node = pending.pop()
        if node in nodes:
            continue
        if node.kind not in (Kind.MAP, Kind.COPY) or len(nodes) == MOST_RECOMPUTED:
            return None
        nodes[node] = None
        for read in node.reads:
            if read.source is None:
                continue
            root = read.source.root
            stored = root.node is None or root in clusters.of[root.node.number].writes
            if stored or root in more:
                inputs[root] = None
            elif root.node is not None:
                pending.append(root.node)
    return [*nodes], [*inputs]


def _cost(clusters: Clusters, way: Again, inputs: Iterable[Source], reader: Cluster) -> float:
    """What it costs a reader to compute a value, and to read these of its inputs."""
    axes = clusters.graph.axes
    own = sum(
        count(axes.sizes(node.leaves)) * effort(None if node.op is None else node.op.__class__)
        for node in way.nodes
    )
    if _packs(clusters, way.source, reader):
        return own + sum(bytes_of(each) for each in inputs)
    more = sum(reading(axes, each, reader) for each in inputs if each not in reader.reads)
    return own + more + repeated(axes, way.nodes, reader)


def _reading(clusters: Clusters, source: Source, reader: Cluster) -> float:
    """What it costs a reader to read a value."""
    if _packs(clusters, source, reader):
        return bytes_of(source)
    return reading(clusters.graph.axes, source, reader)


def _packs(clusters: Clusters, source: Source, reader: Cluster) -> bool:
    """Whether a contraction has a value as an operand, of which it reads each element once."""
    packing = (node for node in source.readers if node.kind is Kind.PRODUCT)
    return any(clusters.of[node.number] is reader for node in packing)


def _number(source: Source) -> int:
    return -1 if source.node is None else source.node.number
