"""Kernels of tiles as functions to call.

Comes in: what gives funcs of the tile floor, under the names of their code. Goes out: for each its
function, with machine code from the cache where it has it, or the reason why there is none.
Never: a kernel that is lowered, compiled or stored twice; nor one asked for that has code.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...ir.errors import IRError
from ...ir.func import Func
from ...passes.handled import is_of_handler
from .cache import Cache, default_cache, key_of
from .compile import CompileError
from .load import load
from .machines import CPU, host
from .naming import text_of

PACKAGE = Path(__file__).parents[2]
SOURCES = ("ir", "passes", "targets")
Funcs = Mapping[str, Callable[[], Func]]


def build(funcs: Funcs, cache: Cache | None = None) -> dict[str, Any]:
    """For each kernel its function, or the `IRError` that says why it has none."""
    machine, cache = host(), cache or default_cache()
    keys = {name: _key(name, machine) for name in funcs}
    objects = {name: code for name, key in keys.items() if (code := cache.get(key)) is not None}
    missing = [name for name in funcs if name not in objects]
    refused: dict[str, Any] = {}
    for name, made in zip(missing, compiled(funcs, missing, machine), strict=True):
        if isinstance(made, CompileError):
            refused[name] = why_not(funcs[name](), name, str(made))
        else:
            cache.put(keys[name], made)
            objects[name] = made
    return refused | (linked(objects, missing, funcs) if objects else {})


def object_ahead(func: Callable[[], Func], name: str, cache: Cache | None = None) -> bytes | None:
    """The object of a kernel that nobody waits for: from the cache, or of a helper that has nothing
    else to do; None if there is none of either, or it is refused."""
    machine, cache = host(), (cache or default_cache()).unheard()
    key = _key(name, machine)
    found = cache.get(key)
    if found is not None:
        return found
    from .workers import workers

    made = workers().compile_ahead(text_of(func(), name), machine)
    if not isinstance(made, bytes):
        return None
    cache.put(key, made)
    return made


def is_stored(name: str) -> bool:
    """Whether the cache has the object of that name."""
    return default_cache().unheard().get(_key(name, host())) is not None


def _key(name: str, machine: CPU) -> str:
    return key_of(f"{name} {sources()}", machine)


def compiled(funcs: Funcs, names: Sequence[str], machine: CPU) -> Sequence[bytes | CompileError]:
    """The objects of kernels, or why there are none; what makes them is loaded only now."""
    if not names:
        return []
    from .workers import workers

    return workers().compile([text_of(funcs[name](), name) for name in names], machine)


def why_not(func: Func, name: str, message: str) -> IRError:
    """Why a kernel has no code; who knows that is loaded only now, too."""
    from .failures import reason

    return reason(func, name, message)


def linked(objects: Mapping[str, bytes], compiled: Iterable[str], funcs: Funcs) -> dict[str, Any]:
    """The functions in objects, of which some were compiled just now."""
    try:
        return dict(load([*objects.values()], [*objects]))
    except RuntimeError as problem:  # something is called that is not there
        if is_of_handler(problem):
            raise
        name = next(iter([*compiled, *objects]))
        raise why_not(funcs[name](), name, str(problem)) from problem


@cache
def sources() -> str:
    """What tells one state of the compiler's own files from another."""
    walked = [each for folder in SOURCES for each in os.walk(PACKAGE / folder)]
    paths = [os.path.join(path, name) for path, _, names in walked for name in names]
    files = sorted(path for path in paths if path.endswith(".py"))
    states = [(path, (about := os.stat(path)).st_size, about.st_mtime_ns) for path in files]
    return sha256(repr(states).encode()).hexdigest()
