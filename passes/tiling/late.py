"""Funcs that are written when somebody first looks into them.

Comes in: a function that begins a func, which says how its body is written. Goes out: a func like
any other. Of the kernels between which sizes choose, most are never written.
Never: a body that may be refused, which is written at once; nor one that is half written: where an
exception came in between, such as an interrupt, the func is begun anew.
"""

from collections.abc import Callable
from functools import partial, wraps
from threading import RLock
from typing import Any, NamedTuple, ParamSpec

from ...ir.attributes import Shape
from ...ir.func import Func
from ...ir.values import AnyValue
from ..forks import held_across_forks
from ..once import once

Given = ParamSpec("Given")
Made = tuple[Func, Shape]
"""A func, and its grid."""


class Begun(NamedTuple):
    """A func without its body, and its grid; what writes the body; and whether it is certain that
    it can be written."""

    func: Func
    grid: Shape
    write: Callable[[], object]
    certain: bool


def when_asked(begin: Callable[Given, Begun]) -> Callable[Given, Made]:
    """Have what a function begins written as late as may be, if that is certain to succeed, and
    else now, while a refusal is still heard."""

    @wraps(begin)
    def make(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        begun = begin(*args, **kwargs)
        if begun.certain:
            return LateFunc(begun, partial(begin, *args, **kwargs)), begun.grid
        begun.write()
        return begun.func, begun.grid

    return make


class LateFunc(Func):
    """A func whose body is empty, and hidden, until it is asked for."""

    __slots__ = ("_again", "_begun", "_lock")

    def __init__(self, begun: Begun, again: Callable[[], Begun]) -> None:
        head = begun.func
        self.name, self.symbols, self.location = head.name, head.symbols, head.location
        self.attributes = head.attributes
        head.body.parent = self
        self._begun: Begun | None = begun
        self._again: Callable[[], Begun] | None = again
        self._lock = held_across_forks(RLock())

    @property
    def arguments(self) -> tuple[AnyValue, ...]:
        """The arguments of the body."""
        begun = self._begun
        return self.body.arguments if begun is None else begun.func.body.arguments

    def __getattr__(self, name: str) -> Any:
        """The body, which is not there yet; other threads wait until it is whole."""
        if name != "body":
            raise AttributeError(name)
        with once(self._lock):
            if self._again is not None:
                begun, self._begun = self._begun or self._again(), None
                begun.write()
                begun.func.body.parent = self
                self.body, self._again = begun.func.body, None
        return self.body
