"""Clusters: sets of nodes that become one kernel, and the order in which kernels run.

Comes in: the nodes of a graph, each a cluster at first. Goes out: fewer clusters, joined two by two
where no third one stands between them; each knows its place in an order that always holds.
Never: whether two clusters have the same axes; here only circles are refused.
"""

from dataclasses import dataclass, field

from .axes import Group
from .cost import MOST_VISITED, length
from .graph import Graph, Kind, Node, Source
from .refuse import Refuse

CIRCLE = Refuse("needs what another kernel makes of it")
FAR = Refuse("runs too much later to see that nothing stands between them")


@dataclass(eq=False, slots=True)
class Cluster:
    """Some nodes: the axes `space` over which they run, and of these the `reduced` ones, or those
    that some results lack instead, for they are `crossed`; one of the nodes may be a `product`.

    At most `levels` of its reductions wait for each other. It has as much code as so many `ops`,
    with those that are `borrowed`. `reads` and `writes` are arrays; `earlier` and `later` are the
    clusters that it reads from or waits for, and that read from it or wait; `cut` are the nodes
    that read what it writes at other places; `borrowed` are nodes of other clusters whose work it
    does again.
    """

    place: int
    nodes: list[Node]
    space: frozenset[int]
    reduced: Group = ()
    crossed: Group = ()
    alone: bool = False
    product: Node | None = None
    levels: int = 0
    ops: int = 1
    reads: dict[Source, None] = field(default_factory=lambda: {})
    writes: dict[Source, None] = field(default_factory=lambda: {})
    earlier: dict["Cluster", None] = field(default_factory=lambda: {})
    later: dict["Cluster", None] = field(default_factory=lambda: {})
    cut: dict[Node, Refuse] = field(default_factory=lambda: {})
    borrowed: dict[Node, None] = field(default_factory=lambda: {})

    @property
    def rows(self) -> frozenset[int]:
        """The axes that are not reduced."""
        return self.space.difference(self.reduced)


