"""What people call the tensors that a function takes: `x`, `weights['first']`, `layers[0].bias`.

Comes in: a function, and the structure of its arguments. Goes out: a label for each leaf, in order.
Never: an error; where Python does not know the parameters, they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any

from ..tree import Structure, container_of


def argument_labels(function: Callable[..., Any], structure: Structure) -> list[str]:
    """The labels of the leaves of `(args, kwargs)`."""
    by_place, by_name = structure.children
    names = [*_parameters(function, len(by_place.children)), *by_name.static]
    children = (*by_place.children, *by_name.children)
    pairs = zip(names, children, strict=True)
    return [label for name, child in pairs for label in _leaves(child, name)]


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    """The names of so many positional parameters."""
    try:
        known = [*signature(function).parameters.values()]
    except (TypeError, ValueError):
        known = []
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in known if each.kind in plain]
    rest = next((each.name for each in known if each.kind is Parameter.VAR_POSITIONAL), "arguments")
    return [*names, *[f"{rest}[{place}]" for place in range(count)]][:count]


def _leaves(structure: Structure, label: str) -> Iterator[str]:
    """The labels of the leaves of a tree that has a label."""
    if structure.cls is None:
        yield label
        return
    names = _children(structure)
    for name, child in zip(names, structure.children, strict=True):
        yield from _leaves(child, label + name)


def _children(structure: Structure) -> list[str]:
    """How Python reaches each child of a container."""
    cls: Any = structure.cls
    container = container_of(cls)
    assert container is not None
    if cls is dict:
        return [f"[{key!r}]" for key in structure.static]
    names = container.names(structure.static, len(structure.children))
    are_attributes = container.settings is not None or hasattr(cls, "_fields")
    return [f".{name}" if are_attributes else f"[{name}]" for name in names]
