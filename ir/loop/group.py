"""The lanes of one program, run in lock step.

Comes in: a body, its arguments, and the lanes. Goes out: nothing; buffers change. Each lane runs in
turn until it waits or ends; then those that all stand at the same op, in the same turn of the loops
around it, pass it together.
Never: a hang. Lanes that would wait for ever are an error that names who is missing where.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import ExecutionError
from ..values import Block
from .lanes import Lane, Scope, Steps, Wait, blamed


class Group:
    """Lanes with the ops they wait at; a lane that has ended waits at none."""

    def __init__(self, lanes: Sequence[Lane], subgroup: int) -> None:
        self.lanes = lanes
        self.waits: dict[Lane, Wait] = {}
        self.subgroups = [lanes[at : at + subgroup] for at in range(0, len(lanes), subgroup)]

    def run(self, body: Block, arguments: Sequence[Any]) -> None:
        """Run every lane to its end."""
        running = {lane: lane.steps(body, arguments) for lane in self.lanes}
        answers: dict[Lane, Any] = dict.fromkeys(self.lanes)
        while answers:
            for lane, answer in answers.items():
                self._resume(lane, running[lane], answer)
            answers = dict(self._pass())
            if self.waits and not answers:
                raise self._divergence()

    def _resume(self, lane: Lane, steps: Steps, answer: Any) -> None:
        """Let a lane run to where it waits next."""
        self.waits.pop(lane, None)
        try:
            self.waits[lane] = steps.send(answer)
        except StopIteration:
            return

    def _pass(self) -> Iterator[tuple[Lane, Any]]:
        """Each lane whose companions all wait where it does, with the result of the op."""
        for scope, lanes in self._teams():
            first = self.waits.get(lanes[0])
            if first is None or first.op.scope is not scope:
                continue
            waits = [self.waits[lane] for lane in lanes if self._is_at(lane, first)]
            if len(waits) == len(lanes):
                with blamed(first.op):
                    made = first.op.meet([wait.operands for wait in waits])
                yield from zip(lanes, made, strict=True)

    def _teams(self) -> Iterator[tuple[Scope, Sequence[Lane]]]:
        for lanes in self.subgroups:
            yield Scope.SUBGROUP, lanes
        yield Scope.GROUP, self.lanes

    def _is_at(self, lane: Lane, place: Wait) -> bool:
        wait = self.waits.get(lane)
        return wait is not None and wait.op is place.op and wait.turns == place.turns

    def _divergence(self) -> ExecutionError:
        """The error for lanes that wait for others which never come: the first such lane's."""
        waiting, wait = next(iter(sorted(self.waits.items(), key=lambda each: each[0].place.lane)))
        teams = self.subgroups if wait.op.scope is Scope.SUBGROUP else [self.lanes]
        (team,) = (lanes for lanes in teams if waiting in lanes)
        missing = next(lane for lane in team if not self._is_at(lane, wait))
        other = self.waits.get(missing)
        where = f"waits at {_described(other)}" if other else "has ended"
        return ExecutionError(
            f"{wait.op.name} is reached by lane {waiting.place.lane} "
            f"but not by lane {missing.place.lane}, which {where}",
            wait.op.location,
        )


def _described(wait: Wait) -> str:
    """`loop.barrier (model.py:3) in turn 0, 2`"""
    turns = f" in turn {', '.join(map(str, wait.turns))}" if wait.turns else ""
    return f"{wait.op.name} ({wait.op.location}){turns}"
