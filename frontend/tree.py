"""Trees: containers of tensors, taken apart into leaves and put together again.

Comes in: dicts, lists, tuples, named tuples, dataclasses and registered classes, nested as users
like. Goes out: the leaves in a fixed order, and a `Structure`, which is hashable and puts equal
leaves back into equal containers.
Never: a copy of a leaf, or a guess what a leaf means.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial, wraps
from inspect import getattr_static
from typing import Any, Literal, NamedTuple, TypeVar
from weakref import ref

from ..ir.shared.cache import Cache
from ..ir.shared.interned import Unique
from .caller import called
from .errors import ArgumentError, expect_functions, fail, one_of, shown
from .exact import Exact

T = TypeVar("T")
Children = tuple[Sequence[Any], Any]


def _numbered(static: Any, count: int) -> Sequence[str]:
    return [str(place) for place in range(count)]


class Container(NamedTuple):
    """How one class is taken apart, into children and what is static, and made again.

    `names` says what the children are called, from what is static and how many there are. Where
    children are attributes of these names, `settings` gives the other attributes. `constants` names
    the children that are never differentiated.
    """

    open: Callable[[Any], Children]
    close: Callable[[Any, Sequence[Any]], Any]
    names: Callable[[Any, int], Sequence[str]] = _numbered
    settings: Callable[[Any], dict[str, Any]] | None = None
    constants: Callable[[Any], Collection[str]] | None = None


class Structure:
    """What a tree is without its leaves; equal structures are interned and compared with `is`.

    What is found out about one is among its `answers`, so that it goes with it.
    """

    __slots__ = ("__weakref__", "answers", "children", "cls", "count", "is_plain", "key", "static")

    def __init__(
        self, cls: type | None, static: Any = None, children: tuple[Structure, ...] = ()
    ) -> None:
        self.cls, self.static, self.children = cls, static, children
        self.key = cls, static, children
        self.is_plain = cls is None or (
            _is_plain(cls, static) and all([each.is_plain for each in children])
        )
        self.answers: dict[Callable[[Structure], Any], Any] = {}
        self.count = 1 if cls is None else sum(child.count for child in children)

    def build(self, leaves: Sequence[Any]) -> Any:
        """The tree with these leaves."""
        if len(leaves) != self.count:
            problem = f"{len(leaves)} leaves were given for a tree of {self.count}"
            fail(ArgumentError, "unflatten", problem)
        return _build(self, iter(leaves))

    def close(self, children: Sequence[Any]) -> Any:
        """The container with these children, which are leaves or whole trees."""
        assert self.cls is not None
        container = container_of(self.cls)
        assert container is not None
        return container.close(self.static, children)

    def __repr__(self) -> str:
        return repr(self.build([_STAR] * self.count))


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()
LEAF = Structure(None)
_REGISTERED: dict[type, Container] = {}
_INTERNED = Unique[Structure]()
_PLAIN: Cache[Any, Structure] = Cache(4096)
"""Of structures in which nothing is a user's the latest, so that they are found quickly, and need
not be made anew when nobody has them."""
_LEAF_CLASSES: set[type] = set()
"""Classes that have been met and are no containers, so that many leaves are known at once; those of
modules alone, which stay there."""
DEEP = 200
"""Where Python stops at trees of so many levels, they are to blame, not what called for them."""


_MET: dict[ref[type], Container | None] = {}
"""How classes that have been met are taken apart, for as long as they are there."""


def kept(function: Callable[[Structure], T]) -> Callable[[Structure], T]:
    """A function of structures, each of which keeps its result."""

    @wraps(function)
    def asked(structure: Structure) -> T:
        try:
            return structure.answers[function]
        except KeyError:
            return structure.answers.setdefault(function, function(structure))

    return asked


Peek = Callable[[Any], "tuple[list[Any], Structure] | None"]
"""The leaves and the structure of a tree that need not be opened; None of any other."""


def flatten(tree: Any, peek: Peek | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree, and its structure."""
    leaves: list[Any] = []
    try:
        return leaves, _open(tree, leaves, peek)
    except RecursionError as problem:
        _refuse_endless(problem)
        raise


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten(tree)[0]


