"""Readers: trees of a known structure, taken apart at the speed of C.

Comes in: a structure that has been met, then trees that may have it. Goes out: whether a tree has
it, and if it does, its leaves in order.
Never: a thing remembered of a tree, so a change to one is seen, or a lazy one looked into. What
stands in the place of a leaf is not looked at: whoever asked knows what leaves he takes, and finds
out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain
from typing import Any

from .lazy import bundle_of, is_lazy
from .tree import BUILT_IN, LEAF, Structure, container_of, kept, quick_container_of

Read = Callable[[Any, list[Any]], bool]
"""Put the leaves of a container behind others; whether it is as expected."""
Open = Callable[[Any], Collection[Any] | None]
"""The children of a container that is as expected; None of any other."""
Take = Callable[[Collection[Any], list[Any]], bool]
"""Put the leaves among children behind others; whether the children are as expected."""


@kept
def reader(structure: Structure) -> Read:
    """How the leaves of containers with this structure are found."""
    open = _OPENERS.get(structure.cls, _opener)(structure)
    take = _taker(structure.children)

    def read(tree: Any, leaves: list[Any]) -> bool:
        children = open(tree)
        return children is not None and take(children, leaves)

    return read


def _taker(structures: tuple[Structure, ...]) -> Take:
    """How the leaves of neighbours with these structures are found."""
    if all([each is LEAF for each in structures]):
        return _take_all
    if len(structures) > 1 and all([_is_flat_dict(each) for each in structures]):
        return _dict_taker(structures)
    return _each_taker(structures)


def _take_all(children: Collection[Any], leaves: list[Any]) -> bool:
    leaves += children
    return True


def _each_taker(structures: tuple[Structure, ...]) -> Take:
    inner = [None if each is LEAF else reader(each) for each in structures]

    def take(children: Collection[Any], leaves: list[Any]) -> bool:
        for child, read in zip(children, inner, strict=True):
            if read is None:
                leaves.append(child)
            elif not read(child, leaves):
                return False
        return True

    return take


def _dict_taker(structures: tuple[Structure, ...]) -> Take:
    """Dicts of leaves, side by side: all of them are looked through at once."""
    take_each = _each_taker(structures)
    lengths = [each.count for each in structures]
    expected = {tuple(chain.from_iterable([each.static for each in structures]))}

    def take(children: Collection[Any], leaves: list[Any]) -> bool:
        if {*map(type, children)} != {dict}:  # a class derived from it may have an order of its own
            return take_each(children, leaves)
        if [*map(len, children)] != lengths or tuple(chain.from_iterable(children)) not in expected:
            return False
        leaves += chain.from_iterable(map(dict.values, children))
        return True

    return take


def _dict_opener(structure: Structure) -> Open:
    # Keys are looked up, not compared: `==` of a key that is a tensor would record an operation.
    expected, count = {structure.static}, len(structure.static)

    def open(tree: Any) -> Collection[Any] | None:
        if not isinstance(tree, dict) or is_lazy(tree):
            return None
        return tree.values() if len(tree) == count and tuple(tree) in expected else None

    return open


def _sequence_opener(structure: Structure) -> Open:
    cls, count = structure.cls, len(structure.children)
    assert cls is not None
    plain, other = BUILT_IN[cls], _opener(structure)
    known = quick_container_of(cls)

    def open(tree: Any) -> Collection[Any] | None:
        if type(tree) is not cls or (known() or container_of(cls)) is not plain:
            return other(tree)
        return tree if len(tree) == count else None

    return open


def _opener(structure: Structure) -> Open:
    cls, expected, count = structure.cls, {structure.static}, len(structure.children)
    assert cls is not None
    known = quick_container_of(cls)

    def open(tree: Any) -> Collection[Any] | None:
        container = known() or container_of(cls)  # anew, since a user may register the class anew
        if container is None or bundle_of(tree) is not None or not isinstance(tree, cls):
            return None
        children, static = container.open(tree)
        alike = tree.__class__ is cls and len(children) == count and _is_among(expected, static)
        return children if alike else None

    return open


_OPENERS: dict[Any, Callable[[Structure], Open]] = {
    dict: _dict_opener, tuple: _sequence_opener, list: _sequence_opener,
}  # fmt: skip


def _is_among(expected: set[Any], static: Any) -> bool:
    try:
        return static in expected
    except TypeError:  # not hashable, of which taking apart without a reader tells the user
        return False


def _is_flat_dict(structure: Structure) -> bool:
    return structure.cls is dict and all([child is LEAF for child in structure.children])
