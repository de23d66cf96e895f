"""A kernel with few rows of results, level by level: sums in chunks, and then what they are for.

Comes in: a `Kernel` that reduces in several levels, or stores what has its rows, too. Goes out:
`Stages`: one kernel for the reductions of each level, or of two, which can be cut into chunks, and
one for what is stored, of which each element is for itself.
Never: a choice between this and one kernel; `stages` makes it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from ...ir.func import Func
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.types import Tensor
from ...ir.values import AnyValue
from .across import picked
from .kernel import Kernel, Output
from .parts import Stages, Within
from .plan import plan_loops
from .powers import powers_in

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


def level_stages(
    kernel: Kernel, tile: Callable[[Func], Stages], is_cut: Callable[[Func], bool]
) -> Stages:
    """One kernel after the other; what one hands on waits in a result, or in a room. Two levels are
    one kernel if the second only sums powers below what the first finds to be the largest."""
    job = _Job(kernel, _handed_on(kernel))
    powers = powers_in(kernel.func)
    twice = {node.level for node in kernel.nodes if node.reduces and node.op in powers}
    level, last = 1, max(map(partial(_step_of, kernel), kernel.outputs))
    while level <= last:
        step = job.step(level, level + 1) if level + 1 in twice else None
        if step is None or not is_cut(step.func):
            step = job.step(level, level)
        job.add(step, tile(step.func))
        level = step.level + 1
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


class _Step(NamedTuple):
    """The kernel that makes what is known after a level: these values, each with the number of its
    array, of which some are handed on."""

    func: Func
    level: int
    made: dict[int, AnyValue]
    handed: list[AnyValue]


@dataclass(slots=True)
class _Job:
    """`handed` says after which level a value is known that others read; `known` is what has been
    handed on so far, each with the number of its array."""

    kernel: Kernel
    handed: dict[AnyValue, int]
    known: dict[AnyValue, int] = field(default_factory=lambda: {})
    rooms: list[Tensor] = field(default_factory=lambda: [])
    steps: list[Within] = field(default_factory=lambda: [])

    def step(self, first: int, last: int) -> _Step:
        """A kernel that makes what is stored, or handed on, with these levels."""
        kernel, levels = self.kernel, range(first, last + 1)
        func, reads = kernel.func, len(kernel.func.arguments)
        numbers = [x.param.number for x in kernel.outputs if _step_of(kernel, x) in levels]
        made = {reads + number: func.results[number] for number in numbers}
        handed = [value for value, level in self.handed.items() if level in levels]
        free = reads + len(func.results) + len(self.rooms)
        rooms = [value for value in handed if value not in made.values()]
        made |= dict(enumerate(rooms, free))
        suffix = f"_level{last}" if last <= kernel.levels else "_rest"
        return _Step(picked(func, suffix, [*made.values()], [*self.known]), last, made, handed)

    def add(self, step: _Step, stages: Stages) -> None:
        """Do this next."""
        func = self.kernel.func
        arrays = (*range(len(func.arguments)), *self.known.values(), *step.made)
        self.steps.append(Within(stages, arrays))
        outside = len(func.arguments) + len(func.results)
        self.rooms += [value.type for number, value in step.made.items() if number >= outside]
        places = {value: number for number, value in step.made.items()}
        self.known |= {value: places[value] for value in step.handed}
