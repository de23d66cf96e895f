"""Rounds: a long recording of a loop is done some turns of the loop at a time.

Comes in: a recording for which nothing is compiled, such as that of a thousand steps of training of
which nobody has read anything. Goes out: what is to be computed first, what then, and so on. In
each round stand the same lines as in the one before, so it is compiled once: as a whole the
recording would take a thousand times as long to compile as one turn does.

Turns begin where least is handed on from one to the next. Those of loops in loops, or of functions
that call themselves, are not alike, but their lines come again and again. Each round is another one
then, and need not be compiled where it has little to do (`runtime/passing.py`).
Never: a computation; nor, on another device than the usual one, rounds where something is handed on
that belongs to none yet, and might be wanted elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import accumulate, islice
from math import ceil
from typing import NamedTuple

from ..ir.locations import Location
from ..ir.tensor import Constant
from ..runtime.device import Device, default_device
from .node import Node
from .recording import Recording, last_reads, weight

LONG = 2048
"""Of so many ops is a recording that is looked through: to compile it takes a second or two."""
ROUND = 128
"""So many ops a round has at least: what is made of so many costs little to hand on."""
TURNS = 4
"""So many turns there are at least, and they are half of all."""
UNEVEN_TURNS = 64
"""So often each line comes, on average, in turns that are not alike."""
CANDIDATES = 64
"""So many lengths of a turn are tried."""


class _Loop(NamedTuple):
    """From where to where each line is that of a turn before."""

    begin: int
    end: int
    turn: int


def is_long(recording: Recording) -> bool:
    """Whether it is worth it to look for a loop."""
    return sum(map(weight, recording.nodes)) >= LONG


def rounds(recording: Recording, device: Device) -> deque[list[Node]]:
    """What is to be computed in turn, before what is wanted; nothing, if there is no loop."""
    nodes = [node for node in recording.nodes if node.cls is not Constant]
    ops = [*map(weight, nodes)]
    if sum(ops) < LONG:
        return deque()
    last_read = last_reads(nodes, recording.outputs)
    lasting = [last_read.get(node, 0) for node in nodes]
    # What several results are parts of has no value of its own that could be handed on.
    weights = [len(nodes) if isinstance(node.type, tuple) else 1 for node in nodes]
    handed_on = _handed_on(lasting, weights)
    loop = _loop([(node.cls, node.location) for node in nodes])
    if loop is not None:
        ops_a_turn = sum(ops[loop.begin : loop.begin + loop.turn])
        turns = ceil(ROUND / max(ops_a_turn, 1))  # none are in parts of one result
        cuts = _cuts(loop, turns, handed_on, len(nodes))
    else:
        cuts = _uneven_cuts([node.location for node in nodes], handed_on)
    found = deque[list[Node]]()
    for begin, end in zip([0, *cuts], cuts, strict=False):
        found.append([nodes[at] for at in range(begin, end) if lasting[at] >= end])
    devices = {node.device for each in found for node in each}
    belong = devices <= ({device, None} if device is default_device() else {device})
    return found if belong and all(found) else deque()


def _loop(lines: Sequence[object]) -> _Loop | None:
    """The loop that most lines are of, if they are: one of its turns is around three quarters."""
    middle = 3 * len(lines) // 4
    before = (at for at in range(middle - 1, -1, -1) if lines[at] == lines[middle])
    for at in islice(before, CANDIDATES):
        turn = middle - at
        if lines[at:middle] != lines[max(at - turn, 0) : at]:
            continue
        begin, end = at, middle
        while begin > 0 and lines[begin - 1] == lines[begin - 1 + turn]:
            begin -= 1
        while end < len(lines) and lines[end] == lines[end - turn]:
            end += 1
        if end - begin >= max(TURNS * turn, len(lines) // 2):
            return _Loop(begin, end, turn)
    return None


def _handed_on(lasting: Sequence[int], weights: Sequence[int]) -> list[int]:
    """How much of what is made before each place is read there, or behind it."""
    changes = [0] * (len(lasting) + 2)
    for at, last in enumerate(lasting):
        if last > at:
            changes[at + 1] += weights[at]
            changes[last + 1] -= weights[at]
    return [*accumulate(changes)]


def _cuts(loop: _Loop, turns: int, handed_on: Sequence[int], whole: int) -> list[int]:
    """Where rounds of so many turns end, at the same line each; none, if something is handed on
    everywhere that weighs as much as the whole."""
    second = loop.begin + loop.turn  # what is read of before the loop may be alive in the first
    first = min(range(second, second + loop.turn), key=handed_on.__getitem__)
    if handed_on[first] >= whole:
        return []
    return [*range(first, loop.end + 1, loop.turn * turns)]


def _uneven_cuts(lines: Sequence[Location], handed_on: Sequence[int]) -> list[int]:
    """Where rounds end whose turns are not alike: after a round or a little more, where least is
    handed on; none, if lines do not come again and again."""
    cuts, count = list[int](), len(lines)
    if count < UNEVEN_TURNS * len({*lines}):
        return cuts
    begin = 0
    while begin + 2 * ROUND < count:
        begin = min(range(begin + ROUND, begin + 2 * ROUND), key=handed_on.__getitem__)
        if handed_on[begin] < count:
            cuts.append(begin)
    return cuts
