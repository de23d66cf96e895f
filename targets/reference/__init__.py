"""The interpreter as a target: slow, exact, and the judge of all others.

Comes in: a module. Goes out: an executable that runs each op's numpy meaning; buffers are numpy
arrays.
Never: a pass; what is run is what was given.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...ir.func import Module
from ...ir.interpreter import interpret
from ...ir.payloads import Array
from ..account import Account
from ..script import Host
from ..target import dealt
from .claims import Claims


class Interpreted:
    """A module that the interpreter runs."""

    def __init__(self, module: Module, host: Host) -> None:
        self.module, self.host = module, host
        self.claims = Claims(module.main)

    def __call__(
        self,
        pieces: Sequence[Sequence[Array]],
        sizes: Mapping[str, int],
        counts: tuple[int, ...] | None = None,
    ) -> Sequence[Any]:
        self.host.claim(self.claims.most(sizes))
        results = interpret(self.module, *chain.from_iterable(pieces), sizes=sizes)
        made = tuple([_owned(result) for result in results])
        return made if counts is None else dealt(made, counts)

    def dealer(self, sizes: Mapping[str, int], counts: tuple[int, ...]) -> None:
        """A call of Python is little here."""

    def memory(self, sizes: Mapping[str, int]) -> None:
        """Nothing is planned: what is not used any more goes when Python lets it go."""


class Reference:
    """The device whose kernels are the ops' own meanings."""

    name = "reference"

    def __init__(self, host: Host) -> None:
        self.host = host

    def compile(self, module: Module) -> Interpreted:
        """Nothing is left to do."""
        return Interpreted(module, self.host)

    def interpreted(self, module: Module) -> Interpreted:
        """The same."""
        return self.compile(module)

    def account(self, module: Module, names: Sequence[str]) -> Account:
        """There are no kernels."""
        return Account("the interpreter runs each op by itself; nothing is fused")

    def upload(self, array: Array) -> Array:
        """The array itself."""
        return _owned(array)

    def copy(self, array: Array, storage: Any) -> Array:
        """A copy of it."""
        self.host.claim(array.size * storage.itemsize)
        return _owned(np.array(array, storage, order="C", copy=True))

    def keep(self, buffer: Array) -> Array:
        """The buffer itself: nothing is ever replaced."""
        return buffer

    def together(self, buffers: Sequence[Array]) -> Sequence[Array]:
        """The buffers."""
        return buffers

    def download(self, buffer: Array) -> Array:
        """The buffer itself."""
        return buffer

    def number(self, buffer: Array) -> Any:
        """The only element."""
        return buffer.item()

    def element(self, buffer: Array, place: int) -> Any:
        """One of the elements."""
        return buffer.item(place)

    def memories(self, buffers: Sequence[Array]) -> list[int]:
        """Each array has its own."""
        return [*map(id, buffers)]

    def are_sound(self, buffers: Sequence[Array]) -> bool:
        """What is there has been computed."""
        return True

    def wait(self, buffers: Any = None) -> None:
        """All are computed as soon as they are there."""


def _owned(array: Array) -> Array:
    """The array, row-major and read-only."""
    owned = np.ascontiguousarray(array).reshape(np.shape(array))
    if owned.flags.writeable:
        owned.flags.writeable = False
    return owned
