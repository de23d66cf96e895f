"""Trees: containers of tensors, taken apart into leaves and put together again.

Comes in: dicts, lists, tuples, named tuples, dataclasses and registered classes, nested as users
like. Goes out: the leaves in a fixed order, and a `Structure`, which is hashable and puts equal
leaves back into equal containers.
Never: a copy of a leaf, or a guess what a leaf means.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from inspect import getattr_static
from typing import Any, Literal, NamedTuple, TypeVar

from .caller import called
from .errors import ArgumentError, expect_functions, fail, one_of, shown
from .exact import Exact

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
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
    """What a tree is without its leaves; equal structures are interned and compared with `is`."""

    __slots__ = ("children", "cls", "count", "static")

    def __init__(
        self, cls: type | None, static: Any = None, children: tuple[Structure, ...] = ()
    ) -> None:
        self.cls, self.static, self.children = cls, static, children
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
_INTERNED: dict[Any, Structure] = {}
_LEAF_CLASSES: set[type] = set()
"""Classes that have been met and are no containers, so that many leaves are known at once."""
DEEP = 200
"""Where Python stops at trees of so many levels, they are to blame, not what called for them."""
_REMEMBERED: list[Any] = []
_REMEMBERED_AT_MOST = 4096
"""For so many classes, or kinds of trees, what was found or written is kept."""


def remembered(function: F) -> F:
    """A function of what containers say, whose results are kept until a class is registered."""
    made: Any = lru_cache(_REMEMBERED_AT_MOST)(function)
    _REMEMBERED.append(made)
    return made


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
    for each in _REMEMBERED:
        each.cache_clear()
    _LEAF_CLASSES.clear()


def _open(tree: Any, leaves: list[Any], peek: Peek | None) -> Structure:
    seen = peek(tree) if peek is not None else None
    if seen is not None:
        leaves += seen[0]
        return seen[1]
    cls = dict if isinstance(tree, dict) else tree.__class__
    container = container_of(cls)
    if container is None:
        if type(tree) is cls:
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
        return _INTERNED.get(key) or _INTERNED.setdefault(key, Structure(cls, static, children))
    except TypeError:
        problem = f"the static part of a {cls.__name__} is not hashable: {shown(static)}"
        fail(ArgumentError, "flatten", problem)


def _build(structure: Structure, leaves: Iterator[Any]) -> Any:
    if structure.cls is None:
        return next(leaves)
    container = container_of(structure.cls)
    assert container is not None
    children = [_build(child, leaves) for child in structure.children]
    return container.close(structure.static, children)


@remembered
def container_of(cls: type) -> Container | None:
    """How a class is taken apart; None where its objects are leaves."""
    for base in cls.__mro__:
        if base in _REGISTERED:
            return _REGISTERED[base]
    if dataclasses.is_dataclass(cls):
        return _dataclass(cls)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields = getattr(cls, "_fields")  # noqa: B009 (a checker knows that tuples have none)
        return Container(
            lambda tree: (tree, None), lambda _, children: cls(*children), lambda *_: fields
        )
    return BUILT_IN.get(dict if issubclass(cls, dict) else cls)


def _dataclass(cls: type) -> Container:
    """Fields hold children; those marked `metadata={"static": True}` belong to the structure."""
    fields = dataclasses.fields(cls)
    dynamic = [each.name for each in fields if not each.metadata.get("static")]
    static = [each.name for each in fields if each.metadata.get("static")]
    are_plain = cls.__dictoffset__ and not any([is_set_by(cls, each.name) for each in fields])

    def open(tree: Any) -> Children:
        rest = Exact(tuple([getattr(tree, name) for name in static]))
        return [getattr(tree, name) for name in dynamic], rest

    def settings(rest: Any) -> dict[str, Any]:
        return dict(zip(static, rest.value, strict=True))

    def close(rest: Any, children: Sequence[Any]) -> Any:
        if are_plain:
            return instance(cls, dict(zip(dynamic, children, strict=True)) | settings(rest))
        made = object.__new__(cls)
        values = (*children, *rest.value)
        for name, value in zip((*dynamic, *static), values, strict=True):
            object.__setattr__(made, name, value)
        return made

    return Container(open, close, lambda *_: dynamic, settings)


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
