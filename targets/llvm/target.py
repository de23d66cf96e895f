"""The CPU as a target, whose kernels LLVM compiles.

Comes in: a module whose main func is on the tensor floor. Goes out: an executable; buffers are
numpy arrays.
Never: a compiler that is loaded before there is something to compile.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.func import Module
from ...ir.payloads import Array
from ..account import Account
from ..script import Threads
from ..target import Executable
from .memory import Pool


class Cpu:
    """The processor that this runs on."""

    name = "cpu"

    def __init__(self, threads: Threads) -> None:
        self.pool, self.threads = Pool(), threads

    def compile(self, module: Module) -> Executable:
        """A program of machine code."""
        from .road import compile_step

        return compile_step(module, self.pool, self.threads)

    def account(self, module: Module, names: Sequence[str]) -> Account:
        """What was fused, and how each kernel is launched."""
        from .road import account

        return account(module, names)

    def upload(self, array: Array) -> Array:
        """The array itself, if it is row-major and aligned; else a copy that is."""
        owned = np.require(array, requirements=("C", "A")).reshape(np.shape(array))
        if owned.flags.writeable:
            owned.flags.writeable = False
        return owned

    def copy(self, array: Array, storage: Any) -> Array:
        """A copy in memory that vectors are read from quickly."""
        copied = self.pool.empty(np.shape(array), np.dtype(storage))
        copied[...] = array
        copied.flags.writeable = False
        return copied

    def download(self, buffer: Array) -> Array:
        """The buffer itself."""
        return buffer
