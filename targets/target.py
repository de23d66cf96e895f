"""What a target is: a name, memory, and a compiler of modules.

Comes in: a module whose main func is on the tensor floor. Goes out: an `Executable`.
Never: a tensor of the frontend, or a cache; those stand above.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..ir.func import Module
from ..ir.payloads import Array
from .account import Account, Memory
from .script import Dealer


class Executable(Protocol):
    """A compiled module: buffers in, buffers out; it may run at any number of sizes."""

    def __call__(
        self,
        pieces: Sequence[Sequence[Any]],
        sizes: Mapping[str, int],
        counts: tuple[int, ...] | None = None,
    ) -> Sequence[Any]:
        """Run on buffers of the target, those of all pieces in order, where the func's symbols have
        these sizes. What it returns may be such a piece, whole or a slice of it; with `counts`, it
        is a list of such pieces that have so many buffers each, or of one, the buffer itself."""
        ...

    def dealer(self, sizes: Mapping[str, int], counts: tuple[int, ...]) -> Dealer | None:
        """The same at these sizes for who runs it often, with pieces one by one, of which any may
        be one buffer; None where that is no quicker."""
        ...

    def memory(self, sizes: Mapping[str, int]) -> Memory | None:
        """What it takes at these sizes; None if that is not known before it runs."""
        ...


class Target(Protocol):
    """One kind of machine."""

    name: str

    def compile(self, module: Module) -> Executable:
        """Make machine code, or whatever the machine runs, of a module."""
        ...

    def interpreted(self, module: Module) -> Executable:
        """What runs a module as it is, op by op: for one that is not worth compiling."""
        ...

    def account(self, module: Module, names: Sequence[str]) -> Account:
        """What `compile` makes of a module, in words; `names` are those of its arguments. Nothing
        is compiled."""
        ...

    def upload(self, array: Array) -> Any:
        """A buffer with the contents of a host array, which nobody will change."""
        ...

    def copy(self, array: Array, storage: Any) -> Any:
        """The same as numbers of a numpy dtype; the host array may be changed afterwards."""
        ...

    def keep(self, buffer: Any) -> Any:
        """The same contents, which stay what they are when the buffer is donated to a step."""
        ...

    def together(self, buffers: Sequence[Any]) -> Any:
        """The same buffers as one piece, for many runs to take."""
        ...

    def download(self, buffer: Any) -> Array:
        """The contents of a buffer, as a host array that nobody may change."""
        ...

    def number(self, buffer: Any) -> Any:
        """The only element of a buffer, as a Python number."""
        ...

    def element(self, buffer: Any, place: int) -> Any:
        """One of a buffer's elements, which are counted in row-major order."""
        ...

    def memories(self, buffers: Sequence[Any]) -> Sequence[int]:
        """For each buffer a number that tells its memory from any other's, computed or not."""
        ...

    def are_sound(self, buffers: Sequence[Any]) -> bool:
        """Whether all are computed, or are to be in turn with what this thread asks for: none has
        failed, as far as is known, or is another thread's. Nobody is waited for."""
        ...

    def wait(self, buffers: Any = None) -> None:
        """Return when buffers are computed; without any, when all that this thread asked for is."""
        ...


def dealt(buffers: Sequence[Any], counts: Iterable[int]) -> list[Any]:
    """So many buffers to each, in turn; the buffer itself to who has one."""
    pieces: list[Any] = []
    at = 0
    for count in counts:
        pieces.append(buffers[at] if count == 1 else buffers[at : at + count])
        at += count
    return pieces
