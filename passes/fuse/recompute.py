"""Values that are computed again by all of their readers, because that is cheaper than memory.

Comes in: clusters, when no more of them are joined. Goes out: the same clusters, which write less;
those that have nothing to write any more are gone.
Never: a reduction that is done twice, or a value that some readers compute and others read.
"""

from .axes import Axes
from .choose import bytes_of, reading, repeated
from .clusters import Cluster, Clusters
from .cost import LAUNCH, MOST_ARRAYS, MOST_RECOMPUTED, count, effort
from .graph import Kind, Node, Source


def recompute(clusters: Clusters) -> None:
    """Let readers compute what is cheap; the last values first, so that chains follow."""
    for node in reversed(clusters.graph.nodes):
        for source in node.makes:
            if source in clusters.of[node.number].writes:
                _recompute(clusters, source)
    for cluster in clusters.ordered:
        if not cluster.writes:
            clusters.drop(cluster)


def _recompute(clusters: Clusters, source: Source) -> None:
    """Stop writing a value, if its readers can do without."""
    assert source.node is not None
    own = clusters.of[source.node.number]
    if source.returned or own.alone:
        return
    outside = [node for node in source.readers if clusters.of[node.number] is not own]
    readers = dict.fromkeys(clusters.of[node.number] for node in outside)
    needs = None if source.pinned else _needs(clusters, source)
    if needs is None or not outside:
        if not outside:
            clusters.forget(own, source)
        return
    nodes, inputs = needs
    axes = clusters.graph.axes
    costs = [_cost(axes, nodes, inputs, reader) for reader in readers]
    saved = bytes_of(source) + (LAUNCH if len(own.writes) == 1 else 0)
    saved += sum(_reading(axes, source, each) for each in readers)
    fits = all(len({*each.reads, *each.writes, *inputs}) <= MOST_ARRAYS for each in readers)
    if fits and sum(costs) < saved:
        for reader in readers:
            clusters.hand_over(source, reader, nodes, inputs)
        clusters.forget(own, source)


def _needs(clusters: Clusters, source: Source) -> tuple[list[Node], list[Source]] | None:
    """The nodes that compute a source from memory, and what they read there."""
    assert source.node is not None
    nodes, inputs, pending = dict[Node, None](), dict[Source, None](), [source.node]
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
            if root.node is None or root in clusters.of[root.node.number].writes:
                inputs[root] = None
            else:
                pending.append(root.node)
    return [*nodes], [*inputs]


def _cost(axes: Axes, nodes: list[Node], inputs: list[Source], reader: Cluster) -> float:
    """What it costs a reader to compute some nodes again."""
    own = sum(
        count(axes.sizes(node.leaves)) * effort(None if node.op is None else node.op.__class__)
        for node in nodes
    )
    if reader.product is not None:
        return own + sum(bytes_of(each) for each in inputs)
    more = sum(reading(axes, each, reader) for each in inputs if each not in reader.reads)
    return own + more + repeated(axes, nodes, reader)


def _reading(axes: Axes, source: Source, reader: Cluster) -> float:
    """What a reader saves that reads a source no more; a contraction packs each operand once."""
    return bytes_of(source) if reader.product is not None else reading(axes, source, reader)
