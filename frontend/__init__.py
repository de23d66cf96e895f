"""Brimstone: a deep-learning library whose every operation is compiled.

What users import: the root's `__init__.py` hands these names on. `names.py` says where each comes
from; a name's module loads when the name is first used, so `import brimstone` stays quick.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import forking
from .names import EXPORTS

PACKAGES = ("data", "interop", "ir", "nn", "passes", "runtime", "targets", "train")
MODULES = ("fft", "linalg", "random", "tiles")
__all__: list[str] = []
forking.watch()  # before anything that a fork has to wait for

if TYPE_CHECKING:  # the lazy names, for tools that read the source
    from .. import ir, passes, runtime, targets
    from . import fft, linalg, random, tiles
    from .backward import *
    from .control import *
    from .custom import *
    from .devices import *
    from .dtypes import *
    from .dynamic import symbol as dim
    from .errors import *
    from .exchange import *
    from .force import sync
    from .functions.activations import *
    from .functions.attention import attention
    from .functions.collective import *
    from .functions.convolution import convolve, convolve_transposed
    from .functions.creation import *
    from .functions.drawing import *
    from .functions.einsum import *
    from .functions.elementwise import *
    from .functions.grid import *
    from .functions.indexing import *
    from .functions.keys import manual_seed
    from .functions.logic import *
    from .functions.manipulation import *
    from .functions.masks import *
    from .functions.padding import *
    from .functions.pieces import chunk, split, unstack
    from .functions.pooling import adaptive_mean_pool, max_pool, mean_pool
    from .functions.powers import pow
    from .functions.products import *
    from .functions.reductions import *
    from .functions.repeating import *
    from .functions.rounding import *
    from .functions.sorting import *
    from .functions.special import *
    from .functions.spectrogram import *
    from .functions.statistics import *
    from .functions.triangles import *
    from .functions.types import *
    from .functions.windows import *
    from .generator import Generator
    from .grad import *
    from .host_call import ShapeDtype, host_call
    from .jacobian import *
    from .jit import explain, jit
    from .kernel.call import kernel
    from .namespace import E_ as e
    from .namespace import INF as inf
    from .namespace import NAN as nan
    from .namespace import PI as pi
    from .namespace import info as __array_namespace_info__
    from .nonfinite import nonfinite_origin
    from .paths import tree_paths
    from .profile import Profile as profile
    from .tensor import Tensor
    from .tree import flatten as tree_flatten
    from .tree import leaves_of as tree_leaves
    from .tree import register as register_tree
    from .tree import tree_map
    from .vmap import vmap

    __version__: str
    __array_api_version__: str
    newaxis: None


def _homes() -> dict[str, tuple[str, str]]:
    """For each name that users have, its module and what it is called there."""
    found: dict[str, tuple[str, str]] = {}
    for module, listed in EXPORTS.items():
        for entry in listed.split():
            there, _, here = entry.partition(":")
            found[here or there] = (module, there)
    return found


_HOMES, _ROOT = _homes(), __name__.rpartition(".")[0]


def __getattr__(name: str) -> Any:
    """A name that is used for the first time; Python asks only when nothing else has it."""
    if name in _HOMES:
        module, there = _HOMES[name]
        found = getattr(import_module(f".{module}", __name__), there)
    elif name in PACKAGES:
        found = import_module(f"..{name}", __name__)
    elif name in MODULES:
        found = import_module(f".{name}", __name__)
    elif name == "__version__":
        found = import_module("importlib.metadata").version("brimstone")
    else:
        from .elsewhere import refuse_name

        refuse_name("brimstone", name, sys.modules.get(_ROOT))
    # From now on the root has the name itself, and nobody is asked.
    setattr(sys.modules[_ROOT], name, found)
    return found


def __dir__() -> list[str]:
    return sorted([*_HOMES, *PACKAGES, *MODULES, "__version__"])
