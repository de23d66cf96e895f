"""Containers whose content is made at the first look.

Comes in: a bundle, which knows its kind and makes its children. Goes out: a dict, a list or an
instance of a dataclass that has them from the first look on, and gives the bundle until then.
Never: a difference that a user can see but in `type`. A dict and a list say `__class__` as plain
ones do, and their `type` makes plain ones; an instance is of its own class once it is looked at.
(Code of C that takes any list for a plain one, as `heapq` does, finds none of what nobody has
looked at: give it `list(made)`.)
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

from ..passes.forks import held_across_forks

if TYPE_CHECKING:
    from .bundle import Bundle

BUNDLE = "_brimstone_bundle"
"""Under which name a dataclass keeps its bundle until it is looked at."""
FILLING = held_across_forks(RLock())
"""Held while leaves are made, so that every thread sees the same ones."""
_ALL = slice(None)


class LazyDict(dict[str, Any]):
    """A dict whose values are made when it is first looked into; until then it has a bundle."""

    __slots__ = ("bundle",)
    bundle: Bundle | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A plain one: who asks for the type of a dict does so to make another."""
        return dict(*args, **kwargs)

    @property
    def __class__(self) -> type:
        return dict

    def fill(self) -> None:
        """Make the values."""
        if self.bundle is None:
            return
        with FILLING:
            made = {} if self.bundle is None else _items_of(self.bundle)
            if self.bundle is not None:  # nor has a handler of signals filled it meanwhile
                dict.update(self, made)
                self.bundle = None

    fromkeys = dict.fromkeys  # pyright: ignore[reportAssignmentType]

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.fill()
        return dict, (list(dict.items(self)),)


class LazyList(list[Any]):
    """A list whose items are made when it is first looked into; until then it has a bundle."""

    __slots__ = ("bundle",)
    bundle: Bundle | None

    def __new__(cls, *args: Any) -> Any:
        """A plain one: who asks for the type of a list does so to make another."""
        return list(*args)

    @property
    def __class__(self) -> type:
        return list

    def fill(self) -> None:
        """Make the items."""
        if self.bundle is None:
            return
        with FILLING:
            made = [] if self.bundle is None else self.bundle.children()
            if self.bundle is not None:  # nor has a handler of signals filled it meanwhile
                list.__setitem__(self, _ALL, made)
                self.bundle = None

    def __radd__(self, other: Any) -> Any:
        """What Python asks before a plain list reads the items itself, for `+` as for `+=`."""
        self.fill()
        return NotImplemented

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.fill()
        return list, (list[Any](list.__iter__(self)),)


Lazy = LazyDict | LazyList


def _items_of(bundle: Bundle) -> dict[str, Any]:
    """What the dict of a bundle has."""
    return dict(zip(bundle.kind.structure.static, bundle.children(), strict=True))


def _filled_first(base: type, name: str) -> Any:
    inherited = getattr(base, name)

    def method(self: Lazy, *args: Any, **kwargs: Any) -> Any:
        for each in (self, *args):  # what it is compared with may be lazy, too
            if type(each) is LazyDict or type(each) is LazyList:
                each.fill()
        return inherited(self, *args, **kwargs)

    method.__name__ = name
    return method


_OF_BOTH = (
    "__contains__", "__delitem__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iter__",
    "__le__", "__len__", "__lt__", "__ne__", "__repr__", "__reversed__", "__setitem__",
    "clear", "copy", "pop",
)  # fmt: skip
_OF_DICTS = (
    "__ior__", "__or__", "__ror__", "get", "items", "keys", "popitem", "setdefault", "update",
    "values",
)  # fmt: skip
_OF_LISTS = (
    "__add__", "__iadd__", "__imul__", "__mul__", "__rmul__", "append", "count", "extend", "index",
    "insert", "remove", "reverse", "sort",
)  # fmt: skip
for _name in (*_OF_BOTH, *_OF_DICTS):
    setattr(LazyDict, _name, _filled_first(dict, _name))
for _name in (*_OF_BOTH, *_OF_LISTS):
    setattr(LazyList, _name, _filled_first(list, _name))


def lazy_dict(bundle: Bundle) -> LazyDict:
    """The dict that a bundle stands for."""
    made: LazyDict = dict.__new__(LazyDict)
    made.bundle = bundle
    return made


def lazy_list(bundle: Bundle) -> LazyList:
    """The list that a bundle stands for."""
    made: LazyList = list.__new__(LazyList)
    made.bundle = bundle
    return made


class _Unannounced:
    """The first base of classes of dataclasses that are still to be looked at. It keeps from the
    others that there is one more: users count on theirs alone."""

    def __init_subclass__(cls) -> None:
        pass


def lazy_class(cls: type) -> type:
    """A class whose attributes are made at the first look, which makes it plain again; the same as
    before while somebody has that."""
    known = [each for each in type.__subclasses__(cls) if _Unannounced in each.__bases__]
    return known[0] if known else _new_lazy_class(cls)


def _new_lazy_class(cls: type) -> type:

    def fill(tree: Any) -> None:
        with FILLING:
            own = object.__getattribute__(tree, "__dict__")
            bundle = own.get(BUNDLE)
            made = {} if bundle is None else dict(bundle.named_children())
            if BUNDLE in own:  # nor has a handler of signals filled it meanwhile
                own.update(made)
            if BUNDLE in own:  # nor during that call
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
    return type(cls)(cls.__name__, (_Unannounced, cls), namespace)


def is_lazy(tree: Any) -> bool:
    """Whether a tree stands for a bundle, since nobody has looked into it."""
    return bundle_of(tree) is not None


def bundle_of(tree: Any) -> Bundle | None:
    """The bundle that a tree stands for, if nobody has looked into it."""
    cls = type(tree)
    if cls is LazyDict or cls is LazyList:
        return tree.bundle
    if _Unannounced not in cls.__bases__:
        return None
    return object.__getattribute__(tree, "__dict__").get(BUNDLE)
