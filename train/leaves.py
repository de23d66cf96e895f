"""The leaves of trees that go with a model: gradients, and what optimisers remember.

Comes in: the structure of a model, and a tree of the same containers with None where it has
nothing. Goes out: one leaf or None for each leaf of the model, and the path that names it.
Never: a guess where a tree does not fit; the error names the path.
"""

import dataclasses
from typing import Any, NoReturn

from ..frontend.errors import ArgumentError, fail
from ..frontend.tree import LEAF, Structure, container_of, flatten


def tree_paths(tree: Any) -> list[str]:
    """For each leaf of a tree a dotted path: `encoder.0.weight`."""
    return paths_of(flatten(tree)[1])


def paths_of(structure: Structure) -> list[str]:
    """For each leaf of trees of this structure a dotted path."""
    if structure is LEAF:
        return [""]
    pairs = zip(_names(structure), structure.children, strict=True)
    return [_joined(name, path) for name, child in pairs for path in paths_of(child)]


def aligned(operation: str, structure: Structure, tree: Any, path: str = "") -> list[Any]:
    """The leaves of `tree` at the places of `structure`; None where it has None."""
    if tree is None:
        return [None] * structure.count
    cls = dict if isinstance(tree, dict) else type(tree)
    container = container_of(cls)
    if structure is LEAF:
        if container is not None:
            _refuse(operation, path, f"there is a {cls.__name__} where the model has a leaf")
        return [tree]
    assert structure.cls is not None
    if container is None or cls is not structure.cls:
        expected = structure.cls.__name__
        _refuse(operation, path, f"there is a {cls.__name__} where the model has a {expected}")
    names = _names(structure)
    if cls is dict:
        _expect_keys(operation, path, structure.static, tree)
        children = [tree[key] for key in structure.static]
    else:
        children = container.open(tree)[0]
    if len(children) != len(names):
        _refuse(operation, path, f"there are {len(children)} parts, and in the model {len(names)}")
    rows = zip(names, structure.children, children, strict=True)
    return [
        leaf
        for name, child, part in rows
        for leaf in aligned(operation, child, part, _joined(path, name))
    ]


def _names(structure: Structure) -> list[str]:
    """What the parts of a container are called; numbers where they have no names."""
    cls, count = structure.cls, len(structure.children)
    names: list[str] = []
    if cls is dict:
        names = [str(key) for key in structure.static]
    elif dataclasses.is_dataclass(cls):
        fields = dataclasses.fields(cls)
        names = [each.name for each in fields if not each.metadata.get("static")]
    elif cls is not None and issubclass(cls, tuple):
        names = list(getattr(cls, "_fields", ()))
    return names if len(names) == count else [str(place) for place in range(count)]


def _joined(*names: str) -> str:
    return ".".join([name for name in names if name])


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
