"""One lane of a program as the interpreter runs it, and how it waits for the others.

Comes in: a block and its arguments. Goes out: what the block hands back; on the way, a `Wait` each
time the lane comes to an op that lanes pass only together. `group` answers it once all are there.
Never: a thread. A lane is a generator, so every run of a program takes the same course.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from ..errors import ExecutionError, Unmet
from ..interpreter import Frame
from ..payloads import Array
from ..values import Block, Op
from .base import LoopOp


class Scope(Enum):
    """Which lanes are meant: those that exchange registers, or all of a program."""

    SUBGROUP = "subgroup"
    GROUP = "group"


Turns = tuple[int, ...]
"""How often each loop around a place has turned, the outermost first."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A lane stands at an op with these operands and wants its result."""

    op: "Meeting"
    turns: Turns
    operands: Sequence[Any]


Steps = Generator[Wait, Any, tuple[Any, ...]]


class Meeting(LoopOp):
    """An op that the lanes of a scope pass together: all of them, in the same turn, or none."""

    scope: ClassVar[Scope] = Scope.SUBGROUP

    def meet(self, operands: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """The result of each lane, from the operands of each."""
        raise NotImplementedError(self.name)

    def run(self, frame: Any, *operands: Any) -> Any:
        """A lane on its own meets nobody else."""
        return self.meet([operands])[0]


class Control(LoopOp):
    """An op with regions, in which a lane may come to wait: `steps` takes the lane and the
    operands, runs the regions, and returns the results."""

    steps: ClassVar[Callable[..., Steps]]

    def run(self, frame: Any, *operands: Any) -> Any:
        lane = frame if isinstance(frame, Lane) else Lane.alone(frame)
        results = unaccompanied(self.steps(lane, *operands))
        return results[0] if len(results) == 1 else results


@dataclass(frozen=True, slots=True)
class Place:
    """Where a lane is: its number among the lanes of its program, its program in the grid."""

    lane: int = 0
    lanes: int = 1
    subgroup: int = 1
    program: tuple[int, ...] = (0,)
    programs: tuple[int, ...] = (1,)


class Lane(Frame):
    """The values of one lane, its place, and the memory it shares with the others."""

    __slots__ = ("memory", "place", "turns")

    def __init__(self, frame: Frame, place: Place, memory: dict[tuple[Op, Turns], Array]) -> None:
        super().__init__(frame.module, frame.sizes)
        self.place = place
        self.memory = memory
        self.turns: list[int] = []

    @classmethod
    def alone(cls, frame: Frame) -> "Lane":
        """The only lane of the only program, on the values of `frame`."""
        lane = cls(frame, Place(), {})
        lane.values, lane.extra = frame.values, frame.extra
        return lane

    def shared(self, op: Op, make: Callable[[], Array]) -> Array:
        """The memory that `op` allocates in this turn: made for the first lane that comes."""
        key = (op, tuple(self.turns))
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]

    def steps(self, block: Block, arguments: Sequence[Any]) -> Steps:
        """Run the ops of a block, waiting where others must come too."""
        values = self.values
        values.update(zip(block.arguments, arguments, strict=True))
        for op in block:
            operands = [values[operand] for operand in op.operands]
            if op.terminator:
                return tuple(operands)
            if isinstance(op, Control):
                made = yield from op.steps(self, *operands)
                values.update(zip(op.results, made, strict=True))
            elif isinstance(op, Meeting):
                made = yield Wait(op, tuple(self.turns), operands)
                values.update(zip(op.results, (made,), strict=False))
            else:
                self._step(op, operands)
        raise ExecutionError("a block ends without return or yield")


def place_of(frame: Any) -> Place:
    """The place of the lane that runs; a frame that is no lane's is the only one there is."""
    return frame.place if isinstance(frame, Lane) else Place()


def unaccompanied(steps: Steps) -> tuple[Any, ...]:
    """Run the steps of a lane that has no others to wait for."""
    answer = None
    while True:
        try:
            wait = steps.send(answer)
        except StopIteration as end:
            return end.value
        with blamed(wait.op):
            answer = wait.op.meet([wait.operands])[0]


@contextmanager
def blamed(op: Op) -> Generator[None]:
    """Say of what goes wrong inside that `op` asked for it."""
    try:
        yield
    except (Unmet, ValueError) as problem:
        raise ExecutionError(f"{op.name}: {problem}", op.location) from problem
