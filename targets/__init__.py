"""The machines that programs run on: one folder a target, listed here.

Comes in: the name of a target, and the host. Goes out: a `Target`, which compiles
modules of the tensor floor.
Never: a target that is loaded before it is asked for.
"""

from collections.abc import Callable

from .account import Account, Memory
from .script import Host
from .target import Executable, Target, dealt


def _reference(host: Host) -> Target:
    from .reference import Reference

    return Reference(host)


def _cpu(host: Host) -> Target:
    from .llvm.target import Cpu

    return Cpu(host)


TARGETS: dict[str, Callable[[Host], Target]] = {"cpu": _cpu, "reference": _reference}

__all__ = ["TARGETS", "Account", "Executable", "Host", "Memory", "Target", "dealt"]
