"""New values for attributes, that functions leave behind while they run: running means, caches.

Comes in: an object, the name of an attribute, a tensor. Goes out: trees with these values in the
place of the old ones. Nothing is changed: a tree is made anew where something in it is.
Never: a tensor that outlives the function being traced; a transformation hands the values on as
further results, or drops them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from .blocks import Blocks
from .errors import TracedValueError, fail
from .trace import Trace, current_trace
from .tree import container_of


class Place(NamedTuple):
    """An attribute of an object that is part of some tree."""

    owner: Any
    name: str


class Updates:
    """What has been left so far, for one who wants it; `trace` is the function being traced."""

    __slots__ = ("_found", "_same", "trace")

    def __init__(self) -> None:
        self.trace: Trace | None = current_trace()
        self._found: dict[tuple[int, str], tuple[Place, Any]] = {}
        self._same: dict[int, tuple[Any, Any]] = {}  # both kept alive, so that ids stay theirs

    def alias(self, made: Any, original: Any) -> None:
        """Take the parts of a tree that was made anew for those of the original."""
        for part, whole in _counterparts(made, original):
            self._same[id(part)] = part, self._original(whole)

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Leave a value."""
        owner = self._original(owner)
        self._found[id(owner), name] = Place(owner, name), value

    def _original(self, owner: Any) -> Any:
        return self._same.get(id(owner), (owner, owner))[1]

    @property
    def places(self) -> list[Place]:
        """What values were left for."""
        return [place for place, _ in self._found.values()]

    @property
    def values(self) -> list[Any]:
        """The values, in the order of the places."""
        return [value for _, value in self._found.values()]

    def applied(self, tree: Any) -> Any:
        """The tree with the new values."""
        changes: dict[int, dict[str, Any]] = {}
        for (owner, name), (_, value) in self._found.items():
            changes.setdefault(owner, {})[name] = value
        return _changed(tree, changes)


class Gathered:
    """A function that also returns the values that it leaves, when it runs once in a trace.

    `args` and `kwargs` are what it is called with outside: parts of these are what it changes.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        self.function, self.outside = function, (args, dict(kwargs))
        self.places: list[Place] = []

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        with collecting() as found:
            found.alias((args, kwargs), self.outside)
            result = self.function(*args, **kwargs)
        self.places = found.places
        return result, found.values

    def hand_on(self, values: Sequence[Any]) -> None:
        """Leave the values outside, where they have become results."""
        for place, value in zip(self.places, values, strict=True):
            leave(place.owner, place.name, value)

    def applied(self, tree: Any, values: Sequence[Any]) -> Any:
        """The tree with the values."""
        found = Updates()
        for place, value in zip(self.places, values, strict=True):
            found.put(place.owner, place.name, value)
        return found.applied(tree)


_COLLECTING = Blocks()
_DROPPING = ("grad", "vjp", "jvp", "linearize")
"""Transformations that only give derivatives: values that are left inside are dropped."""


@contextmanager
def collecting() -> Iterator[Updates]:
    """While the block runs, values that are left are collected."""
    found = Updates()
    with _COLLECTING.saying(found):
        yield found


def leave(owner: Any, name: str, value: Any) -> None:
    """Leave a value for whoever collects, if somebody does."""
    updates, trace = _COLLECTING.innermost, current_trace()
    if updates is None or (trace is not updates.trace and trace and trace.kind in _DROPPING):
        return
    if trace is not updates.trace:
        _refuse(trace.kind if trace else "host call", owner, name)
    updates.put(owner, name, value)


def stands_for(made: Any, original: Any) -> Any:
    """A tree that was made of another one: what its parts leave is left by those of the other."""
    if _COLLECTING.innermost is not None:
        _COLLECTING.innermost.alias(made, original)
    return made


def _refuse(kind: str, owner: Any, name: str) -> NoReturn:
    fail(
        TracedValueError, f"{type(owner).__name__}.update",
        f"{name} is updated inside a `{kind}`, which does not hand it on",
        hint=f"return the value from the function given to `{kind}`, or collect it inside",
    )  # fmt: skip


def _counterparts(made: Any, original: Any) -> Iterator[tuple[Any, Any]]:
    """The objects in two trees that have attributes, as far as the trees are alike."""
    cls = dict if isinstance(original, dict) else original.__class__
    container = container_of(cls)
    if container is None or not isinstance(made, cls):
        return
    if container.settings is not None:
        yield made, original
    for pair in zip(container.open(made)[0], container.open(original)[0], strict=False):
        yield from _counterparts(*pair)


def _changed(tree: Any, changes: Mapping[int, Mapping[str, Any]]) -> Any:
    """The tree with other attributes; parts in which nothing changes are the same objects."""
    container = container_of(type(tree))
    if container is None:
        return tree
    children, static = container.open(tree)
    own = changes.get(id(tree), {})
    names = container.names(static, len(children))
    pairs = zip(names, children, strict=True)
    made = [own[name] if name in own else _changed(child, changes) for name, child in pairs]
    if all([new is old for new, old in zip(made, children, strict=True)]):
        return tree
    return container.close(static, made)
