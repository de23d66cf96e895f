"""Brimstone: a deep-learning library whose every operation is compiled.

What users import: the root's `__init__.py` hands these names on. A submodule such as
`brimstone.ir` loads when it is first used, so `import brimstone` stays quick.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

SUBMODULES = ("ir", "passes", "runtime")

__all__: list[str] = []

if TYPE_CHECKING:  # the lazy names, for tools that read the source
    from .. import ir, passes, runtime

    __version__: str
    __all__ += ["__version__", "ir", "passes", "runtime"]


def __getattr__(name: str) -> ModuleType | str:
    """The names that cost something to make; Python asks only when nothing else has them."""
    if name == "__version__":
        return import_module("importlib.metadata").version("brimstone")
    if name in SUBMODULES:
        return import_module(f"..{name}", __name__)
    raise AttributeError(f"module 'brimstone' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *SUBMODULES, "__version__"])
