"""Cuts: a recording that is not compiled yet, done in pieces that are.

Comes in: a recording, and before it the steps that were compiled. Goes out: the pieces that it
begins with, the longest first piece first, and after each the longest that follows; what is left
over is for the caller to compile. A piece has exactly the entries of a step, numbered anew from
where it begins, and the step returns whatever of it is read later or wanted.

Pieces that together are less than half of the recording are none: a step of one op, compiled long
ago, must not tear a new one of a thousand apart. And what has come in pieces a hundred times is
compiled as one: by then, finding the pieces has cost as much.
Never: a computation, a cut through what belongs to no device yet, or one buffer for two nodes.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import NamedTuple

from ..ir.shared.cache import Cache
from ..ir.tensor import Constant
from ..runtime.device import Device
from .node import Node
from .prefixes import COMPILED, Place
from .ready import Piece, Step, flags_of
from .recording import Numbering, Recording, last_reads, weight

OFTEN = 100
"""How many times a recording is done in pieces before it is compiled as one."""
PATIENCE = 2
"""How many times its length a recording is looked through beyond what became pieces."""
_TIMES: Cache[int, count[int]] = Cache(4096)


def cut(recording: Recording, device: Device, recompute: bool) -> deque[Piece]:
    """The pieces to begin with; none where it is better to compile the whole."""
    cutter = _Cutter(recording, device, recompute)
    pieces = cutter.pieces()
    if not pieces or not cutter.worthwhile():
        return deque()
    key = hash((device, recording.key))
    times = _TIMES.get(key) or _TIMES.put(key, count())
    return pieces if next(times) < OFTEN else deque()


class _Cutter:
    """A recording while it is looked through; the first `done` nodes are in pieces."""

    def __init__(self, recording: Recording, device: Device, recompute: bool) -> None:
        self.nodes = [node for node in recording.nodes if node.cls is not Constant]
        self.device, self.recompute = device, recompute
        self.done = 0
        self.last_read = last_reads(self.nodes, recording.outputs)

    def pieces(self) -> deque[Piece]:
        """The longest piece, and the longest after it, until there is none.

        To look far beyond what then becomes a piece, again and again, would cost the square of the
        length. When that has been done too much, no piece may be longer than the one before.
        """
        pieces = deque[Piece]()
        reach = len(self.nodes)
        patience = PATIENCE * len(self.nodes)
        while self.done < len(self.nodes):
            walk = _Walk(self)
            looked_at = walk.go(min(self.done + reach, len(self.nodes)))
            if walk.match is None:
                break
            pieces.append(walk.piece(walk.match))
            patience -= looked_at - walk.match.end
            reach = len(self.nodes) if patience > 0 else walk.match.end - self.done
            self.done = walk.match.end
        return pieces

    def worthwhile(self) -> bool:
        """Whether what is done is at least half of all."""
        weights = [*map(weight, self.nodes)]
        return 2 * sum(weights[: self.done]) >= sum(weights)


class _Match(NamedTuple):
    """A step whose entries are those of the nodes up to `end`; what these read; what it gives."""

    step: Step
    end: int
    inputs: int
    constants: int
    needed: tuple[Node, ...]


class _Walk:
    """The nodes after what is done, as far as some step goes on like them."""

    def __init__(self, cutter: _Cutter) -> None:
        self.cutter = cutter
        self.numbering = Numbering([])
        self.place = COMPILED.root
        self.needed: dict[Node, None] = {}
        self.match: _Match | None = None

    def go(self, stop: int) -> int:
        """Find the longest match; return where the walk ended."""
        for at in range(self.cutter.done, stop):
            node = self.cutter.nodes[at]
            place = self._after(node)
            if place is None:
                return at
            self.place = place
            self._need(node, at)
            for step in place.steps:
                if self._fits(step):
                    counts = len(self.numbering.inputs), len(self.numbering.constants)
                    self.match = _Match(step, at + 1, *counts, tuple(self.needed))
        return stop

    def _after(self, node: Node) -> Place | None:
        """The place after a node, and what is numbered with it."""
        before = len(self.numbering.entries)
        self.numbering.extend((node,))
        place: Place | None = self.place
        for entry in self.numbering.entries[before:]:
            place = place.following.get(entry) if place else None
        return place

    def _need(self, node: Node, at: int) -> None:
        """Keep to what is read after the node at this place, or wanted."""
        self.needed[node] = None
        for each in node.operands:
            if self.cutter.last_read[each] == at:
                self.needed.pop(each, None)

    def _fits(self, step: Step) -> bool:
        """Whether a step with these entries gives what is needed."""
        device, recompute = self.cutter.device, self.cutter.recompute
        numbers = [self.numbering.numbers[node] for node in self.needed]
        return (
            step.device is device
            and step.flags == flags_of(self.numbering.inputs, self.needed, recompute)
            and len(numbers) == len(set(numbers))
            and set(numbers) <= set(step.key[1])
            and all([node.device is device for node in self.needed])
        )

    def piece(self, match: _Match) -> Piece:
        """What has matched, as a recording with the key of its step."""
        numbers, wanted = self.numbering.numbers, match.step.key[1]
        nodes = self.numbering.constants[: match.constants]
        nodes += self.cutter.nodes[self.cutter.done : match.end]
        by_number = {numbers[node]: node for node in (*nodes, *match.needed)}
        outputs = [by_number[number] for number in wanted]
        inputs = self.numbering.inputs[: match.inputs]
        places = {node: wanted.index(numbers[node]) for node in match.needed}
        return Piece(Recording(nodes, inputs, outputs, match.step.key), match.step, places)
