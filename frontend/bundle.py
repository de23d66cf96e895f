"""Trees of results whose leaves are made when somebody looks.

Comes in: the buffers that a compiled function returned, and the structure of its result. Goes out:
dicts and dataclasses that keep the buffers as one `Bundle`, until they are looked into; given to a
compiled function before that, they are taken as a whole, however many leaves they have.
Never: a difference that a user can see. The first look makes the leaves and ends the bundle, so
whatever happens to a leaf happens to the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ir.locations import Location
from ..passes.forks import held_across_forks
from ..runtime.device import Device
from ..targets import dealt
from .handle import held
from .node import leaf
from .tree import LEAF, Structure, container_of, is_set_by, remembered

if TYPE_CHECKING:
    from .tensor import Tensor

WORTHWHILE = 4
"""From how many leaves on a tree is made lazily."""


class Kind:
    """What a tree of tensors is but for their values; equal kinds are one object.

    The device is None where there are no leaves. `container` is how the tree was taken apart, even
    if its class has been registered anew since.
    """

    __slots__ = ("_children", "container", "device", "structure", "types")

    def __init__(self, structure: Structure, types: tuple[Any, ...], device: Device | None) -> None:
        self.structure, self.types, self.device = structure, types, device
        self.container = container_of(structure.cls) if structure.cls else None
        self._children: tuple[Kind, ...] | None = None

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


_KINDS: dict[Any, Kind] = {}


def kind_of(structure: Structure, types: tuple[Any, ...], device: Device | None) -> Kind:
    """The kind of trees with this structure, of leaves with these types."""
    key = (structure, types, device)
    return _KINDS.get(key) or _KINDS.setdefault(key, Kind(*key))


class Bundle:
    """The buffers of a tree's leaves, which are still to be made; None once they are given away.

    `location` is where they come from, and in the end where they were given away.
    """

    __slots__ = ("buffers", "kind", "location")

    def __init__(self, kind: Kind, buffers: Sequence[Any], location: Location) -> None:
        self.kind, self.location = kind, location
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
        buffers = self.buffers
        if buffers is None:
            return self._dead_children()
        makers = [maker(child, True) for child in self.kind.children]
        pieces = iter(dealt(buffers, [count for each in makers for count in each.counts]))
        return [each.make(pieces, self.location) for each in makers]

    def donate(self, location: Location) -> None:
        """Give the buffers away; whoever reads a leaf is told where that happened."""
        self.buffers, self.location = None, location

    def _dead_children(self) -> list[Any]:
        # Made with a buffer and then robbed of it: a tensor without one is pending from birth.
        tensors = [_leaf(type_, self, self.kind.device, self.location) for type_ in self.kind.types]
        for tensor in tensors:
            tensor.node.buffer = None
        rest = iter(tensors)
        return [child.build([*islice(rest, child.count)]) for child in self.kind.structure.children]


_FILLING = held_across_forks(RLock())
"""Held while leaves are made, so that every thread sees the same ones."""


class LazyDict(dict[str, Any]):
    """A dict whose values are made when it is first looked into; until then it has a bundle."""

    __slots__ = ("bundle",)

    def __init__(self, bundle: Bundle) -> None:
        self.bundle: Bundle | None = bundle

    def fill(self) -> None:
        """Make the values."""
        if self.bundle is None:
            return
        with _FILLING:
            if self.bundle is not None:
                keys = self.bundle.kind.structure.static
                dict.update(self, zip(keys, self.bundle.children(), strict=True))
                self.bundle = None

    fromkeys = dict.fromkeys  # pyright: ignore[reportAssignmentType]

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.fill()
        return dict, (list(dict.items(self)),)


def _filled_first(name: str) -> Any:
    inherited = getattr(dict, name)

    def method(self: LazyDict, *args: Any, **kwargs: Any) -> Any:
        for each in (self, *args):  # what it is compared with may be lazy, too
            if type(each) is LazyDict:
                each.fill()
        return inherited(self, *args, **kwargs)

    method.__name__ = name
    return method


for _name in (
    "__contains__", "__delitem__", "__eq__", "__ge__", "__getitem__", "__gt__", "__ior__",
    "__iter__", "__le__", "__len__", "__lt__", "__ne__", "__or__", "__repr__", "__reversed__",
    "__ror__", "__setitem__", "clear", "copy", "get", "items", "keys", "pop", "popitem",
    "setdefault", "update", "values",
):  # fmt: skip
    setattr(LazyDict, _name, _filled_first(_name))

BUNDLE = "_brimstone_bundle"
"""Under which name a dataclass keeps its bundle until it is looked at."""
_LAZY: set[type] = set()


class _Unannounced:
    """Keeps from the bases of a lazy class that it exists: users count on theirs alone."""

    def __init_subclass__(cls) -> None:
        pass


@cache
def _lazy_class(cls: type) -> type:
    """A class whose attributes are made at the first look, which makes it plain again."""

    def fill(tree: Any) -> None:
        with _FILLING:
            own = object.__getattribute__(tree, "__dict__")
            if BUNDLE in own:
                own.update(_named(own[BUNDLE]))
                del own[BUNDLE]
                object.__setattr__(tree, "__class__", cls)

    def look(self: Any, name: str) -> Any:
        fill(self)
        return getattr(self, name)

    def change(self: Any, name: str, *value: Any) -> None:
        fill(self)
        (setattr if value else delattr)(self, name, *value)

    namespace = {
        "__getattribute__": look, "__setattr__": change, "__delattr__": change,
        "__module__": cls.__module__, "__doc__": cls.__doc__,
    }  # fmt: skip
    made = type(cls)(cls.__name__, (_Unannounced, cls), namespace)
    _LAZY.add(made)
    return made


def _named(bundle: Bundle) -> Iterable[tuple[str, Any]]:
    """The children of a tree, with their names."""
    return zip(_names(bundle.kind), bundle.children(), strict=True)


def _names(kind: Kind) -> Sequence[str]:
    """What the children are called."""
    assert kind.container is not None
    return kind.container.names(kind.structure.static, len(kind.structure.children))


class Maker(NamedTuple):
    """How trees of one kind are made: of pieces that have so many buffers each, a leaf of one."""

    counts: tuple[int, ...]
    make: Callable[[Iterator[Any], Location], Any]


@remembered
def maker(kind: Kind, inner: bool = False) -> Maker:
    """How a tree is made of results; large dicts and dataclasses in it are made lazily.

    Inside a tree that was looked into, dataclasses are not: the user may ask what `type` they are.
    """
    structure, types, device = kind.structure, kind.types, kind.device
    if structure is LEAF:
        assert device is not None
        type_, on = types[0], device
        return Maker((1,), lambda pieces, line: held(leaf(next(pieces), type_, on, False, line)))
    lazily = _lazily(kind, inner)
    if lazily is not None:
        counts = (structure.count,)
        return Maker(counts, lambda pieces, line: lazily(Bundle(kind, next(pieces), line)))
    makers = [maker(child, inner) for child in kind.children]
    inside, static, container = [each.make for each in makers], structure.static, kind.container
    assert container is not None
    close = container.close
    if not makers:
        return Maker((), lambda pieces, line: close(static, ()))

    def make(pieces: Iterator[Any], line: Location) -> Any:
        return close(static, [each(pieces, line) for each in inside])

    return Maker(tuple([count for each in makers for count in each.counts]), make)


def _lazily(kind: Kind, inner: bool) -> Callable[[Bundle], Any] | None:
    """What makes a tree of a bundle, if that is worthwhile and can be done."""
    structure = kind.structure
    if structure.count < WORTHWHILE:
        return None
    if structure.cls is dict:
        return LazyDict
    settings = None if inner else _settings(kind)
    if settings is None or structure.cls is None:
        return None
    return partial(_lazy_instance, _lazy_class(structure.cls), settings)


def _settings(kind: Kind) -> dict[str, Any] | None:
    """The attributes of a tree that are no children, if those are attributes of plain instances,
    which may change their class, and nothing in that class takes them in."""
    cls, container = kind.structure.cls, kind.container
    if container is None or container.settings is None:
        return None
    if hasattr(cls, "__slots__") or hasattr(cls, "__getattr__"):
        return None
    settings = container.settings(kind.structure.static)
    names = (*_names(kind), *settings)
    return None if any([is_set_by(cls, name) for name in names]) else settings


def _lazy_instance(cls: type, settings: dict[str, Any], bundle: Bundle) -> Any:
    made: Any = object.__new__(cls)
    own = object.__getattribute__(made, "__dict__")
    own.update(settings)
    own[BUNDLE] = bundle
    return made


def _leaf(type_: Any, buffer: Any, device: Device | None, location: Location) -> Tensor:
    assert device is not None
    return held(leaf(buffer, type_, device, False, location))


def donate(tree: Any, location: Location) -> bool:
    """Give away the buffers of a tree that nobody has looked into; whether it is one."""
    with _FILLING:
        bundle = bundle_of(tree)
        if bundle is not None:
            bundle.donate(location)
        return bundle is not None


def peek(tree: Any) -> tuple[list[Any], Structure] | None:
    """The leaves of a tree that nobody has looked into, which stays as it is; None of any other."""
    bundle = bundle_of(tree)
    if bundle is None:
        return None
    leaves = bundle.leaves()
    return None if leaves is None else (leaves, bundle.kind.structure)


def bundle_of(tree: Any) -> Bundle | None:
    """The bundle that a tree stands for, if nobody has looked into it."""
    cls = type(tree)
    if cls is LazyDict:
        return tree.bundle
    return object.__getattribute__(tree, "__dict__").get(BUNDLE) if cls in _LAZY else None
