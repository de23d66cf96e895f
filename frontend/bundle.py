"""Trees of results whose leaves are made when somebody looks.

Comes in: the buffers that a compiled function returned, and the structure of its result. Goes out:
dicts, lists and dataclasses that keep the buffers as one `Bundle`, until they are looked into;
given to a compiled function before that, they are taken as a whole, however many leaves they have.
Never: a difference that a user can see. The first look makes the leaves and ends the bundle, so
whatever happens to a leaf happens to the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ir.locations import Location
from ..ir.shared.cache import Cache
from ..ir.shared.interned import Unique
from ..runtime.device import Device
from ..targets import dealt
from .handle import held
from .lazy import BUNDLE, FILLING, bundle_of, is_lazy, lazy_class, lazy_dict, lazy_list
from .node import leaf
from .tree import BUILT_IN, LEAF, Structure, container_of, instance, is_set_by
from .written import Text, tuple_of

if TYPE_CHECKING:
    from .tensor import Tensor

WORTHWHILE = 4
"""From how many leaves on a tree is made lazily."""
_OTHERS_AT_MOST = 4096
"""So many others are kept with a kind."""


class Kind:
    """What a tree of tensors is but for their values; equal kinds are one object.

    The device is None where there are no leaves. `container` is how the tree was taken apart, even
    if its class has been registered anew since. `makers` say how a tree is made of results: inside
    of another one that was looked into, and anywhere else. `others` are kinds that differ from this
    one in sizes or the device.
    """

    __slots__ = (
        "__weakref__", "_children", "_inner", "container", "device", "key", "makers", "others",
        "structure", "types",
    )  # fmt: skip

    def __init__(self, structure: Structure, types: tuple[Any, ...], device: Device | None) -> None:
        self.structure, self.types, self.device = structure, types, device
        self.key = structure, types, device
        self.container = container_of(structure.cls) if structure.cls else None
        self.makers: dict[bool, Maker] = {}
        self._children: tuple[Kind, ...] | None = None
        self._inner: tuple[list[Maker], list[int]] | None = None
        self.others: Cache[Any, Kind] = Cache(_OTHERS_AT_MOST)

    @property
    def children(self) -> tuple[Kind, ...]:
        """The kinds of the children."""
        if self._children is None:
            made: list[Kind] = []
            at = 0
            for child in self.structure.children:
                made.append(kind_of(child, self.types[at : at + child.count], self.device))
                at += child.count
            self._children = tuple(made)
        return self._children

    @property
    def inner(self) -> tuple[list[Maker], list[int]]:
        """How the children of a tree that is looked into are made, and how many buffers each piece
        for them has."""
        if self._inner is None:
            makers = [maker(child, True) for child in self.children]
            self._inner = makers, [count for each in makers for count in each.counts]
        return self._inner

    @property
    def names(self) -> Sequence[str]:
        """What the children are called."""
        assert self.container is not None
        return self.container.names(self.structure.static, len(self.structure.children))


_KINDS = Unique[Kind]()


def kind_of(structure: Structure, types: tuple[Any, ...], device: Device | None) -> Kind:
    """The kind of trees with this structure, of leaves with these types."""
    key = (structure, types, device)
    return _KINDS.get(key) or _KINDS.keep(Kind(*key))


class Bundle:
    """The buffers of a tree's leaves, which are still to be made; None once they are given away.

    `location` is where they come from, and in the end where they were given away; `opened` says
    whether somebody has begun to look into the tree.
    """

    __slots__ = ("buffers", "kind", "location", "opened")

    def __init__(self, kind: Kind, buffers: Sequence[Any], location: Location) -> None:
        self.kind, self.location, self.opened = kind, location, False
        self.buffers: Sequence[Any] | None = buffers

    def leaves(self) -> list[Tensor] | None:
        """Tensors of the leaves, for one who does not keep them; None once they are given away."""
        buffers = self.buffers  # read once: another thread may give them away meanwhile
        if buffers is None:
            return None
        pairs = zip(self.kind.types, buffers, strict=True)
        return [_leaf(type_, each, self.kind.device, self.location) for type_, each in pairs]

    def children(self) -> list[Any]:
        """The children of the tree: tensors, and trees that may be lazy in their turn."""
        self.opened = True  # before they are read: who gives them away looks at it after that
        buffers = self.buffers
        if buffers is None:
            return self._dead_children()
        makers, all_counts = self.kind.inner
        pieces = dealt(buffers, all_counts)
        made: list[Any] = []
        at = 0
        for counts, make in makers:
            made.append(make(pieces[at : at + len(counts)], self.location))
            at += len(counts)
        return made

    def named_children(self) -> Iterable[tuple[str, Any]]:
        """The children with their names."""
        return zip(self.kind.names, self.children(), strict=True)

    def donate(self, location: Location) -> bool:
        """Give the buffers away; whoever reads a leaf is told where that happened. Whether nobody
        has begun to look: nor will he, with what was given away."""
        self.location = location
        self.buffers = None
        return not self.opened

    def _dead_children(self) -> list[Any]:
        device, location = self.kind.device, self.location
        rest = iter([_leaf(type_, None, device, location) for type_ in self.kind.types])
        return [child.build([*islice(rest, child.count)]) for child in self.kind.structure.children]


class Maker(NamedTuple):
    """How trees of one kind are made: of pieces that have so many buffers each, a leaf of one."""

    counts: tuple[int, ...]
    make: Callable[[Sequence[Any], Location], Any]


_CONTAINERS: dict[Any, Callable[[Bundle], Any]] = {dict: lazy_dict, list: lazy_list}
"""What makes a container of a bundle, where that is the same for all of a class."""
_ALIKE = 8
"""More leaves than so many, side by side, are made in a loop."""


def maker(kind: Kind, inner: bool = False) -> Maker:
    """How a tree is made of results; large dicts, lists and dataclasses in it are made lazily.

    Inside a tree that was looked into, dataclasses are not: the user may ask what `type` they are.
    """
    known = kind.makers
    return known.get(inner) or known.setdefault(inner, _new_maker(kind, inner))


def _new_maker(kind: Kind, inner: bool) -> Maker:
    text, counts = Text(), list[int]()
    text.add(f"return {tree_text(kind, text, counts, inner)}")
    return Maker(tuple(counts), text.function("made, line"))


def tree_text(kind: Kind, text: Text, counts: list[int], inner: bool = False) -> str:
    """The expression of a tree, of the pieces `made` that have so many buffers each and come from
    `line`; those behind what is counted already are its own."""
    structure, first = kind.structure, len(counts)
    if structure is LEAF:
        counts.append(1)
        return _leaf_text(f"made[{first}]", text.name(kind.types[0], "type"), kind, text)
    if structure.count >= WORTHWHILE:
        lazy = _lazy_text(kind, f"made[{first}]", text, inner)
        if lazy is not None:
            counts.append(structure.count)
            return lazy
    if len(structure.children) > _ALIKE and structure.count == len(structure.children):
        counts += [1] * structure.count
        pairs = f"zip(made[{first}:{len(counts)}], {text.name(kind.types, 'types')})"
        leaves = f"*[{_leaf_text('each', 'type', kind, text)} for each, type in {pairs}]"
        return _closed_text(kind, [leaves], text)
    children = [tree_text(child, text, counts, inner) for child in kind.children]
    return _plain_text(kind, children, text) or _closed_text(kind, children, text)


def _leaf_text(buffer: str, type_: str, kind: Kind, text: Text) -> str:
    device = text.name(kind.device, "device")
    node = f"{text.name(leaf, 'leaf')}({buffer}, {type_}, {device}, False, line)"
    return f"{text.name(held, 'held')}({node})"


def _plain_text(kind: Kind, children: Sequence[str], text: Text) -> str | None:
    """The container of these children, one after the other, if an expression can make it."""
    cls, container = kind.structure.cls, kind.container
    assert cls is not None
    if container is BUILT_IN.get(cls):
        if cls is dict:
            return _dict_text(kind.structure.static, children, text)
        if cls is list:
            return f"[{', '.join(children)}]"
        return "None" if cls is NoneType else tuple_of(children)
    settings = _settings(kind)
    if settings is None:
        return None
    return _instance_text(cls, _dict_text(kind.names, children, text), settings, text)


def _closed_text(kind: Kind, children: Sequence[str], text: Text) -> str:
    """The container of these children, made by what its class says."""
    assert kind.container is not None
    close = text.name(kind.container.close, "close")
    return f"{close}({text.name(kind.structure.static, 'static')}, [{', '.join(children)}])"


def _lazy_text(kind: Kind, buffers: str, text: Text, inner: bool) -> str | None:
    """The tree of these buffers, if it can be made lazily."""
    cls = kind.structure.cls
    assert cls is not None
    lazily = _CONTAINERS.get(cls)
    settings = None if lazily or inner else _settings(kind)
    if lazily is None and settings is None:
        return None
    bundle = f"{text.name(Bundle, 'Bundle')}({text.name(kind, 'kind')}, {buffers}, line)"
    if settings is None:
        return f"{text.name(lazily, 'lazily')}({bundle})"
    return _instance_text(lazy_class(cls), f"{{{BUNDLE!r}: {bundle}}}", settings, text)


def _instance_text(cls: type, attributes: str, settings: dict[str, Any], text: Text) -> str:
    """The instance of a class that has these attributes, and settings."""
    if settings:
        attributes += f" | {text.name(settings, 'settings')}"
    return f"{text.name(instance, 'instance')}({text.name(cls, 'cls')}, {attributes})"


def _dict_text(keys: Sequence[Any], values: Sequence[str], text: Text) -> str:
    names = [text.name(key, "key") for key in keys]
    pairs = [f"{name}: {value}" for name, value in zip(names, values, strict=True)]
    return f"{{{', '.join(pairs)}}}"


def _settings(kind: Kind) -> dict[str, Any] | None:
    """The attributes of a tree that are no children, if those are attributes of plain instances,
    which may change their class, and nothing in that class takes them in."""
    cls, container = kind.structure.cls, kind.container
    if container is None or container.settings is None:
        return None
    if hasattr(cls, "__slots__") or hasattr(cls, "__getattr__"):
        return None
    settings = container.settings(kind.structure.static)
    names = (*kind.names, *settings)
    return None if any([is_set_by(cls, name) for name in names]) else settings


def _leaf(type_: Any, buffer: Any, device: Device | None, location: Location) -> Tensor:
    assert device is not None
    return held(leaf(buffer, type_, device, False, location))


def donate(tree: Any, location: Location) -> bool:
    """Give away the buffers of a tree that nobody has looked into; whether it is one."""
    bundle = bundle_of(tree)
    if bundle is None:
        return False
    if bundle.donate(location):
        return True
    with FILLING:  # another thread may be at it, and have read the buffers before
        return is_lazy(tree)


def peek(tree: Any) -> tuple[list[Any], Structure] | None:
    """The leaves of a tree that nobody has looked into, which stays as it is; None of any other."""
    bundle = bundle_of(tree)
    if bundle is None:
        return None
    leaves = bundle.leaves()
    return None if leaves is None else (leaves, bundle.kind.structure)
