"""Values that are left for attributes: in any case, or where a boolean tensor says so.

Comes in: objects, names of attributes, trees of tensors. Goes out: the one tree that holds after
several were left, some of them in branches and turns that may not have been taken.
Never: a change to an object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from ..ir import dtypes as ir
from ..ir import tensor as ops
from .errors import ShapeError, fail
from .exact import exact
from .handle import Handle, wrap
from .node import Argument, Node, record
from .tree import container_of, flatten, tree_map


class Place(NamedTuple):
    """An attribute of an object that is part of some tree.

    `constant` says that no derivative flows through what is left for it.
    """

    owner: Any
    name: str
    constant: bool = False

    def __str__(self) -> str:
        return f"{type(self.owner).__name__}.{self.name}"


class Left(NamedTuple):
    """A value for a place; `when` says whether it was left, None where it was in any case.

    `when` has rank 0, or the leading axes of the value's tensors.
    """

    place: Place
    value: Any
    when: Any = None

    def after(self, earlier: Left | None) -> Left:
        """What holds when this is left after something else."""
        if self.when is None or earlier is None:
            return self
        return Left(self.place, self.instead_of(earlier.value), either(self.when, earlier.when))

    def instead_of(self, value: Any) -> Any:
        """The value of a place that had this one."""
        return chosen(self.place, self.when, self.value, value)


def chosen(place: Place, when: Any, one: Any, other: Any) -> Any:
    """One value for a place, where a boolean tensor holds or is None, else the other."""
    if when is None:
        return one
    leaves, structure = flatten(one)
    others, like = flatten(other)
    if structure is not like:
        refuse(place, structure, like)
    pairs = zip(leaves, others, strict=True)
    return structure.build([_chosen(place, when.node, *pair) for pair in pairs])


def either(one: Any, other: Any) -> Any:
    """Whether one of two booleans holds; None is one that always does."""
    return None if one is None or other is None else one | other


def is_constant(value: Any) -> bool:
    """Whether no derivative flows through the tensors of a value, as far as they tell."""
    pending = [leaf.node for leaf in flatten(value)[0] if isinstance(leaf, Handle)]
    known = set[Node]()
    while pending:
        node = pending.pop()
        jumps = not isinstance(node.type, tuple) and node.type.dtype not in ir.INEXACT
        if node in known or jumps or node.cls is ops.StopGradient:
            continue
        if node.tracked or node.cls is Argument:
            return False
        known.add(node)
        pending += node.operands
    return True


def constant(value: Any) -> Any:
    """The tensors of a value as constants for derivatives, which keep no history."""
    return tree_map(_constant, value)


def parts_of(tree: Any) -> Iterator[Any]:
    """The objects in a tree that have attributes, outer ones first."""
    return (made for made, _ in counterparts(tree, tree))


def has_part(tree: Any, part: Any) -> bool:
    """Whether an object is a part of a tree."""
    return any([each is part for each in parts_of(tree)])


def counterparts(made: Any, original: Any) -> Iterator[tuple[Any, Any]]:
    """The objects in two trees that have attributes, as far as the trees are alike."""
    cls = dict if isinstance(original, dict) else original.__class__
    container = container_of(cls)
    if container is None or not isinstance(made, cls):
        return
    if container.settings is not None:
        yield made, original
    for pair in zip(container.open(made)[0], container.open(original)[0], strict=False):
        yield from counterparts(*pair)


def _constant(leaf: Any) -> Any:
    if not isinstance(leaf, Handle):
        return leaf
    node = record(ops.StopGradient, (leaf.node,))
    node.tracked = False
    return wrap(node)


def _chosen(place: Place, when: Node, one: Any, other: Any) -> Any:
    if not (isinstance(one, Handle) and isinstance(other, Handle)):
        if isinstance(one, Handle) or isinstance(other, Handle) or exact(one) != exact(other):
            refuse(place, one, other)
        return one
    type_ = one.node.type
    if other.node.type is not type_:
        refuse(place, type_, other.node.type)
    if when.type.shape != type_.shape:
        axes = tuple(range(len(when.type.shape)))
        when = record(ops.Broadcast, (when,), (type_.shape, axes))
    return wrap(record(ops.Select, (when, one.node, other.node)))


def refuse(place: Place, one: Any, other: Any) -> NoReturn:
    """Complain that a place would be of one kind or of another."""
    fail(
        ShapeError, f"{type(place.owner).__name__}.update",
        f"{place.name} becomes {one} in a branch or turn that may not be taken, and is {other} "
        "where it is not",
        hint="leave a value with the shape, dtype and containers that there were before",
    )  # fmt: skip
