"""Memory of the CPU for the arrays of steps: given back blocks are kept and given out again.

Comes in: shapes and dtypes. Goes out: numpy arrays, row-major, aligned to a cache line; when the
last array on a block dies, the block returns to the pool. Fresh pages cost several times the work
that most kernels do on them.
Never: contents; a fresh array holds what the block held before.
"""

import os
from functools import partial
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from cffi import FFI

from ...ir.payloads import Array

ALIGNMENT = 64
SMALL = 4096
"""Blocks below so many bytes are left to the allocator of the process, which keeps them anyway."""
SHARE_KEPT = 4
"""A pool keeps at most one part in so many of the machine's memory."""

_FFI: Any = FFI()


class Pool:
    """Blocks that nobody uses, by their size."""

    def __init__(self, keep_at_most: int | None = None) -> None:
        self.keep_at_most = (
            _machine_memory() // SHARE_KEPT if keep_at_most is None else keep_at_most
        )
        self.kept = 0
        self._blocks: dict[int, list[Block]] = {}
        self._lock = Lock()

    def empty(self, shape: tuple[int, ...], storage: Any) -> Array:
        """An array whose contents nobody knows."""
        size = prod(shape) * storage.itemsize
        if size < SMALL:
            return np.empty(shape, storage)
        block = self._taken(_rounded(size))
        owner = _FFI.gc(block.start, partial(self._give_back, block))
        return np.ndarray(shape, storage, _FFI.buffer(owner, size))

    def _taken(self, size: int) -> "Block":
        with self._lock:
            kept = self._blocks.get(size)
            if kept:
                self.kept -= size
                return kept.pop()
        return Block(size)

    def _give_back(self, block: "Block", _: object) -> None:
        # Called wherever an array dies, perhaps while this very thread holds the lock: never wait.
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self.kept + block.size <= self.keep_at_most:
                self._blocks.setdefault(block.size, []).append(block)
                self.kept += block.size
        finally:
            self._lock.release()


class Block:
    """Aligned memory, for as long as this lives."""

    __slots__ = ("address", "memory", "size", "start")

    def __init__(self, size: int) -> None:
        self.size = size
        self.memory = np.empty(size + ALIGNMENT, np.uint8)
        address = self.memory.ctypes.data
        self.address = address + -address % ALIGNMENT
        self.start = _FFI.cast("char *", self.address)


def _rounded(size: int) -> int:
    """The next size of which there are blocks: four for each power of two."""
    step = 1 << max((size - 1).bit_length() - 3, 0)
    return -(-size // step) * step


def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
