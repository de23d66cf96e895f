"""Which clusters become one: what saves most is tried first.

Comes in: the clusters of a graph. Goes out: fewer of them. A value that is read where it is made is
never written, unless somebody else needs it; readers of one array read it once. What was refused is
tried again once others have been joined.
Never: a cluster that is not legal; `legal` is asked each time.
"""

from collections.abc import Iterator

from .axes import Axes
from .clusters import Cluster, Clusters
from .cost import CACHED, LAUNCH, count, effort, moved
from .graph import Graph, Node, Source
from .legal import refusal
from .refuse import Refuse

ROUNDS = 4
MOST_GROUPS = 8
"""Beside how many of the readers of an array another one is tried."""

Refused = dict[tuple[Cluster, Cluster], tuple[int, int]]
"""Pairs that were not joined, and how many nodes they had then."""

Candidate = tuple[float, int, Source, Node | None]


def choose(clusters: Clusters) -> None:
    """Join clusters until nothing is gained any more."""
    refused: Refused = {}
    candidates = sorted(_candidates(clusters.graph), key=lambda each: (-each[0], each[1]))
    for _ in range(ROUNDS):
        joined = 0
        for _, _, source, reader in candidates:
            if reader is not None:
                joined += _join_reader(clusters, refused, source, reader)
            else:
                joined += _join_readers(clusters, refused, source)
        if not joined:
            break


def bytes_of(source: Source) -> float:
    """About how many bytes a source has."""
    type_ = source.value.type
    return moved(type_.shape, type_.dtype)


def reading(axes: Axes, source: Source, reader: Cluster) -> float:
    """About what it costs a cluster to read a source, which may be along fewer axes."""
    again = 0.0
    if source.leaves and len(source.leaves) < len(reader.space):
        again = CACHED * source.value.dtype.itemsize * count(axes.sizes(reader.space))
    return bytes_of(source) + again


def repeated(axes: Axes, nodes: list[Node], cluster: Cluster) -> float:
    """What it costs to run maps along all axes of a cluster instead of their own."""
    total = 0.0
    for node in nodes:
        if not node.leaves:
            continue
        wide = cluster.rows if cluster.rows.issuperset(node.leaves) else cluster.space
        more = count(axes.sizes(wide)) - count(axes.sizes(node.leaves))
        total += more * effort(None if node.op is None else node.op.__class__)
    return total


def _candidates(graph: Graph) -> Iterator[Candidate]:
    """Each value with each of its readers, and each array with all of them."""
    sources = [source for node in graph.nodes for source in node.makes]
    for number, source in enumerate([*graph.arguments, *sources]):
        size = bytes_of(source)
        readers = dict.fromkeys(source.readers)
        if source.node is not None:
            for reader in readers:
                yield size if len(readers) > 1 else 2 * size, number, source, reader
        if len(readers) > 1 and source.leaves:
            yield size / 2, number, source, None


def _join_reader(clusters: Clusters, refused: Refused, source: Source, reader: Node) -> bool:
    """Join a reader with what it reads."""
    assert source.node is not None
    of = clusters.of
    return _join(clusters, refused, of[source.node.number], of[reader.number])


def _join_readers(clusters: Clusters, refused: Refused, source: Source) -> int:
    """Join readers of an array that run along its axes, and no others."""
    groups: list[Cluster] = []
    joined = 0
    for reader in source.readers:
        mine = clusters.of[reader.number]
        if mine.alone or mine in groups or len(mine.space) > len(source.leaves):
            continue
        same = (each for each in groups if each.space == mine.space)
        if any(_join(clusters, refused, *sorted((each, mine), key=_place)) for each in same):
            joined += 1
            groups = [each for each in groups if clusters.of[each.nodes[0].number] is each]
        mine = clusters.of[reader.number]
        if mine not in groups and len(groups) < MOST_GROUPS:
            groups.append(mine)
    return joined


def _join(clusters: Clusters, refused: Refused, one: Cluster, other: Cluster) -> bool:
    state = len(one.nodes), len(other.nodes)
    if one is other or refused.get((one, other)) == state:
        return False
    if refusal(clusters, one, other) is None and _is_worth_it(clusters, one, other):
        made = clusters.join(one, other, clusters.written_by(one, other))
        if not isinstance(made, Refuse):
            return True
    refused[one, other] = state
    return False


def _is_worth_it(clusters: Clusters, one: Cluster, other: Cluster) -> bool:
    """Whether what is saved outweighs what a map does more often than before."""
    if one.space == other.space:
        return True
    wide, narrow = (one, other) if len(one.space) > len(other.space) else (other, one)
    if narrow.reduced:
        return True
    axes = clusters.graph.axes
    saved = LAUNCH + sum(bytes_of(each) + reading(axes, each, wide) for each in narrow.writes)
    return repeated(axes, narrow.nodes, wide) <= saved


def _place(cluster: Cluster) -> int:
    return cluster.place
