"""What people call the tensors that a function takes: `x`, `weights['first']`, `layers[0].bias`.

Comes in: a function, and the structure of its arguments. Goes out: a label for each leaf, in order.
Never: an error; where Python does not know the parameters, they are counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any

from ..tree import Structure


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
    count = len(structure.children)
    if cls is dict:
        return [f"[{key!r}]" for key in structure.static]
    if dataclasses.is_dataclass(cls):
        fields = [f".{each.name}" for each in dataclasses.fields(cls)]
        static = [bool(each.metadata.get("static")) for each in dataclasses.fields(cls)]
        names = [name for name, apart in zip(fields, static, strict=True) if not apart]
    else:
        names = [f".{name}" for name in getattr(cls, "_fields", ())]
    return names if len(names) == count else [f"[{place}]" for place in range(count)]
