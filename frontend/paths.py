"""Where the leaves of a tree are: dotted paths, leaves that another tree lacks, constant ones.

Comes in: trees, and their structures. Goes out: for each leaf of a structure, in order, what is
known of its place.
Never: a look at a leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from .errors import ArgumentError, fail
from .tree import LEAF, Container, Structure, container_of, flatten, kept


def tree_paths(tree: Any) -> tuple[str, ...]:
    """For each leaf of a tree its path: `encoder.0.weight`."""
    return paths_of(flatten(tree)[1])


@kept
def paths_of(structure: Structure) -> tuple[str, ...]:
    """For each leaf its path; that of a tree which is one leaf is empty."""
    return tuple(_paths(structure, ""))


def argument_at(structure: Structure, place: int) -> str:
    """A leaf of all arguments, by place and by name, in words."""
    group, _, path = paths_of(structure)[place].partition(".")
    return f"argument {path}" if group == "0" else f"the argument {path}"


@kept
def constants_of(structure: Structure) -> frozenset[int]:
    """The numbers of the leaves that are never differentiated, as their containers say."""
    return frozenset([number for number, constant in enumerate(_constant(structure)) if constant])


def aligned(structure: Structure, tree: Any, operation: str, path: str = "") -> list[Any]:
    """The leaves of `tree` at the places of `structure`; None where it has None."""
    if tree is None:
        return [None] * structure.count
    cls = dict if isinstance(tree, dict) else tree.__class__
    container = container_of(cls)
    if structure is LEAF:
        if container is not None:
            _refuse(operation, path, f"there is a {cls.__name__} where the model has a leaf")
        return [tree]
    if container is None or cls is not structure.cls:
        expected = getattr(structure.cls, "__name__", "leaf")
        _refuse(operation, path, f"there is a {cls.__name__} where the model has a {expected}")
    named = named_children(structure)
    if cls is dict:
        _expect_keys(operation, path, structure.static, tree)
        children = [tree[key] for key in structure.static]
    else:
        children = container.open(tree)[0]
    if len(children) != len(named):
        _refuse(operation, path, f"there are {len(children)} parts, and in the model {len(named)}")
    rows = zip(named, children, strict=True)
    return [
        leaf
        for (name, child), part in rows
        for leaf in aligned(child, part, operation, _joined(path, name))
    ]


def _paths(structure: Structure, path: str) -> Iterator[str]:
    if structure is LEAF:
        yield path
    for child_name, child in named_children(structure):
        yield from _paths(child, _joined(path, child_name))


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


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _expect_keys(operation: str, path: str, keys: tuple[Any, ...], tree: dict[Any, Any]) -> None:
    """Refuse a dict that has other keys than the model's."""
    for key in keys:
        if key not in tree:
            _refuse(operation, _joined(path, str(key)), "it is missing")
    for key in tree:
        if key not in keys:
            _refuse(operation, _joined(path, str(key)), "the model has no such part")


def _refuse(operation: str, path: str, problem: str) -> NoReturn:
    where = f"at {path}" if path else "as a whole"
    hint = "give None for what is not trained, and else a tree of the model's own containers"
    fail(ArgumentError, operation, f"the tree does not fit the model {where}: {problem}", hint=hint)
