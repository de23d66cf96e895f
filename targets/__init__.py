"""The machines that programs run on: one folder a target, listed here.

Comes in: the name of a target. Goes out: a `Target`, which compiles modules of the tensor floor.
Never: a target that is loaded before it is asked for.
"""

from collections.abc import Callable

from .account import Account
from .target import Executable, Target


def _reference() -> Target:
    from .reference import Reference

    return Reference()


def _cpu() -> Target:
    from .llvm.target import Cpu

    return Cpu()


TARGETS: dict[str, Callable[[], Target]] = {"cpu": _cpu, "reference": _reference}

__all__ = ["TARGETS", "Account", "Executable", "Target"]
