"""The pass: a tensor func becomes a step that launches kernels.

Comes in: a func of the tensor floor. Goes out: `Fused`: a module whose main func is the step,
followed by the kernels, and the report.
Never: a change to the func that came in, unless it is given away, or to a bit of its results.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...ir.func import Func, Module
from ...ir.rewriter import Journal, apply
from ...ir.shared.properties import cached_property
from ..copying import copy_func
from .again import open_again
from .choose import choose
from .clusters import Cluster, Clusters
from .control import is_opened, region_func
from .crossing import cross
from .graph import Graph
from .kernels import Kernel, Part, build_kernel
from .names import Names
from .nodes import build_graph
from .order import in_order
from .push import PUSH, is_pushed
from .recompute import recompute
from .report import Report, make_report
from .steps import build_step
from .symbols import bind_symbols


@dataclass(frozen=True)
class Fused:
    """The step with its kernels, and what there is to say about them."""

    module: Module
    part: Part = field(repr=False)
    apart: bool = False

    @cached_property
    def report(self) -> Report:
        """What became of the func; it is only made when somebody asks."""
        return make_report(self.part, self.apart)


def fuse(func: Func, *, apart: bool = False, given: bool = False) -> Fused:
    """Split a func into kernels and the step that launches them; `apart`: one kernel an op;
    `given`: nobody wants the func afterwards."""
    part = _fused(func, Names(func), apart, given)
    return Fused(Module([part.step, *_launched(part)]), part, apart)


def _fused(func: Func, names: Names, apart: bool, given: bool = False) -> Part:
    """The step and the kernels of a func, or of a region of one."""
    if not apart and is_pushed(func):
        func = func if given else copy_func(func)
        apply(PUSH, func, Journal())
    graph = build_graph(func, apart, {} if apart else open_again(func))
    clusters = Clusters(graph)
    if not apart:
        choose(clusters)
        recompute(clusters)
        cross(clusters)
    order = clusters.ordered if apart else in_order(clusters)
    kernels = [_kernel(graph, clusters, each, names, apart) for each in order]
    return Part(build_step(graph, kernels), kernels, clusters)


def _kernel(
    graph: Graph, clusters: Clusters, cluster: Cluster, names: Names, apart: bool
) -> Kernel:
    """The kernel of a cluster, or the parts that the host runs for it."""
    kernel = build_kernel(clusters, cluster, "")
    kernel.func.name = names.new(kernel.ops, kernel.location)
    op = cluster.nodes[0].op
    if op is not None and is_opened(op) and not apart:
        regions = [region_func(graph.func, op, region) for region in op.regions]
        kernel.parts = [_fused(each, names, apart) for each in regions]
    elif kernel.launched:
        bind_symbols(kernel, graph.places)
    return kernel


def _launched(part: Part) -> Iterator[Func]:
    """The funcs of all kernels, in the order in which they run."""
    for kernel in part.kernels:
        for inner in kernel.parts:
            yield from _launched(inner)
        if kernel.launched:
            yield kernel.func
