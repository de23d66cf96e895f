"""Axes that are traversed together, and the leaves of which they are made.

Comes in: axes as groups of leaves, stated to be the same, or cut anew as a reshape does. Goes out:
one answer to which axes are one axis: a leaf is a size that nobody takes apart, and a reshape only
groups leaves in another way. An axis of size 1 has no leaves.
Never: a decision that depends on a number that a symbol might have: sizes are equal, or divide each
other, as polynomials. What cannot be stated is refused, and leaves at most finer leaves behind.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod

from ...ir.attributes import Shape
from ...ir.dims import Size, terms_of

Leaf = int
Group = tuple[Leaf, ...]
"""The leaves of one axis, from the outermost to the innermost."""

Groups = tuple[Group, ...]


class Axes:
    """Leaves, which only ever become fewer by being joined, and finer by being split."""

    def __init__(self) -> None:
        self._sizes: list[Size] = []
        self._joined: list[Leaf | None] = []
        self._parts: list[Group | None] = []
        self._owners: list[set[int]] = []
        self._divides: list[tuple[Size, ...] | None] = []

    def leaf(self, size: Size, divides: tuple[Size, ...] | None = ()) -> Leaf:
        """A leaf that is split only where the inner part divides each of `divides`; None: never."""
        self._sizes.append(size)
        self._joined.append(None)
        self._parts.append(None)
        self._owners.append(set())
        self._divides.append(divides)
        return len(self._sizes) - 1

    def group(self, size: Size) -> Group:
        """A new axis."""
        return () if size == 1 else (self.leaf(size),)

    def groups(self, shape: Shape) -> Groups:
        """New axes of a shape."""
        return tuple([self.group(size) for size in shape])

    def size(self, leaf: Leaf) -> Size:
        """How long a leaf is."""
        return self._sizes[leaf]

    def own(self, leaves: Iterable[Leaf], owner: int) -> None:
        """State that an owner has all these leaves, so that no two of them may be joined."""
        for leaf in self.leaves(leaves):
            self._owners[leaf].add(owner)

    def leaves(self, group: Iterable[Leaf]) -> Group:
        """The leaves as they now are, after all that was joined and split."""
        found: list[Leaf] = []
        for leaf in group:
            root = self._root(leaf)
            parts = self._parts[root]
            if parts is None:
                found.append(root)
            else:
                self._parts[root] = parts = self.leaves(parts)
                found += parts
        return tuple(found)

    def sizes(self, group: Iterable[Leaf]) -> Shape:
        """The sizes of the leaves."""
        return tuple([self._sizes[leaf] for leaf in self.leaves(group)])

    def unify(self, one: Groups, other: Groups) -> bool:
        """Make axes the same, one by one; False where they cannot be."""
        same = True
        for left, right in zip(one, other, strict=True):
            same = (left == right or self._unify(left, right)) and same
        return same

    def cut(self, groups: Groups, shape: Shape) -> Groups | None:
        """The same leaves in the groups that a reshape to `shape` makes of them, if it does."""
        leaves = [*self.leaves(leaf for group in groups for leaf in group)]
        made: list[Group] = []
        for size in reversed(shape):
            group = self._take(leaves, size)
            if group is None:
                return None
            made.append(group)
        return tuple(reversed(made)) if not leaves else None

    def _unify(self, one: Group, other: Group) -> bool:
        left, right = [*self.leaves(one)], [*self.leaves(other)]
        while left and right:
            x, y = left.pop(), right.pop()
            if x == y:
                continue
            if self._sizes[x] == self._sizes[y]:
                if not self._join(x, y):
                    return False
            elif not (self._align(x, y, left, right) or self._align(y, x, right, left)):
                return False
        return not left and not right

    def _align(self, long: Leaf, short: Leaf, before: list[Leaf], others: list[Leaf]) -> bool:
        """Split the long leaf so that its inner part is as long as the short one; put all back."""
        parts = self._split(long, self._sizes[short])
        if parts is None:
            return False
        before += parts
        others.append(short)
        return True

    def _take(self, leaves: list[Leaf], size: Size) -> Group | None:
        """The innermost leaves, removed, that together have a size."""
        taken: list[Leaf] = []
        missing = size
        while missing != 1:
            if not leaves:
                return None
            leaf = leaves.pop()
            rest = divided(missing, self._sizes[leaf])
            if rest is None:
                parts = self._split(leaf, missing)
                if parts is None:
                    return None
                leaves.append(parts[0])
                leaf, rest = parts[1], 1
            taken.append(leaf)
            missing = rest
        return tuple(reversed(taken))

    def _split(self, leaf: Leaf, inner: Size) -> Group | None:
        """An outer and an inner part of a leaf."""
        outer, limits = divided(self._sizes[leaf], inner), self._divides[leaf]
        if outer is None or limits is None:
            return None
        rests = [0 if limit == 0 else divided(limit, inner) for limit in limits]
        known = tuple([rest for rest in rests if rest is not None])
        if len(known) < len(limits):
            return None
        parts = (self.leaf(outer, known), self.leaf(inner))
        for part in parts:
            self._owners[part] |= self._owners[leaf]
        self._parts[leaf] = parts
        return parts

    def _join(self, one: Leaf, other: Leaf) -> bool:
        """Make two leaves of one size the same leaf."""
        small, large = sorted((one, other), key=lambda leaf: len(self._owners[leaf]))
        if not self._owners[small].isdisjoint(self._owners[large]):
            return False
        self._joined[small] = large
        self._owners[large] |= self._owners[small]
        ours, theirs = self._divides[large], self._divides[small]
        self._divides[large] = None if ours is None or theirs is None else ours + theirs
        return True

    def _root(self, leaf: Leaf) -> Leaf:
        root = leaf
        while (above := self._joined[root]) is not None:
            root = above
        while leaf != root:
            above = self._joined[leaf]
            self._joined[leaf] = root
            leaf = root if above is None else above
        return root


def flat(groups: Groups) -> Group:
    """All leaves, or sizes, of some axes in one row."""
    return tuple([leaf for group in groups for leaf in group])


def regrouped(sizes: Sequence[Size], shape: Shape) -> tuple[Shape, ...]:
    """Sizes in the groups that make up the sizes of a shape, of which they are the factors."""
    left, made = list(sizes), list[Shape]()
    for size in reversed(shape):
        taken: list[Size] = []
        missing = size
        while missing != 1:
            taken.append(left.pop())
            rest = divided(missing, taken[-1])
            assert rest is not None, "the leaves of both sides of a reshape are the same"
            missing = rest
        made.append(tuple(reversed(taken)))
    return tuple(reversed(made))


@cache
def divided(dividend: Size, divisor: Size) -> Size | None:
    """The quotient, where it is whole whatever the symbols are; of equal sizes 1, even of zeros."""
    if dividend == divisor:
        return 1
    if dividend == 0 or divisor == 0:
        return None
    terms = terms_of(divisor)
    if len(terms) != 1:
        return None
    (monomial, unit), above = next(iter(terms.items())), terms_of(dividend)
    quotient = above.over(monomial, unit).size() if unit > 0 else 0
    return quotient if quotient != 0 and quotient * divisor == dividend else None


def elements(shape: Shape) -> Size:
    """How many elements a shape has."""
    return prod(shape)
