"""Rules about axes that several ops share.

Comes in: axes as an op's attributes give them. Goes out: `Unmet` where they name no axis, or one
twice; or the axes that are left, or in another order, or behind new ones.
Never: an array.
"""

from collections.abc import Collection, Iterable

from ..errors import Unmet, require


def check_distinct(axes: Iterable[int], rank: int, name: str = "axes") -> None:
    """Refuse axes outside a tensor of `rank`, and axes named twice."""
    listed = list(axes)
    for axis in listed:
        if not 0 <= axis < rank:
            raise Unmet(f"{name} = {listed}: a tensor of rank {rank} has no axis {axis}")
    require(len(set(listed)) == len(listed), f"{name} names an axis twice", listed)


def other_axes(rank: int, *taken: Collection[int]) -> tuple[int, ...]:
    """The axes of a tensor of `rank` that are in none of `taken`, in order."""
    return tuple(axis for axis in range(rank) if not any(axis in group for group in taken))


def shifted(axes: Iterable[int], by: int = 1) -> tuple[int, ...]:
    """What the axes are called once `by` axes come before them all."""
    return tuple(axis + by for axis in axes)


def moved(rank: int, source: int, target: int) -> tuple[int, ...]:
    """The axes of a tensor of `rank`, in order, but for `source`, which becomes axis `target`."""
    others = other_axes(rank, (source,))
    return (*others[:target], source, *others[target:])
