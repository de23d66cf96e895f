"""How the process is that trains.

Comes in: nothing. Goes out: its memory, and how many kernels it has code of.
Never: a wait for a device.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...frontend.devices import memory_use


@dataclass(frozen=True)
class Health:
    """Bytes that tensors use, now and at most so far; kernels that are machine code by now."""

    memory: int
    most_memory: int
    kernels: int


def health() -> Health:
    """That of this process, now."""
    from ...targets.llvm.code import kernels_known

    use = memory_use()
    return Health(use.used, use.most_used, kernels_known())
