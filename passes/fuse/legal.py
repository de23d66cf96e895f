"""What may become one kernel, and the order of its axes.

Comes in: two clusters, and what would be written if they were one. Goes out: the `Refuse` that
keeps them apart, or None; the order in which a kernel runs along its axes.
Never: whether it is worth it.
"""

from collections.abc import Iterable

from ...ir import tensor
from .axes import Group
from .clusters import Cluster, Clusters
from .cost import MOST_ARRAYS, MOST_BESIDE, MOST_LEVELS, MOST_OPS
from .graph import Kind, Node, Source
from .refuse import Refuse

PRODUCTS = Refuse("each of them is a contraction")
PRODUCT_REDUCED = Refuse("sums of what a contraction makes need all of it")
OTHER_REDUCTION = Refuse("both reduce, along other axes")
OTHER_AXES = Refuse("runs along other axes")
OTHER_ORDER = Refuse("writes its axes in another order")
OTHER_SHAPE = Refuse("something else reads it in a shape that the kernel does not write")
ARRAYS = Refuse(f"together they read and write more than {MOST_ARRAYS} arrays")
BESIDE = Refuse(f"more than {MOST_BESIDE} arrays as large as the result of a contraction")
LEVELS = Refuse(f"more than {MOST_LEVELS} reductions would wait for each other")
OPS = Refuse(f"together they have more than {MOST_OPS} ops")


def refusal(clusters: Clusters, one: Cluster, other: Cluster) -> Refuse | None:
    """Why two clusters, of which `one` comes first, cannot be one kernel; None if they can."""
    for cluster in (one, other):
        if cluster.alone:
            return standing_alone(cluster.nodes[0])
    for node, why in one.cut.items():
        if clusters.of[node.number] is other:
            return why
    found = _of_spaces(one, other)
    if found is not None:
        return found
    if one.ops + other.ops > MOST_OPS:
        return OPS
    if clusters.levels(one, other) > MOST_LEVELS:
        return LEVELS
    writes = clusters.written_by(one, other)
    reads = {*one.reads, *other.reads}.difference(one.writes, other.writes)
    if len(writes) + len(reads) > MOST_ARRAYS:
        return ARRAYS
    if _product_beside(one, other, (*writes, *reads)):
        return BESIDE
    wide = one if len(one.space) >= len(other.space) else other
    order = arranged(wide.space, one.reduced or other.reduced, writes)
    return order if isinstance(order, Refuse) else None


def _product_beside(one: Cluster, other: Cluster, arrays: Iterable[Source]) -> bool:
    """Whether there is a contraction, and too much is read and written along all of its axes."""
    around = one if one.product is not None else other if other.product is not None else None
    if around is None:
        return False
    large = [each for each in arrays if around.space <= {*each.leaves}]
    return len(large) > MOST_BESIDE


def standing_alone(node: Node) -> Refuse:
    """Why a node has a kernel of its own."""
    if node.kind is Kind.FILL or node.op is None:
        return Refuse("memory is filled with numbers, for an op that has a kernel of its own")
    if isinstance(node.op, tensor.HostCall):
        return Refuse("the host calls a function of Python")
    return Refuse(f"{node.op.name.partition('.')[2]} has a kernel of its own")


def arranged(
    space: frozenset[int], reduced: Group, writes: Iterable[Source]
) -> Group | Refuse | None:
    """The order of the axes in which all is written; None if all orders will do."""
    full: set[Group] = set()
    rows: set[Group] = set()
    for source in writes:
        if len(source.leaves) == len(space):
            full.add(source.leaves)
        elif reduced and space.difference(reduced) == frozenset(source.leaves):
            rows.add(source.leaves)
        else:
            return OTHER_SHAPE
    for order in full:
        rows.add(tuple([leaf for leaf in order if leaf not in reduced]))
        if tuple([leaf for leaf in order if leaf in reduced]) != reduced:
            return OTHER_ORDER
    if len(full) > 1 or len(rows) > 1:
        return OTHER_ORDER
    return next(iter(full or rows), None)


def order_of(cluster: Cluster) -> Group:
    """The order in which a kernel runs along its axes: as it writes or else as it reduces."""
    writes = [each for each in cluster.writes if not is_crossed(cluster, each)]
    order = arranged(cluster.space, cluster.reduced, writes)
    assert order is not None
    assert not isinstance(order, Refuse)
    if len(order) == len(cluster.space):
        return order
    own = (node for node in cluster.nodes if node.reduced == cluster.reduced)
    over = next(node.leaves for node in own if node.kind is Kind.REDUCTION)
    same_rows = tuple([leaf for leaf in over if leaf not in cluster.reduced]) == order
    return over if same_rows else order + cluster.reduced


def is_crossed(cluster: Cluster, source: Source) -> bool:
    """Whether a result is reduced across the rows along which the kernel reduces all else."""
    node = source.node
    return bool(cluster.crossed) and node is not None and {*node.reduced} == {*cluster.crossed}


def _of_spaces(one: Cluster, other: Cluster) -> Refuse | None:
    """Why two clusters do not run along the same axes."""
    if one.reduced and other.reduced:
        same = one.reduced == other.reduced and one.space == other.space
        return None if same else OTHER_REDUCTION
    if one.product is not None or other.product is not None:
        found = _of_products(one, other)
        if found is not None:
            return found
    wide, narrow = (one, other) if len(one.space) >= len(other.space) else (other, one)
    if not narrow.space <= wide.space or (narrow.reduced and narrow.space != wide.space):
        return OTHER_AXES
    return None


def _of_products(one: Cluster, other: Cluster) -> Refuse | None:
    """Why a contraction, of which there is at least one, cannot be one kernel with another."""
    if one.product is not None and other.product is not None:
        return PRODUCTS
    if one.reduced or other.reduced:
        return PRODUCT_REDUCED
    around, beside = (one, other) if one.product is not None else (other, one)
    return None if beside.space <= around.space else OTHER_AXES
