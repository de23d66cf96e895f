"""The order in which kernels run.

Comes in: clusters, when all are decided. Goes out: the same, in the order of the program, but that
one which lets go of more memory than it takes runs as soon as it can: the gradient of a weight
right after what it is computed from, not when all of them are wanted; but one that may replace what
was donated, or what a loop carries, runs after all others that read it. So does one that updates it
at some places, a loop that carries it and a branch, wherever they stand in the program.
Never: a function of Python that is called before one that the program calls earlier.
"""

from collections.abc import Iterable, Iterator

from ...ir import tensor
from .choose import bytes_of
from .clusters import Cluster, Clusters
from .control import is_opened
from .graph import Source


def in_order(clusters: Clusters) -> list[Cluster]:
    """All clusters, each after those that it reads from."""
    return [*_Order(clusters).all()]


class _Order:
    """What has run, which clusters still read a source, and which ones each still waits for."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters, self.program = clusters, clusters.ordered
        self.done: set[Cluster] = set()
        self.known = {*self.program}
        self.readers: dict[Source, dict[Cluster, None]] = {}
        graph = clusters.graph
        donated: Iterable[int] = graph.func.attributes.get("donated", ())
        self.donated = {graph.arguments[place] for place in donated}
        self.makers = {cluster: self._makers(cluster) for cluster in self.program}
        self.followers: dict[Cluster, list[Cluster]] = {}
        for cluster in self.program:
            for source in cluster.reads:
                self.readers.setdefault(source, {})[cluster] = None
            for maker in self.makers[cluster]:
                self.followers.setdefault(maker, []).append(cluster)

    def all(self) -> Iterator[Cluster]:
        """In the order of the program, each with those that then shrink memory."""
        for cluster in self.program:
            for first in self._before(cluster):
                yield from self._with_others(first)
            yield from self._with_others(cluster)

    def _with_others(self, cluster: Cluster) -> Iterator[Cluster]:
        pending = {} if cluster in self.done else {cluster: cluster.place}
        while pending:
            running = min(pending, key=pending.__getitem__)
            del pending[running]
            self._run(running)
            yield running
            pending |= {each: each.place for each in self._beside(running)}

    def _before(self, cluster: Cluster) -> list[Cluster]:
        """What must run for all to be done that reads an array which this cluster updates, as far
        as that can be had before the update."""
        found: set[Cluster] = set()
        for source in () if cluster in self.done else cluster.reads:
            for other in self.readers[source] if self._may_update(cluster, source) else ():
                needed = self._needed(other)
                if cluster not in needed and not any(map(_calls_python, needed)):
                    found |= needed
        return sorted(found, key=lambda each: each.place)

    def _may_update(self, cluster: Cluster, source: Source) -> bool:
        """Whether a cluster may write to some places of an array that it is free to replace."""
        if source not in self.donated:
            return False
        op, type_ = cluster.nodes[0].op, source.value.type
        if op is not None and is_opened(op):
            return any(each.value.type is type_ for each in cluster.writes)
        return isinstance(op, tensor.Scatter)

    def _needed(self, cluster: Cluster) -> set[Cluster]:
        """A cluster, and all that is still to run before it."""
        needed, pending = {cluster}, [cluster]
        while pending:
            makers = self.makers[pending.pop()] - needed
            needed |= makers
            pending += makers
        return needed

    def _run(self, cluster: Cluster) -> None:
        self.done.add(cluster)
        for source in cluster.reads:
            del self.readers[source][cluster]
        for follower in self.followers.pop(cluster, ()):
            self.makers[follower].remove(cluster)

    def _beside(self, cluster: Cluster) -> Iterator[Cluster]:
        """Those that can run, and shrink memory, now that this one has run: they read what it
        wrote, or are the last to read what it has read."""
        read = [source for source in cluster.reads if len(self.readers[source]) == 1]
        for other in dict.fromkeys(
            each for source in (*read, *cluster.writes) for each in self.readers.get(source, ())
        ):
            if self._can_run(other) and self._shrinks(other):
                yield other

    def _can_run(self, cluster: Cluster) -> bool:
        if self.makers[cluster] or _calls_python(cluster):
            return False
        return not any(self._is_replaced_too_early(source, cluster) for source in cluster.reads)

    def _makers(self, cluster: Cluster) -> set[Cluster]:
        """Those that must run before this one."""
        waits = (source for node in cluster.nodes for source in node.waits)
        makers = {self._maker(source) for source in (*cluster.reads, *waits)}
        return {each for each in makers if each is not None and each in self.known}

    def _is_replaced_too_early(self, source: Source, cluster: Cluster) -> bool:
        """Whether a result would be made in the place of a donated array that others still read."""
        if source not in self.donated or len(self.readers[source]) == 1:
            return False
        type_ = source.value.type
        return any(each.returned and each.value.type is type_ for each in cluster.writes)

    def _maker(self, source: Source) -> Cluster | None:
        return None if source.node is None else self.clusters.of[source.node.number]

    def _shrinks(self, cluster: Cluster) -> bool:
        """Whether it takes nothing, or frees more; what is returned is there from the begin, and
        nobody should wait for a single number, such as whether a loss is finite."""
        kept = [each for each in cluster.writes if not each.returned and each.value.type.shape]
        taken = sum(map(bytes_of, kept))
        freed = 0.0
        for source in cluster.reads:
            is_last = len(self.readers[source]) == 1
            if is_last and source.node is not None and not source.returned:
                freed += bytes_of(source)
        return taken == 0 or freed > taken


def _calls_python(cluster: Cluster) -> bool:
    return isinstance(cluster.nodes[0].op, tensor.HostCall)
