"""Sums across the rows along which another kernel reduces: made while its rows pass.

Comes in: clusters, when all else is decided. Goes out: the same, but that one which only reduces,
along the first axes of what another one reads and reduces along the others, is part of that one: so
do the gradients of a norm's weights pass no data of their own.
Never: a reduction across rows that the same kernel reads.
"""

from collections.abc import Iterator

from ...ir.tensor.arg_reduce import ArgReduction
from .clusters import Cluster, Clusters
from .cost import MOST_ARRAYS, MOST_OPS
from .graph import Kind
from .legal import is_crossed, order_of
from .refuse import Refuse


def cross(clusters: Clusters) -> None:
    """Let rows be summed across where they pass anyway."""
    for cluster in clusters.ordered:
        if clusters.of[cluster.nodes[0].number] is cluster and _only_sums(cluster):
            _join(clusters, cluster)


def _only_sums(cluster: Cluster) -> bool:
    """Whether all that a kernel writes are reductions, none of which it reads itself."""
    reductions = [node for node in cluster.nodes if node.kind is Kind.REDUCTION]
    if not reductions or any(isinstance(node.op, ArgReduction) for node in reductions):
        return False
    made = {source for node in reductions for source in node.makes}
    read = (read.source.root for node in cluster.nodes for read in node.reads if read.source)
    return not cluster.crossed and made >= cluster.writes.keys() and made.isdisjoint(read)


def _join(clusters: Clusters, sums: Cluster) -> None:
    """Make sums a part of the first kernel that passes what they read, if any may take them."""
    for rows in _passing(clusters, sums):
        writes = clusters.written_by(rows, sums)
        reads = {*rows.reads, *sums.reads}.difference(rows.writes)
        large = len(writes) + len(reads) > MOST_ARRAYS
        kept = any(each in writes and not is_crossed(rows, each) for each in rows.writes)
        if large or rows.ops + sums.ops > MOST_OPS or not kept:
            continue
        reduced, crossed = rows.reduced, sums.reduced
        made = clusters.join(rows, sums, writes)
        if not isinstance(made, Refuse):
            made.reduced, made.crossed = reduced, crossed
            return


def _passing(clusters: Clusters, sums: Cluster) -> Iterator[Cluster]:
    """The kernels that pass what sums read, and may take them."""
    found: dict[Cluster, None] = {}
    for source in sums.reads:
        if len(source.leaves) == len(sums.space):
            nodes = [*source.readers, *([source.node] if source.node else [])]
            found |= dict.fromkeys([clusters.of[node.number] for node in nodes])
    for rows in found:
        if rows is not sums and rows.reduced and not rows.alone and _goes(rows, sums):
            yield rows


def _goes(rows: Cluster, sums: Cluster) -> bool:
    """Whether sums run along the same axes as rows, across them, and nobody waits for nobody."""
    if rows.space != sums.space or rows.reads.keys() & sums.writes.keys():
        return False
    order = order_of(rows)
    count = len(order) - len(rows.reduced)
    across, along = order[:count], order[count:]
    if {*across} != {*sums.reduced} or {*along} != {*rows.reduced}:
        return False
    elsewhere = any(node in rows.cut for node in sums.nodes)
    return not elsewhere and all(source.leaves == along for source in sums.writes)
