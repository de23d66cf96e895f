"""The CPU as a target, whose kernels LLVM compiles.

Comes in: a module whose main func is on the tensor floor. Goes out: an executable; buffers are
`Arrays` of the host, which may still have to be computed.
Never: a compiler that is loaded before there is something to compile.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ...ir.func import Module
from ...ir.payloads import Array
from ..account import Account
from ..script import Arrays, Host
from ..target import Executable
from .interpreted import Interpreted


class Cpu:
    """The processor that this runs on."""

    name = "cpu"

    def __init__(self, host: Host) -> None:
        self.host = host

    def compile(self, module: Module) -> Executable:
        """A program of machine code."""
        from .road import compile_step

        return compile_step(module, self.host, runs=True)

    def interpreted(self, module: Module) -> Executable:
        """No machine code."""
        return Interpreted(module, self.host)

    def account(self, module: Module, names: Sequence[str]) -> Account:
        """What was fused, and how each kernel is launched."""
        from .accounts import account

        return account(module, names, self.host)

    def upload(self, array: Array) -> Arrays:
        """The array itself, if it is row-major and aligned; else a copy that is."""
        if not (array.flags.c_contiguous and array.flags.aligned):
            array = np.require(array, requirements=("C", "A")).reshape(array.shape)
        return self.host.borrowed(array)

    def copy(self, array: Array, storage: Any) -> Arrays:
        """A copy in memory that vectors are read from quickly."""
        return self.host.copied(array, np.dtype(storage))

    def keep(self, buffer: Arrays) -> Arrays:
        """The same array, held once more: a step that may replace it copies it first."""
        return buffer[0]

    def together(self, buffers: Sequence[Arrays]) -> Arrays:
        """The same arrays held together, which the host takes as one."""
        return self.host.joined(buffers)

    def download(self, buffer: Arrays) -> Array:
        """The contents, once they are computed."""
        return buffer.array()

    def number(self, buffer: Arrays) -> Any:
        """The only element, once it is computed."""
        return buffer.number()

    def element(self, buffer: Arrays, place: int) -> Any:
        """One of the elements, once they are computed."""
        return buffer.array().item(place)

    def memories(self, buffers: Sequence[Arrays]) -> list[int]:
        """Where they begin."""
        plain = isinstance(buffers, tuple | list)
        pieces = cast("Sequence[Arrays]", buffers if plain else [buffers])
        return [address for each in pieces for address in each.addresses()]

    def are_sound(self, buffers: Sequence[Arrays]) -> bool:
        """Whether all are computed, or are to be in turn."""
        return self.host.are_sound(buffers)

    def wait(self, buffers: Any = None) -> None:
        """Return when buffers are computed, or all that this thread has asked for."""
        if buffers is None:
            self.host.wait()
        elif isinstance(buffers, tuple | list):
            for each in cast("tuple[Arrays, ...]", buffers):
                each.wait()
        else:
            buffers.wait()
