"""The native core's own types of Python.

In: the installed library. Out: `Held`, from which comes what holds arrays, and `Dealer`, which is a
program that is called. A call of these has no code of Python, but for the first one of a thread,
and for what the core does not take.
Never: a core that knows Python's objects anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import PyDLL, c_int64, py_object
from typing import TYPE_CHECKING, Any, Self

from ..targets.script import Form
from .native import library_path

if TYPE_CHECKING:

    class Held:
        """Arrays of the core, of these forms and so many bytes, which lie at this address; whoever
        makes one hands them over."""

        address: int
        forms: tuple[Form, ...]

        def __new__(cls, address: int, forms: tuple[Form, ...], bytes: int) -> Self: ...

        def there(self) -> int:
            """Where the first array begins, which nobody may write to from now on; 0 if it is not
            there: still to be computed, failed, or given away."""
            ...

        def number(self) -> Any:
            """The only element of one that is alone, as Python has it, when it is computed."""
            ...

        @staticmethod
        def drop_gone() -> None:
            """Drop what nobody has any more."""

    class Dealer:
        """A program at this address, called with pieces: what it makes, dealt to new objects of a
        type that comes from `Held`, one for each part, which says their forms and bytes.

        `streams` knows where this thread's stream is, as `address`. What the core does not do it
        asks of `insist`, with itself, the state, and the pieces.
        """

        def __new__(
            cls,
            program: int,
            may_replace: bool,
            streams: Any,
            insist: Callable[[Dealer, int, tuple[Any, ...]], list[Any]],
            type: type[Held],
            parts: Sequence[tuple[tuple[Form, ...], int]],
        ) -> Self: ...

        def __call__(self, *pieces: Sequence[Any]) -> list[Any]: ...

else:
    _types = PyDLL(str(library_path())).brimstone_python  # which leaves the caller Python's lock
    _types.argtypes, _types.restype = (c_int64,), py_object
    Held, Dealer = _types(object.__basicsize__)