class Clusters:
    """All clusters of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.of: list[Cluster] = []
        self._dropped: set[Cluster] = set()
        for node in graph.nodes:
            self.of.append(_cluster(node))
        for node in graph.nodes:
            self._join_reads(node)

    @property
    def ordered(self) -> list[Cluster]:
        """The clusters, each after those that it reads from."""
        kept = (each for each in dict.fromkeys(self.of) if each not in self._dropped)
        return sorted(kept, key=_place)

    def written_by(self, one: Cluster, other: Cluster) -> list[Source]:
        """What two clusters must still write once they are one."""
        writes = (*one.writes, *other.writes)
        return [each for each in writes if each.returned or self._is_read(each, one, other)]

    def levels(self, one: Cluster, other: Cluster) -> int:
        """How many reductions would wait for each other at most, were two clusters one."""
        is_read = one in other.earlier or other in one.earlier
        return one.levels + other.levels if is_read else max(one.levels, other.levels)

    def join(self, one: Cluster, other: Cluster, writes: list[Source]) -> Cluster | Refuse:
        """One cluster of two, which writes `writes`; refused where a third one stands between."""
        first, last = sorted((one, other), key=_place)
        if first.later.keys() <= {last}:
            first.place = last.place
        elif last.earlier.keys() <= {first}:
            last.place = first.place
        else:
            beside = _beside(first, last)
            if isinstance(beside, Refuse):
                return beside
            self._reorder(first, last, *beside)
        small, made = sorted((first, last), key=lambda each: len(each.nodes))
        within = (*first.writes, *last.writes)
        made.levels = self.levels(first, last)
        made.ops = first.ops + last.ops
        self._absorb(small, made)
        for source in within:
            made.reads.pop(source, None)
        made.writes = dict.fromkeys(writes)
        return made

    def between(self, one: Cluster, other: Cluster) -> Refuse | None:
        """Whether a third cluster stands between two."""
        found = _beside(one, other)
        return found if isinstance(found, Refuse) else None

    def hand_over(
        self, source: Source, reader: Cluster, nodes: list[Node], inputs: list[Source]
    ) -> None:
        """Let a reader compute a source by itself, with these nodes, from these inputs."""
        del reader.reads[source]
        self._reads_no_more(reader, source)
        reader.borrowed |= dict.fromkeys(nodes)
        reader.ops += sum([length(node.op) for node in nodes])
        for each in inputs:
            reader.reads[each] = None
            each.readers.append(reader.nodes[0])

    def forget(self, cluster: Cluster, source: Source) -> None:
        """Write a source no more; a cluster that then writes nothing reads nothing."""
        del cluster.writes[source]
        if not cluster.writes:
            for each in cluster.reads:
                self._reads_no_more(cluster, each)

    def _reads_no_more(self, cluster: Cluster, source: Source) -> None:
        """None of a cluster's nodes reads a source any more, which may be written again."""
        mine = [node for node in source.readers if self.of[node.number] is cluster]
        for node in mine:
            source.readers.remove(node)

    def drop(self, cluster: Cluster) -> None:
        """Take a cluster out that writes nothing."""
        self._dropped.add(cluster)

    def _is_read(self, source: Source, one: Cluster, other: Cluster) -> bool:
        """Whether anybody but two clusters reads a source."""
        of = self.of
        for reader in source.readers:
            cluster = of[reader.number]
            if cluster is not one and cluster is not other:
                return True
        return False

    def _join_reads(self, node: Node) -> None:
        """Note what a node reads, and from whom."""
        mine = self.of[node.number]
        for read in node.reads:
            if read.source is None:
                continue
            root = read.source.root
            mine.reads[root] = None
            if root.node is None:
                continue
            theirs = self.of[root.node.number]
            theirs.later[mine] = mine.earlier[theirs] = None
            if read.cut is not None:
                theirs.cut[node] = read.cut
        for source in node.waits:
            if source.node is not None:
                theirs = self.of[source.node.number]
                theirs.later[mine] = mine.earlier[theirs] = None

    def _reorder(
        self, first: Cluster, last: Cluster, before: set[Cluster], after: set[Cluster]
    ) -> None:
        """Give what comes before the two places before them, and what comes after places after."""
        between = sorted(before, key=_place), sorted(after, key=_place)
        places = sorted(each.place for each in (*before, *after, first, last))
        for place, each in zip(places, between[0], strict=False):
            each.place = place
        first.place = last.place = places[len(before)]
        for place, each in zip(places[len(before) + 2 :], between[1], strict=True):
            each.place = place

    def _absorb(self, small: Cluster, large: Cluster) -> None:
        """Move all of one cluster into another."""
        for node in small.nodes:
            self.of[node.number] = large
        large.nodes += small.nodes
        large.space |= small.space
        large.reduced = large.reduced or small.reduced
        large.crossed = large.crossed or small.crossed
        large.product = large.product or small.product
        large.reads |= small.reads
        large.cut |= small.cut
        for other in small.earlier:
            del other.later[small]
            if other is not large:
                other.later[large] = large.earlier[other] = None
        for other in small.later:
            del other.earlier[small]
            if other is not large:
                other.earlier[large] = large.later[other] = None
        large.earlier.pop(small, None)
        large.later.pop(small, None)


def _cluster(node: Node) -> Cluster:
    alone = node.kind in (Kind.ALONE, Kind.FILL)
    space = frozenset(node.leaves)
    made = Cluster(node.number, [node], space, node.reduced, alone=alone)
    made.product = node if node.kind is Kind.PRODUCT else None
    made.levels = int(node.kind is Kind.REDUCTION)
    made.ops = length(node.op)
    made.writes = dict.fromkeys(node.makes)
    return made


def _place(cluster: Cluster) -> int:
    return cluster.place


def _beside(first: Cluster, last: Cluster) -> tuple[set[Cluster], set[Cluster]] | Refuse:
    """What must run before the last and what after the first of two, if they can be one."""
    after = _after(first, last)
    if isinstance(after, Refuse):
        return after
    before: set[Cluster] = set()
    pending = [last]
    while pending:
        for each in pending.pop().earlier:
            if each.place > first.place and each not in before:
                before.add(each)
                pending.append(each)
        if len(before) > MOST_VISITED:
            return FAR
    return before, after


def _after(first: Cluster, last: Cluster) -> set[Cluster] | Refuse:
    """What must run after the first of two and stands before the last, which reads none of it."""
    found: set[Cluster] = set()
    pending, end, needed = [first], last.place, last.earlier
    while pending:
        for each in pending.pop().later:
            if each.place >= end or each in found:
                continue
            if each in needed:
                return CIRCLE
            found.add(each)
            pending.append(each)
        if len(found) > MOST_VISITED:
            return FAR
    return found
