"""Loops and branches of a step, as actions that say which one is next.

Comes in: the draft of a `step.Loop`, `step.While` or `step.Branch`, of which the native core does
all, and the `Writing` that it becomes a part of. Goes out: its actions, and which slots follow
which loop.
Never: an op of a region by itself; `writing` says what becomes of that.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...ir.values import AnyValue
from ..script import Act, Kind, Loop, Move, Place
from ..tape import greatest, key_of, least

if TYPE_CHECKING:
    from .outline import Draft
    from .writing import Writing

Strides = Mapping[AnyValue, int]
"""How much further something lies for each step of the index of a loop."""
LEAST = 1 << 12
"""An action takes as long as to read and write so many bytes, or longer."""
LARGEST = 1 << 62
"""More work than anybody waits for; the core counts no more."""
GUESS = 16
"""So many rounds, where nobody knows how many there will be."""


Base = tuple[int, int]
"""Where something lies that follows no loop: the number of an address, and how many bytes behind
it."""


class Follower(NamedTuple):
    """A slot that follows loops, from a base on, or from 0."""

    slot: int
    base: Base | None
    strides: Strides


class Rounds:
    """The loops of a script by their indices, the outer ones first, and what follows them."""

    def __init__(self) -> None:
        self.loops: dict[AnyValue, Loop] = {}
        self.followers = list[Follower]()

    def add(self, index: AnyValue, trip: int, reverse: bool, slot: int) -> int:
        """One loop more, whose index is kept in this slot; its number."""
        ends = (trip - 1, -1, -1) if reverse else (0, trip, 1)
        self.loops[index] = Loop(slot, *ends, 0, 0)
        return len(self.loops) - 1

    def follow(self, slot: int, base: Base | None, strides: Strides) -> None:
        """Let a slot follow the loops around it."""
        self.followers.append(Follower(slot, base, strides))

    def finish(self, slots: list[int], places: list[Place]) -> tuple[list[Loop], list[Move]]:
        """The loops and their moves, once all else is written; there may be more slots then."""
        chains = _Chains(slots, places, self)
        for each in self.followers:
            chains.add(each)
        loops, moves = list[Loop](), list[Move]()
        for index, loop in self.loops.items():
            own = chains.moves[index]
            loops.append(loop._replace(first=len(moves), number=len(own)))
            moves += own
        return loops, moves


class _Chains:
    """Slots that follow several loops: each loop adds to what those around it have come to."""

    def __init__(self, slots: list[int], places: list[Place], rounds: Rounds) -> None:
        self.slots, self.places = slots, places
        self.moves = {index: list[Move]() for index in rounds.loops}
        self.bases: dict[object, int] = {}
        self.sums: dict[tuple[int, AnyValue, object], int] = {}

    def add(self, follower: Follower) -> None:
        """The moves of one slot."""
        origin = self._base(follower.base)
        around = [index for index in self.moves if index in follower.strides]
        for index in around[:-1]:
            origin = self._sum(origin, index, follower.strides[index])
        last = around[-1]
        self.moves[last].append(Move(follower.slot, origin, follower.strides[last]))

    def _base(self, base: Base | None) -> int:
        key = base and (base[0], key_of(base[1]))
        if key not in self.bases:
            slot = self.bases[key] = self._new()
            if base is not None:
                self.places.append((slot, *base))
        return self.bases[key]

    def _sum(self, origin: int, index: AnyValue, stride: int) -> int:
        key = origin, index, key_of(stride)
        if key not in self.sums:
            slot = self.sums[key] = self._new()
            self.moves[index].append(Move(slot, origin, stride))
        return self.sums[key]

    def _new(self) -> int:
        self.slots.append(0)
        return len(self.slots) - 1


def write_loop(writing: "Writing", draft: "Draft") -> None:
    """The body, once for each index."""
    op, (body,) = draft.op, draft.regions
    (index,) = op.body.arguments
    trip = greatest(0, writing.preparation.numbers[op.trip])
    number = writing.rounds.add(index, trip, op.reverse, draft.slot)
    begin = writing.act(op, Act(Kind.LOOP, number, 0))
    work = _round(writing, body, trip)
    writing.act(op, Act(Kind.NEXT, number, begin + 1 - writing.position, work))
    _lead(writing, begin)


def write_while(writing: "Writing", draft: "Draft") -> None:
    """The body, and the predicate again after it."""
    (body,) = draft.regions
    begin = writing.act(draft.op, Act(Kind.UNLESS, draft.slot, 0))
    work = _round(writing, body, GUESS)
    writing.act(draft.op, Act(Kind.JUMP, 0, begin - writing.position, work))
    _lead(writing, begin)


def write_branch(writing: "Writing", draft: "Draft") -> None:
    """One region, or behind it the other one."""
    on_true, on_false = draft.regions
    begin = writing.act(draft.op, Act(Kind.UNLESS, draft.slot, 0))
    writing.write(on_true)
    end = writing.act(draft.op, Act(Kind.JUMP, 0, 0))
    _lead(writing, begin)
    writing.write(on_false)
    _lead(writing, end)


def _round(writing: "Writing", body: "Sequence[Draft]", times: int) -> int:
    """What is done in one round of so many; how much work that is."""
    before, begin = writing.work, writing.position
    writing.work = 0
    writing.write(body)
    work = least(writing.work + (writing.position - begin + 1) * LEAST, LARGEST)
    writing.work = before + times * work
    return work


def _lead(writing: "Writing", action: int) -> None:
    """Let an action lead to the next one that is written."""
    actions, writing.latest = writing.script.actions, None
    actions[action] = actions[action]._replace(number=writing.position - action)
