"""What is compiled, as a tree: which step has just these entries, and whether any begins so.

Comes in: compiled steps. Goes out: a `Place` in the tree, and from there that after one entry more.
Entries are compared as such, so what merely has an equal hash is never taken for equal.
Never: a search; and no more entries are kept than a bound allows.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ..ir.tensor import Constant
from ..runtime.hanging import name_in
from .ready import Step
from .recording import gathering

STEPS_AT_MOST, ENTRIES_AT_MOST = 4096, 1 << 16
"""How many steps there are in the tree, and how many entries they may have together, of some 2 KiB
each; the oldest steps go first."""


class Place:
    """Where one stands after some entries: those that go on from here, and steps that end here."""

    __slots__ = ("following", "steps")

    def __init__(self) -> None:
        self.following: dict[Any, Place] = {}
        self.steps: tuple[Step, ...] = ()


class Prefixes:
    """Steps with equal beginnings share the path from the root; the lock is `gathering()`."""

    def __init__(self, at_most: int = ENTRIES_AT_MOST) -> None:
        self.root = Place()
        self.size, self.at_most = 0, at_most
        self._steps = deque[Step]()

    def add(self, step: Step) -> None:
        """Know a step, unless it is longer than all may be, or returns what it does not compute, or
        names a function that is kept, which would live as long."""
        entries, wanted = step.key
        if len(entries) > self.at_most or not all([_is_computed(entries[each]) for each in wanted]):
            return
        if name_in(step.key) is not None:
            return
        with gathering():
            place = self.root
            for entry in entries:
                place = place.following.get(entry) or place.following.setdefault(entry, Place())
            if any([_form(each) == _form(step) for each in place.steps]):
                return
            place.steps = (*place.steps, step)
            self._steps.append(step)
            self.size += len(entries)
            while self.size > self.at_most or len(self._steps) > STEPS_AT_MOST:
                self._forget(self._steps.popleft())

    def _forget(self, step: Step) -> None:
        """Take a step out, and the part of its path that no other has."""
        entries = step.key[0]
        path = [self.root]
        for entry in entries:
            path.append(path[-1].following[entry])
        path[-1].steps = tuple([each for each in path[-1].steps if each is not step])
        while len(path) > 1 and not path[-1].steps and not path[-1].following:
            path.pop()
            del path[-1].following[entries[len(path) - 1]]
        self.size -= len(entries)


def _is_computed(entry: Any) -> bool:
    """Whether an entry is that of an op: inputs have their type alone, constants no work."""
    return isinstance(entry, tuple) and entry[0] is not Constant


def _form(step: Step) -> tuple[Any, ...]:
    """What tells steps with the same entries apart."""
    return step.key[1], step.device, step.flags


COMPILED = Prefixes()
"""Every step that was compiled, as far as the bound allows."""