def tree_map(
    function: Callable[..., Any], tree: Any, *others: Any,
    missing: Literal["refuse", "keep"] = "refuse",
) -> Any:  # fmt: skip
    """The tree of `function` of the leaves at each place of trees of one structure.

    With missing="keep" the others may have None for a leaf, or for a part, as gradients have for
    what is not trained: there, what the first tree has stays as it is.
    """
    one_of("tree_map", "missing", missing, ("refuse", "keep"))
    expect_functions("tree_map", function)
    leaves, structure = flatten(tree)
    find = _like if missing == "refuse" else _with_gaps
    columns = [find(structure, other) for other in others]
    rows = zip(leaves, *columns, strict=True)
    return structure.build(
        [
            leaf if any([each is None for each in rest]) else function(leaf, *rest)
            for leaf, *rest in rows
        ]
    )


def _like(structure: Structure, tree: Any) -> list[Any]:
    """The leaves of a tree of this structure."""
    leaves, found = flatten(tree)
    if found is not structure:
        fail(
            ArgumentError, "tree_map", f"the trees differ in structure: {structure} and {found}",
            hint='missing="keep" keeps what others have None for, as gradients do for buffers',
        )  # fmt: skip
    return leaves


def _with_gaps(structure: Structure, tree: Any) -> list[Any]:
    """The leaves of a tree of this structure, and None where it has None."""
    from .paths import aligned

    return aligned(structure, tree, "tree_map")


def register(
    cls: type[T],
    open: Callable[[T], tuple[Iterable[Any], Any]],
    close: Callable[[Any, Sequence[Any]], T],
) -> type[T]:
    """Make a class a container: `open` gives its children and a hashable rest, `close` the object.

    `close(rest, children)` makes an object of the same class again.
    """
    if not isinstance(cls, type):
        fail(ArgumentError, "register_tree", f"expected a class, got {type(cls).__name__}", cls)
    expect_functions("register_tree", open, close)

    def opened(value: Any) -> Children:
        children, static = open(value)
        return tuple(children), Exact(static)

    register_container(cls, Container(opened, lambda rest, made: close(rest.value, made)))
    return cls


def register_container(cls: type, container: Container) -> None:
    """Take objects of a class, and of those that inherit from it, apart like this."""
    _REGISTERED[cls] = container
    _MET.clear()
    _LEAF_CLASSES.clear()


def _open(tree: Any, leaves: list[Any], peek: Peek | None) -> Structure:
    seen = peek(tree) if peek is not None else None
    if seen is not None:
        leaves += seen[0]
        return seen[1]
    cls = dict if isinstance(tree, dict) else tree.__class__
    container = _MET.get(ref(cls)) or container_of(cls)  # most have been met, and are containers
    if container is None:
        if cls not in _LEAF_CLASSES and type(tree) is cls and _is_of_module(cls):
            _LEAF_CLASSES.add(cls)
        leaves.append(tree)
        return LEAF
    children, static = container.open(tree)
    if _LEAF_CLASSES.issuperset(map(type, children)):
        leaves += children
        return _structure(cls, static, (LEAF,) * len(children))
    return _structure(cls, static, tuple([_open(child, leaves, peek) for child in children]))


def _refuse_endless(problem: RecursionError) -> None:
    """Say so if a tree is what was too deep, and not the calls of who takes it apart."""
    trace, levels = problem.__traceback__, 0
    while trace is not None:
        levels += trace.tb_frame.f_code is _open.__code__
        trace = trace.tb_next
    if levels > DEEP:
        what = f"a tree holds itself, or is nested more than {DEEP} deep"
        fail(ArgumentError, called() or "flatten", what)


def _structure(cls: type, static: Any, children: tuple[Structure, ...]) -> Structure:
    key = (cls, static, children)
    try:
        found = _PLAIN.get(key) if cls in BUILT_IN else None
        return found or _INTERNED.get(key) or _new_structure(key)
    except TypeError:
        problem = f"the static part of a {cls.__name__} is not hashable: {shown(static)}"
        fail(ArgumentError, "flatten", problem)


def _new_structure(key: tuple[type, Any, tuple[Structure, ...]]) -> Structure:
    made = _INTERNED.keep(Structure(*key))
    return _PLAIN.put(key, made) if made.is_plain else made


