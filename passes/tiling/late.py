"""Funcs that are written when somebody first looks into them.

Comes in: the head of a func (its name, its arguments, its settings), and what writes its body. Goes
out: a func like any other. Of the kernels between which sizes choose, most are never written.
Never: a body that may be refused; whoever hands one over has made sure.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any

from ...ir.func import Func
from ...ir.values import AnyValue


class LateFunc(Func):
    """A func whose body is empty, and hidden, until it is asked for."""

    __slots__ = ("_hidden", "_lock", "_write")

    def __init__(self, head: Func, write: Callable[[], object]) -> None:
        self.name, self.symbols, self.location = head.name, head.symbols, head.location
        self.attributes = head.attributes
        self._hidden, self._lock = head.body, Lock()
        self._hidden.parent = self
        self._write: Callable[[], object] | None = write

    @property
    def arguments(self) -> tuple[AnyValue, ...]:
        """The arguments of the body."""
        return self._hidden.arguments

    def __getattr__(self, name: str) -> Any:
        """The body, which is not there yet; other threads wait until it is whole."""
        if name != "body":
            raise AttributeError(name)
        with self._lock:
            if self._write is not None:
                write, self._write = self._write, _interrupted
                write()
                self.body, self._write = self._hidden, None
        return self._hidden


def _interrupted() -> None:
    """What stands for a body that was begun and not finished: nobody may take it for the whole."""
    raise RuntimeError("the kernel was interrupted while it was written; start the program anew")
