"""Where the leaves of a tree are: dotted paths, leaves that another tree lacks, constant ones.

Comes in: trees, and their structures. Goes out: for each leaf of a structure, in order, what is
known of its place.
Never: a look at a leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .errors import ArgumentError, fail
from .tree import LEAF, Container, Structure, container_of, flatten

KEPT = 1024
"""Of how many structures the answers are remembered."""


def tree_paths(tree: Any) -> tuple[str, ...]:
    """For each leaf of a tree its path: `encoder.0.weight`."""
    return paths_of(flatten(tree)[1])


@lru_cache(KEPT)
def paths_of(structure: Structure) -> tuple[str, ...]:
    """For each leaf its path; that of a tree which is one leaf is empty."""
    return tuple(_paths(structure, ""))


@lru_cache(KEPT)
def constants_of(structure: Structure) -> frozenset[int]:
    """The numbers of the leaves that are never differentiated, as their containers say."""
    return frozenset([number for number, constant in enumerate(_constant(structure)) if constant])


def aligned(structure: Structure, tree: Any, name: str) -> list[Any]:
    """The leaves of a tree at the places of a structure, with None where it has nothing.

    The tree may have None in the place of any part. `name` is who asks, should it not fit.
    """
    leaves: list[Any] = []
    _align(structure, tree, leaves, name, "")
    return leaves


def _paths(structure: Structure, path: str) -> Iterator[str]:
    if structure is LEAF:
        yield path
    for child_name, child in named_children(structure):
        yield from _paths(child, f"{path}.{child_name}" if path else child_name)


def _constant(structure: Structure) -> Iterator[bool]:
    if structure is LEAF:
        yield False
        return
    container = container_for(structure)
    constants = container.constants(structure.static) if container.constants else ()
    for child_name, child in named_children(structure):
        if child_name in constants:
            yield from [True] * child.count
        else:
            yield from _constant(child)


def named_children(structure: Structure) -> list[tuple[str, Structure]]:
    """The children of a container, with their names."""
    if structure is LEAF:
        return []
    names = container_for(structure).names(structure.static, len(structure.children))
    return list(zip(names, structure.children, strict=True))


def container_for(structure: Structure) -> Container:
    """How the class of a container is taken apart."""
    container = container_of(structure.cls) if structure.cls is not None else None
    assert container is not None
    return container


def _align(structure: Structure, tree: Any, leaves: list[Any], name: str, path: str) -> None:
    if tree is None:
        leaves += [None] * structure.count
        return
    if structure is LEAF:
        leaves.append(tree)
        return
    container = container_of(dict if isinstance(tree, dict) else tree.__class__)
    children, static = container.open(tree) if container is not None else ((), None)
    fits = isinstance(tree, structure.cls or ()) and static == structure.static
    if not fits or len(children) != len(structure.children):
        where = f"at {path!r} " if path else ""
        problem = f"the trees differ {where}in structure: {structure!r:.60} and {tree!r:.60}"
        fail(ArgumentError, name, problem)
    for (child_name, child), given in zip(named_children(structure), children, strict=True):
        _align(child, given, leaves, name, f"{path}.{child_name}" if path else child_name)
