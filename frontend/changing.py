"""Values that Python reads and that change from call to call: a function is traced for each.

Comes in: the kinds that a compiled function is traced for. Goes out: a warning, once for each kind
of tensors, which names an argument that changes.
Never: a value kept longer than until the next one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..ir.shared.cache import Cache
from .arguments import Arguments, Static
from .caller import user_line
from .errors import shown
from .paths import argument_at

OFTEN = 32
"""For so many values a function is traced before somebody hears of it."""
KINDS = 64
"""Of how many kinds of tensors that is counted."""


class RetracedWarning(UserWarning):
    """A function is traced again and again, as something that is no tensor changes."""


class _Count:
    """How often, and what there was at last beside the tensors."""

    __slots__ = ("latest", "times")

    def __init__(self) -> None:
        self.latest: Sequence[tuple[int, Any]] = ()
        self.times = 0


class Changing:
    """How often a function was traced for other values beside tensors of one kind."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Cache[Any, _Count] = Cache(KINDS)

    def count(self, given: Arguments, kind: tuple[Any, ...], function: Any) -> None:
        """Once more, if it is for other values than before; warn if that is often. What was said to
        be static may change."""
        *tensors, every = kind
        static = [(at, value) for at, value in every if not isinstance(given.leaves[at], Static)]
        counted = self._counts.put(tuple(tensors), _Count())
        before, counted.latest = counted.latest, static
        counted.times += before != static
        others = [new for old, new in zip(before, static, strict=False) if old != new]
        if counted.times == OFTEN and others:
            place, value = others[0]
            name = getattr(function, "__qualname__", function)
            what = argument_at(given.structure, place)
            text = (
                f"{name} has been traced {OFTEN} times for tensors of one kind, as {what} changes, "
                f"which is {shown(value)} now: what is no tensor is read while a function is traced"
                f"\n  hint: leave it out, or make a tensor of it"
            )
            file, line = next(iter(user_line()), ("", 1))
            warnings.warn_explicit(text, RetracedWarning, file, line)
