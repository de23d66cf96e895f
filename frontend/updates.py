"""New values for attributes, that functions leave behind while they run: running means, caches.

Comes in: an object, the name of an attribute, a tensor. Goes out: trees with these values in the
place of the old ones. Nothing is changed: a tree is made anew where something in it is.
Never: a tensor that outlives the function being traced; a transformation hands the values on as
further results, or drops them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from .blocks import Blocks
from .errors import TracedValueError, fail
from .left import Left, Place, counterparts
from .trace import Trace, current_trace
from .tree import container_of


class Updates:
    """What has been left so far, for one who wants it; `trace` is the function being traced.

    What a `region` leaves, such as the body of a loop, is handed on when it ends to the `outer` one
    who wants it.
    """

    __slots__ = ("_found", "_same", "outer", "region", "trace")

    def __init__(self, region: str = "") -> None:
        self.trace: Trace | None = current_trace()
        self.region, self.outer = region, collected()
        self._found: dict[tuple[int, str], Left] = {}
        self._same: dict[int, tuple[Any, Any]] = {}  # both kept alive, so that ids stay theirs

    def alias(self, made: Any, original: Any) -> None:
        """Take the parts of a tree that was made anew for those of the original."""
        for part, whole in counterparts(made, original):
            self._same[id(part)] = part, self.original(whole)

    def put(self, owner: Any, name: str, value: Any, when: Any = None) -> None:
        """Leave a value, in any case or where `when` holds."""
        owner = self.original(owner)
        left = Left(Place(owner, name), value, when)
        self._found[id(owner), name] = left.after(self._found.get((id(owner), name)))

    def original(self, owner: Any) -> Any:
        """What an object stands for; that is itself unless somebody has said so."""
        return self._same.get(id(owner), (owner, owner))[1]

    @property
    def left(self) -> list[Left]:
        """What has been left, for each place the last."""
        return [*self._found.values()]

    def applied(self, tree: Any) -> Any:
        """The tree with the new values."""
        region = self._region_inside()
        if region:
            fail(
                TracedValueError, "updated",
                f"what modules have left is asked for inside a `{region}`, which hands it on when "
                "it ends",
                hint="ask after it, or enter `nn.training()` inside of it",
            )  # fmt: skip
        changes: dict[int, dict[str, Any]] = {}
        for (owner, name), left in self._found.items():
            changes.setdefault(owner, {})[name] = left.instead_of(getattr(left.place.owner, name))
        return _changed(tree, changes)

    def _region_inside(self) -> str:
        """The region that is being traced and will hand on to here what it leaves, if one is."""
        found = collected()
        region = "" if found is None else found.region
        while found is not None and found is not self and found.region:
            found = found.outer
        return region if found is self else ""


_COLLECTING = Blocks("collecting")
around = _COLLECTING.around
"""The blocks that say who collects; where there are none, nobody does."""
_DROPPING = ("grad", "vjp", "jvp", "linearize")
"""Transformations that only give derivatives: values that are left inside are dropped."""


def collected() -> Updates | None:
    """Who wants what is left where this is asked."""
    return _COLLECTING.innermost


@contextmanager
def collecting(region: str = "") -> Iterator[Updates]:
    """While the block runs, values that are left are collected."""
    found = Updates(region)
    with _COLLECTING.saying(found):
        yield found


@contextmanager
def uncollected() -> Iterator[None]:
    """While the block runs, values that are left are dropped."""
    with _COLLECTING.saying(None):
        yield


def is_wanted() -> bool:
    """Whether values that are left here are not dropped."""
    updates, trace = collected(), current_trace()
    return updates is not None and (
        trace is updates.trace or trace is None or trace.kind not in _DROPPING
    )


def leave(owner: Any, name: str, value: Any, when: Any = None) -> None:
    """Leave a value for whoever collects, if somebody does; where `when` holds, if it is given."""
    updates, trace = collected(), current_trace()
    if updates is None or not is_wanted():
        return
    if trace is not updates.trace:
        _refuse(trace.kind if trace else "host call", owner, name)
    updates.put(owner, name, value, when)


def stands_for(made: Any, original: Any) -> Any:
    """A tree that was made of another one: what its parts leave is left by those of the other."""
    updates = collected()
    if updates is not None:
        updates.alias(made, original)
    return made


def _refuse(kind: str, owner: Any, name: str) -> NoReturn:
    fail(
        TracedValueError, f"{type(owner).__name__}.update",
        f"{name} is updated inside a `{kind}`, which does not hand it on",
        hint=f"return the value from the function given to `{kind}`, or collect it inside",
    )  # fmt: skip


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
