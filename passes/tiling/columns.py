"""What is known of each column, where rows pass by and the vectors run along them.

Comes in: a `Kernel` that reduces along other axes than that of its vectors, and the plan of its
loops. Goes out: a `Stretch` before each loop and one after the last, which computes what needs no
row of its own: results of reductions, and what is made of them.
Never: memory; what a stretch keeps gets it from whoever writes the program.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .kernel import Kernel, Node, Output
from .plan import Loop, needed


@dataclass(slots=True)
class Stretch:
    """One run along the columns; what is kept in it is read again by later ones, and by loops."""

    finished: list[Node] = field(default_factory=lambda: [])
    outputs: list[Output] = field(default_factory=lambda: [])
    computed: list[Node] = field(default_factory=lambda: [])
    reread: list[Node] = field(default_factory=lambda: [])
    kept: list[Node] = field(default_factory=lambda: [])


def plan_columns(kernel: Kernel, loops: Sequence[Loop]) -> tuple[list[Stretch], list[list[Node]]]:
    """The stretches, and what each loop reads that a stretch has kept; `loops` compute no more of
    it themselves."""
    reduced, column = {*kernel.space.reduced}, len(kernel.space.sizes) - 1
    kept: dict[Node, None] = {}
    read: list[list[Node]] = []
    for loop in loops:
        wide = [node for node in loop.computed if reduced & {*node.axes}]
        mine = dict.fromkeys(_read_by(wide, reduced, column))
        roots = [*[node.operands[0] for node in loop.reductions], *[o.node for o in loop.outputs]]
        known = {*mine, *loop.reread}
        loop.computed = dict.fromkeys(needed(kernel, roots, known))
        read.append([*mine])
        kept |= mine
    stretches = [Stretch() for _ in range(kernel.levels + 1)]
    for output in kernel.outputs:
        if not reduced & {*output.node.axes}:
            stretches[output.node.level].outputs.append(output)
    for level in reversed(range(len(stretches))):
        _fill(kernel, stretches[level], level, kept)
    return stretches, read


def _fill(kernel: Kernel, stretch: Stretch, level: int, kept: dict[Node, None]) -> None:
    """Say what a stretch computes; what it needs of earlier reductions must be kept, too."""
    stretch.kept = [node for node in kernel.nodes if node in kept and node.level == level]
    roots = [*stretch.kept, *[output.node for output in stretch.outputs]]
    earlier = {node for node in kernel.nodes if node in kept and node.level < level}
    stretch.computed = needed(kernel, roots, earlier)
    read = dict.fromkeys([*roots, *[each for node in stretch.computed for each in node.operands]])
    older = [node for node in read if node.reduces and node.level < level]
    kept |= dict.fromkeys(older)
    stretch.reread = [node for node in read if node in kept and node.level < level]
    stretch.finished = [node for node in kernel.nodes if node.reduces and node.level == level]


def _read_by(nodes: Iterable[Node], reduced: set[int], column: int) -> Iterable[Node]:
    """What nodes read of each column, but for what is only loaded or is the same for all."""
    for node in nodes:
        for operand in node.operands:
            narrow = column in operand.axes and not reduced & {*operand.axes}
            if narrow and (operand.level or operand.operands):
                yield operand
