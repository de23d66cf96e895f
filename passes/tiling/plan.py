"""Which loop computes what: reductions by depth, and what one loop leaves for a later one.

Comes in: a `Kernel`. Goes out: a `Loop` for each level: the nodes it computes, those it reads back,
what it keeps, reduces and stores.
Never: memory; a node that is kept gets it from whoever writes the loops.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from .kernel import Kernel, Node, Output
from .schedule import COSTLY
from .space import Index


@dataclass(slots=True)
class Loop:
    """One run along the reduced axes; `computed` is in program order."""

    reductions: list[Node] = field(default_factory=lambda: [])
    outputs: list[Output] = field(default_factory=lambda: [])
    computed: dict[Node, None] = field(default_factory=lambda: {})
    reread: dict[Node, None] = field(default_factory=lambda: {})
    kept: dict[Node, None] = field(default_factory=lambda: {})


def plan_loops(kernel: Kernel, again: Container[Node] = frozenset()) -> list[Loop]:
    """The loops of all levels, and one more where something is left to store; what is computed
    `again` is not kept."""
    reduced = {*kernel.space.reduced}
    levels = kernel.levels
    loops = [Loop() for _ in range(levels)]
    for node in kernel.nodes:
        if node.reduces:
            loops[node.level - 1].reductions.append(node)
    for output in kernel.outputs:
        if reduced & {*output.node.axes}:
            if output.node.level >= len(loops):
                loops.append(Loop())
            loops[output.node.level].outputs.append(output)
    costly = {node for node in _costly(kernel, reduced) if node not in again}
    for number, loop in enumerate(loops):
        roots = [node.operands[0] for node in loop.reductions]
        roots += [output.node for output in loop.outputs]
        _fill(kernel, loop, roots, loops[:number], costly)
    return loops


def needed(
    kernel: Kernel, roots: Iterable[Node], known: Container[Node] = frozenset()
) -> list[Node]:
    """The nodes that these need, but for reductions and what is known, in program order."""
    found: set[Node] = set()
    pending = [*roots]
    while pending:
        node = pending.pop()
        if node not in found and node not in known and not node.reduces:
            found.add(node)
            pending += node.operands
    return [node for node in kernel.nodes if node in found]


def plan_at_home(kernel: Kernel) -> list[Loop]:
    """The loops, which keep only what a result has memory for: the rest is computed again."""
    again = set[Node]()
    while True:
        loops = plan_loops(kernel, again)
        away = [node for node, home in homes(loops).items() if home is None]
        if not away:
            return loops
        again.update(away)


def homes(loops: Sequence[Loop]) -> dict[Node, Output | None]:
    """For all that loops keep, the result in whose memory it is, or can wait."""
    lent: dict[Output, int] = {}
    return {
        node: stored_by(loop, node) or lent_by(loops, number, node, lent)
        for number, loop in enumerate(loops)
        for node in loop.kept
    }


def stored_by(loop: Loop, node: Node) -> Output | None:
    """The output by which a loop stores a node itself."""
    axes = tuple(Index(axis) for axis in node.axes)
    mine = (each for each in loop.outputs if each.node is node and each.at == axes)
    return next(mine, None)


def lent_by(
    loops: Sequence[Loop], first: int, node: Node, lent: dict[Output, int]
) -> Output | None:
    """A result in whose memory what the `first` loop keeps can wait: nobody reads it after the
    result is stored, or any longer what waited there before; `lent` says until when that is."""
    axes = tuple(Index(axis) for axis in node.axes)
    last = max(number for number, loop in enumerate(loops) if node in loop.reread)
    for loop in loops[last:]:
        for output in loop.outputs:
            fits = output.at == axes and output.param.dtype is node.value.dtype
            if fits and lent.get(output, 0) <= first:
                lent[output] = last
                return output
    return None


def _fill(
    kernel: Kernel, loop: Loop, roots: Iterable[Node], before: list[Loop], costly: set[Node]
) -> None:
    """Find what a loop computes, from its roots back, but for what loops before it have kept."""
    needed: dict[Node, None] = {}
    pending = [*roots]
    while pending:
        node = pending.pop()
        if node in needed:
            continue
        needed[node] = None
        source = next((each for each in before if node in each.computed), None)
        if source is not None and node in costly:
            loop.reread[node] = source.kept[node] = None
        elif not node.reduces:
            pending += node.operands
    loop.computed = {
        node: None
        for node in kernel.nodes
        if node in needed and node not in loop.reread and not node.reduces
    }


def _costly(kernel: Kernel, reduced: set[int]) -> set[Node]:
    """The nodes that differ along all reduced axes and that it costs much to compute again."""
    found: set[Node] = set()
    for node in kernel.nodes:
        if node.reduces or not reduced <= node.varies:
            continue
        if isinstance(node.op, COSTLY) or any(operand in found for operand in node.operands):
            found.add(node)
    return found
