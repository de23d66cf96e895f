"""LLVM itself, through llvmlite, imported when it is first wanted.

Comes in: nothing. Goes out: llvmlite's binding module, ready to make code for every CPU.
Never: a type; llvmlite declares none.
"""

from functools import cache
from typing import Any

from .uninterrupted import uninterrupted


@cache
def llvm() -> Any:
    """The module `llvmlite.binding`.

    Imported by the thread that first asks, which had better be the main one: an interrupt may leave
    Python's lock of all imports with that one, and every other thread that imports waits for ever.
    """
    from llvmlite import binding  # pyright: ignore[reportMissingTypeStubs]

    _initialise(binding)
    return binding


@uninterrupted
def _initialise(binding: Any) -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
