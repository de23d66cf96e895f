"""A kernel with few rows of results, level by level: sums in chunks, and then what they are for.

Comes in: a `Kernel` that reduces in several levels, or stores what has its rows, too. Goes out:
`Stages`: one kernel for the reductions of each level, which can be cut into chunks, and one for
what is stored, of which each element is for itself.
Never: a choice between this and one kernel; `stages` makes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...ir.func import Func
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.types import Tensor
from ...ir.values import AnyValue
from .across import picked
from .kernel import Kernel, Output
from .parts import Stages, Within
from .plan import plan_loops

RESULTS = 4096
"""A kernel with more results of reductions has programs enough to be shared out by those."""
LONG = 1 << 18
"""Where reductions see fewer elements, one program is as fast as several launches."""
LONG_KEPT = 1 << 21
"""The same where it keeps what else is computed once more, as a softmax its exponentials: that is
faster as long as a cache has room for it."""


def has_levels(kernel: Kernel) -> bool:
    """Whether more than one thing is to be done in turn, and it may be that few programs would: all
    vectors run along one row of results, or there is one result."""
    last = len(kernel.space.sizes) - 1
    if not kernel.levels or kernel.space.parallel not in ((), (last,)):
        return False
    if any(isinstance(node.op, ArgReduction) for node in kernel.nodes):
        return False
    return max(map(partial(_step_of, kernel), kernel.outputs)) > 1


def least_elements(kernel: Kernel) -> int:
    """Of how many elements a kernel is done level by level, if it has few results."""
    return LONG_KEPT if any(loop.kept for loop in plan_loops(kernel)) else LONG


def level_stages(kernel: Kernel, tile: Callable[[Func], Stages]) -> Stages:
    """One kernel after the other; what one hands on waits in a result, or in a room."""
    job, handed = _Job(kernel.func, tile), _handed_on(kernel)
    steps = {each.param.number: _step_of(kernel, each) for each in kernel.outputs}
    for number in range(1, max(steps.values()) + 1):
        results = [result for result in steps if steps[result] == number]
        suffix = f"level{number}" if number <= kernel.levels else "rest"
        job.step(suffix, results, [value for value in handed if handed[value] == number])
    return Stages(kernel.func, tuple(job.steps), tuple(job.rooms))


def _step_of(kernel: Kernel, output: Output) -> int:
    """With which level an output is stored: that which makes it known, or if it has the axes along
    which the kernel reduces, the one after, which runs along them again."""
    again = bool({*kernel.space.reduced} & {*output.node.axes})
    return max(output.node.level + again, 1)


def _handed_on(kernel: Kernel) -> dict[AnyValue, int]:
    """What is made of reductions, and read by another level or for each of their elements; and
    after which level it is known."""
    reduced, found = {*kernel.space.reduced}, dict[AnyValue, int]()
    for user in kernel.nodes:
        wide = user.reduces or bool(reduced & {*user.axes})
        for node in user.operands:
            if node.level and not reduced & {*node.axes} and (wide or user.level > node.level):
                found[node.value] = max(node.level, found.get(node.value, 0))
    return found


@dataclass(slots=True)
class _Job:
    """`known` is what has been handed on so far, each with the number of its array."""

    func: Func
    tile: Callable[[Func], Stages]
    known: dict[AnyValue, int] = field(default_factory=lambda: {})
    rooms: list[Tensor] = field(default_factory=lambda: [])
    steps: list[Within] = field(default_factory=lambda: [])

    def step(self, suffix: str, numbers: Sequence[int], handed: Sequence[AnyValue]) -> None:
        """A kernel that makes the results with these numbers, and what is handed on."""
        func, reads = self.func, len(self.func.arguments)
        given, made = self.known, {reads + number: func.results[number] for number in numbers}
        for value in handed:
            if value not in made.values():
                made[reads + len(func.results) + len(self.rooms)] = value
                self.rooms.append(value.type)
        each = picked(func, f"_{suffix}", [*made.values()], [*given])
        arrays = (*range(reads), *given.values(), *made)
        self.steps.append(Within(self.tile(each), arrays))
        places = {value: place for place, value in made.items()}
        self.known = {**given, **{value: places[value] for value in handed}}