def _is_plain(cls: type, static: Any) -> bool:
    """Whether nothing is a user's in what a container has beside children: keys that are text."""
    if static is None:
        return cls in BUILT_IN
    return cls is dict and type(static) is tuple and {*map(type, static)} <= {str}


def _build(structure: Structure, leaves: Iterator[Any]) -> Any:
    if structure.cls is None:
        return next(leaves)
    container = container_of(structure.cls)
    assert container is not None
    children = [_build(child, leaves) for child in structure.children]
    return container.close(structure.static, children)


def container_of(cls: type) -> Container | None:
    """How a class is taken apart; None where its objects are leaves."""
    try:
        return _MET[ref(cls)]
    except KeyError:
        # Who goes is taken out by no code of Python, in which an interrupt would be lost.
        return _MET.setdefault(ref(cls, _MET.pop), _found_for(cls))


def _is_of_module(cls: type) -> bool:
    """Whether a class is found in its module, by its name."""
    names = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    return names.get(cls.__qualname__) is cls


def quick_container_of(cls: type) -> Callable[[], Container | None]:
    """What says how a class is taken apart, as far as it has been met since one was registered."""
    return partial(_MET.get, ref(cls))


def _found_for(cls: type) -> Container | None:
    """How a class is taken apart, by what was registered or by what it is. It holds no class that
    is not registered: who closes a container has that."""
    for base in cls.__mro__:
        if base in _REGISTERED:
            return _REGISTERED[base]
    if dataclasses.is_dataclass(cls):
        return _dataclass(cls)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields = getattr(cls, "_fields")  # noqa: B009 (a checker knows that tuples have none)
        known = _alive(cls)
        return Container(
            lambda tree: (tree, None), lambda _, children: known()(*children), lambda *_: fields
        )
    return BUILT_IN.get(dict if issubclass(cls, dict) else cls)


def _dataclass(cls: type) -> Container:
    """Fields hold children; those marked `metadata={"static": True}` belong to the structure."""
    fields = dataclasses.fields(cls)
    dynamic = [each.name for each in fields if not each.metadata.get("static")]
    static = [each.name for each in fields if each.metadata.get("static")]
    known = _alive(cls)
    are_plain = cls.__dictoffset__ and not any([is_set_by(cls, each.name) for each in fields])

    def open(tree: Any) -> Children:
        rest = Exact(tuple([getattr(tree, name) for name in static]))
        return [getattr(tree, name) for name in dynamic], rest

    def settings(rest: Any) -> dict[str, Any]:
        return dict(zip(static, rest.value, strict=True))

    def close(rest: Any, children: Sequence[Any]) -> Any:
        if are_plain:
            return instance(known(), dict(zip(dynamic, children, strict=True)) | settings(rest))
        made = object.__new__(known())
        values = (*children, *rest.value)
        for name, value in zip((*dynamic, *static), values, strict=True):
            object.__setattr__(made, name, value)
        return made

    return Container(open, close, lambda *_: dynamic, settings)


def _alive(cls: type) -> Callable[[], Any]:
    """What gives a class that others hold."""
    return ref(cls)


def instance(cls: type, attributes: dict[str, Any]) -> Any:
    """The instance of a class that has these attributes, set by nobody; it keeps the dict."""
    made = object.__new__(cls)
    object.__setattr__(made, "__dict__", attributes)
    return made


def is_set_by(cls: Any, name: str) -> bool:
    """Whether a class says what happens when an attribute is set, as with slots or a property."""
    return hasattr(getattr_static(cls, name, None), "__set__")


BUILT_IN: dict[type, Container] = {
    dict: Container(
        lambda tree: (tuple(tree.values()), tuple(tree)),
        lambda keys, children: dict(zip(keys, children, strict=True)),
        lambda keys, _: [str(key) for key in keys],
    ),
    list: Container(lambda tree: (tree, None), lambda _, children: list(children)),
    tuple: Container(lambda tree: (tree, None), lambda _, children: tuple(children)),
    type(None): Container(lambda tree: ((), None), lambda _, children: None),
}
"""How classes of Python are taken apart, unless somebody says otherwise."""
