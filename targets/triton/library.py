"""Triton, which is a library of its own and loaded only when a kernel is compiled.

Comes in: the name of one of its modules. Goes out: the module.
Never: PyTorch, which Triton does not need either.
"""

from functools import cache
from importlib import import_module
from typing import Any

EXTRA = "printing kernels needs nothing, but compiling them needs triton: install brimstone[cuda]"


@cache
def triton_module(name: str = "triton") -> Any:
    """A module of Triton."""
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        raise ModuleNotFoundError(EXTRA) from problem
