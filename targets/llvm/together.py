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
        return self.bytes * self.kernel.effort

    @property
    def certain(self) -> int:
        """How much it is at least: a small product is done sooner than its effort says."""
        return self.bytes * min(self.kernel.effort, 1)

    @property
    def work(self) -> int:
        """How much it is for one."""
        return self.bytes * max(self.kernel.effort, 1)


class Together(NamedTuple):
    """What ops launch, from the launch of the number `first` on."""

    first: int
    ops: Sequence[step.Launch]
    launches: Sequence[Launched]

    @property
    def bytes(self) -> int:
        """Of all arrays."""
        return sum([each.bytes for each in self.launches])

    @property
    def shared(self) -> int:
        """How much work threads can share."""
        return sum([each.shared for each in self.launches])

    @property
    def certain(self) -> int:
        """How much it is at least."""
        return sum([each.certain for each in self.launches])

    @property
    def work(self) -> int:
        """How much it is for one."""
        return sum([each.work for each in self.launches])

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


def are_apart(ones: Iterable[Range], others: Sequence[Range]) -> bool:
    """Whether no byte is in both."""
    return not any(
        [
            one.owner is other.owner and one.begin < other.end and other.begin < one.end
            for one in ones
            for other in others
        ]
    )
