"""Trees of results whose leaves are made when somebody looks.

Comes in: the buffers that a compiled function returned, and the structure of its result. Goes out:
dicts and dataclasses that keep the buffers as one `Bundle`, until they are looked into; given to a
compiled function again, they are taken as a whole, however many leaves they have.
Never: a difference that a user can see: the first look makes the leaves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from ..ir.locations import Location
from ..runtime.device import Device
from .handle import wrap
from .node import Node, leaf
from .tree import LEAF, Structure

WORTHWHILE = 4
"""From how many leaves on a tree is made lazily."""


class Kind(NamedTuple):
    """What a bundle is but for its buffers; equal kinds are one object."""

    structure: Structure
    types: tuple[Any, ...]
    device: Device


_KINDS: dict[Kind, Kind] = {}


class Bundle:
    """The buffers of a tree's leaves; `nodes` once the leaves have been made."""

    __slots__ = ("buffers", "kind", "location", "nodes")

    def __init__(self, kind: Kind, buffers: Sequence[Any]) -> None:
        self.kind = _KINDS.get(kind) or _KINDS.setdefault(kind, kind)
        self.buffers: Sequence[Any] | None = buffers
        self.nodes: list[Node] | None = None
        self.location: Location | None = None

    def leaves(self) -> list[Node]:
        """A node for each leaf."""
        if self.nodes is None:
            types, device = self.kind.types, self.kind.device
            buffers = self.buffers if self.buffers is not None else [None] * len(types)
            self.nodes = [leaf(*each, device) for each in zip(buffers, types, strict=True)]
            if self.location is not None:
                for node in self.nodes:
                    node.location = self.location
        return self.nodes

    def donate(self, location: Location) -> None:
        """Give the buffers away; whoever reads a leaf is told where that happened."""
        self.buffers, self.location = None, location
        for node in self.nodes or ():
            node.buffer, node.location = None, location


class LazyDict(dict[str, Any]):
    """A dict whose values are made when it is first looked into."""

    __slots__ = ("bundle", "filled")

    def __init__(self, bundle: Bundle) -> None:
        self.bundle: Bundle | None = bundle
        self.filled = False

    def fill(self) -> None:
        """Make the values."""
        if self.filled or self.bundle is None:
            return
        self.filled = True
        bundle = self.bundle
        structure = bundle.kind.structure
        for key, value in zip(structure.static, _children(bundle), strict=True):
            dict.__setitem__(self, key, value)
        if any([child is not LEAF for child in structure.children]):
            self.bundle = None  # a child may change without this dict being told

    def forget(self) -> None:
        """Stand for no bundle any more, since the values are about to change."""
        self.fill()
        self.bundle = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.fill()
        return dict, (list(dict.items(self)),)


def _looking(name: str) -> Any:
    inherited = getattr(dict, name)

    def method(self: LazyDict, *args: Any, **kwargs: Any) -> Any:
        self.fill()
        return inherited(self, *args, **kwargs)

    method.__name__ = name
    return method


def _changing(name: str) -> Any:
    inherited = getattr(dict, name)

    def method(self: LazyDict, *args: Any, **kwargs: Any) -> Any:
        self.forget()
        return inherited(self, *args, **kwargs)

    method.__name__ = name
    return method


LOOKING = (
    "__contains__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__",
    "__lt__", "__ne__", "__or__", "__repr__", "__reversed__", "__ror__", "copy", "get", "items",
    "keys", "values",
)  # fmt: skip
CHANGING = (
    "__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update",
)  # fmt: skip
for _name in LOOKING:
    setattr(LazyDict, _name, _looking(_name))
for _name in CHANGING:
    setattr(LazyDict, _name, _changing(_name))

BUNDLE = "_brimstone_bundle"
"""Under which name a frozen dataclass keeps its bundle."""


@cache
def _lazy_class(cls: type) -> type:
    """A dataclass whose fields are made at the first look, which makes it plain again."""

    def look(self: Any, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        bundle = own[BUNDLE]
        if name == BUNDLE:
            return bundle
        structure = bundle.kind.structure
        fields = [each.name for each in dataclasses.fields(cls) if not each.metadata.get("static")]
        own.update(zip(fields, _children(bundle), strict=True))
        if any([child is not LEAF for child in structure.children]) or not _is_frozen(cls):
            del own[BUNDLE]
        object.__setattr__(self, "__class__", cls)
        return getattr(self, name)

    namespace = {"__getattribute__": look, "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls,), namespace)


def _is_frozen(cls: Any) -> bool:
    return cls.__dataclass_params__.frozen


def _takes_lazy(cls: Any) -> bool:
    """Whether a class is a dataclass of plain instances, which may change their class."""
    return (
        dataclasses.is_dataclass(cls)
        and not hasattr(cls, "__slots__")
        and not hasattr(cls, "__getattr__")
    )


def _children(bundle: Bundle) -> list[Any]:
    """The children of a bundle's tree: leaves, and bundles of their own."""
    nodes = bundle.leaves()
    made: list[Any] = []
    at = 0
    for child in bundle.kind.structure.children:
        made.append(_grown(child, nodes[at : at + child.count]))
        at += child.count
    return made


def _grown(structure: Structure, nodes: Sequence[Node]) -> Any:
    return wrap(nodes[0]) if structure is LEAF else structure.build([wrap(node) for node in nodes])


def build(structure: Structure, buffers: Sequence[Any], types: Any, device: Device) -> Any:
    """The tree of some results; large dicts and dataclasses in it are made lazily."""
    if structure is LEAF:
        return wrap(leaf(buffers[0], types[0], device))
    cls = structure.cls
    if structure.count >= WORTHWHILE and (cls is dict or (cls is not None and _takes_lazy(cls))):
        bundle = Bundle(Kind(structure, types, device), buffers)
        if cls is dict:
            return LazyDict(bundle)
        made = object.__new__(_lazy_class(cls))
        object.__getattribute__(made, "__dict__").update(
            {BUNDLE: bundle, **_static_fields(cls, structure.static)}
        )
        return made
    children: list[Any] = []
    at = 0
    for child in structure.children:
        end = at + child.count
        children.append(build(child, buffers[at:end], types[at:end], device))
        at = end
    return structure.close(children)


def _static_fields(cls: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    names = [each.name for each in dataclasses.fields(cls) if each.metadata.get("static")]
    return dict(zip(names, values, strict=True))


def bundle_of(tree: Any) -> Bundle | None:
    """The bundle that a tree stands for, if nobody has changed it since it was made."""
    cls = type(tree)
    if cls is LazyDict:
        return tree.bundle
    own = object.__getattribute__(tree, "__dict__") if hasattr(cls, "__dataclass_fields__") else {}
    return own.get(BUNDLE)
