"""LLVM itself, through llvmlite, imported when it is first wanted.

Comes in: nothing. Goes out: llvmlite's binding module, ready to make code for every CPU.
Never: a type; llvmlite declares none.
"""

from functools import cache
from typing import Any

from .uninterrupted import uninterrupted


@cache
@uninterrupted
def llvm() -> Any:
    """The module `llvmlite.binding`."""
    from llvmlite import binding  # pyright: ignore[reportMissingTypeStubs]

    made: Any = binding
    made.initialize_all_targets()
    made.initialize_all_asmprinters()
    return made
