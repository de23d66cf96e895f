"""Launches one behind the other that have nothing to do with each other, as one action.

Comes in: launches in the order of a step, and how much work they are. Goes out: `Together`s:
launches that threads share at once, though one of them alone would not be worth it, such as the
packing of both operands of a product.
Never: launches of which one touches what another one writes; nor two of which each is enough for
all threads: then what a thread has made it finds in its own caches.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...ir import step
from .kernel import Kernel
from .sharing import is_shared


class Launched(NamedTuple):
    """A launch of a kernel: how many programs there are along each axis, and how many bytes its
    arrays have."""

    kernel: Kernel
    grid: Sequence[int]
    bytes: int

    @property
    def shared(self) -> int:
        """How much work threads can share."""
        return self.bytes * self.kernel.head.effort


class Together:
    """What ops launch, from the launch of the number `first` on: the bytes of all its arrays; how
    much work threads can share, and how much that is at least; and how much it is for one."""

    __slots__ = ("bytes", "certain", "first", "launches", "ops", "shared", "work")

    def __init__(
        self, first: int, ops: Sequence[step.Launch], launches: Sequence[Launched]
    ) -> None:
        self.first, self.ops, self.launches = first, ops, launches
        self.bytes = self.shared = self.certain = self.work = 0
        for kernel, _, bytes_ in launches:
            effort = kernel.head.effort
            self.bytes += bytes_
            self.shared += bytes_ * effort
            self.certain += bytes_ * min(effort, 1)  # a small product takes less than it seems
            self.work += bytes_ * max(effort, 1)

    def gains(self, other: "Together") -> bool:
        """Whether threads can share both, and not each."""
        each = is_shared(self.shared) and is_shared(other.shared)
        return not each and is_shared(self.certain + other.certain)

    def with_next(self, other: "Together") -> "Together":
        """Both."""
        return Together(self.first, [*self.ops, *other.ops], [*self.launches, *other.launches])


class Range(NamedTuple):
    """Bytes from one to another of an owner of memory."""

    owner: Any
    begin: int
    end: int


def are_apart(ones: Iterable[Range], others: Iterable[Range]) -> bool:
    """Whether no byte is in both."""
    taken: dict[Any, list[Range]] = {}
    for each in others:
        taken.setdefault(each.owner, []).append(each)
    return not any(
        one.begin < other.end and other.begin < one.end
        for one in ones
        for other in taken.get(one.owner, ())
    )
