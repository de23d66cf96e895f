"""Parts of a model that are computed again on the way back, instead of kept until then.

Comes in: a model's calls, while a function is traced. Goes out: which of them are of equal parts
side by side, such as the blocks of a transformer; and in their place, where they are chosen, what
`bs.checkpoint` makes of them.
Never: a part that is chosen inside of another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ..frontend.custom import checkpoint
from .module import Module
from .scope import calling, path_of


class Call(NamedTuple):
    """A call of the module at a path: the first one, or one of those after it."""

    path: str
    number: int


@dataclass(slots=True)
class _Seen:
    """A call that was followed, of a module of this class, and those inside of it."""

    call: Call | None = None
    kind: type | None = None
    inside: list[_Seen] = field(default_factory=list["_Seen"])


class Recomputing:
    """Which calls are computed again; and which there were when it was watching."""

    def __init__(self, chosen: Iterable[Call] = ()) -> None:
        self.chosen = frozenset(chosen)
        self._seen = _Seen()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While the block runs, calls are counted from the first one on, and chosen ones are
        computed again."""
        watch = _Watch(self.chosen)
        with calling(watch.forward):
            yield
        self._seen = watch.root

    def levels(self) -> list[list[Call]]:
        """The calls that may be chosen together, in order: of the parts that stand beside others of
        their class and have parts themselves, first the outermost, then those inside of them."""
        found: list[list[Call]] = []
        level = [*_outermost(self._seen)]
        while level:
            found.append([each.call for each in level if each.call is not None])
            level = [inner for each in level for inner in _outermost(each)]
        return found


class _Watch:
    """What is seen while a function is traced once."""

    def __init__(self, chosen: Set[Call]) -> None:
        self.chosen, self.root = chosen, _Seen()
        self._counts = Counter[str]()
        self._running = [self.root]

    def forward(self, module: Module) -> Callable[..., Any]:
        """What a call of a module runs."""
        path = path_of(module)
        call = Call(path, self._counts[path])
        self._counts[path] += 1
        if call in self.chosen:
            return checkpoint(partial(_alone, module))
        return partial(self._follow, _Seen(call, type(module)), module)

    def _follow(self, seen: _Seen, module: Module, *args: Any, **kwargs: Any) -> Any:
        self._running[-1].inside.append(seen)
        self._running.append(seen)
        try:
            return module.forward(*args, **kwargs)
        finally:
            self._running.pop()


def _alone(module: Module, *args: Any, **kwargs: Any) -> Any:
    """The forward of a module, in which nothing is chosen."""
    with calling(None):
        return module.forward(*args, **kwargs)


def _outermost(seen: _Seen) -> Iterator[_Seen]:
    """Inside of a call, those of equal parts that stand side by side, and inside of the others."""
    kinds = Counter([each.kind for each in seen.inside])
    for each in seen.inside:
        if each.inside and kinds[each.kind] > 1:
            yield each
        else:
            yield from _outermost(each)
