"""Kernels of tiles as functions to call.

Comes in: funcs of the tile floor, under the names of their code. Goes out: for each its function,
with machine code from the cache where it has it, or the reason why there is none.
Never: a kernel that is lowered, compiled or stored twice.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.printer import print_func
from ...passes.bind_cpu import Refused
from ...passes.reproducer import FOLDER_VARIABLE, write_aside
from .cache import Cache, default_cache, key_of
from .compile import CompileError
from .load import load
from .lower import lower, text_of
from .machines import host
from .printer import print_llvm
from .workers import workers
from .writer import Refused as NoInstruction

LINES_AT_MOST = 4
PACKAGE = Path(__file__).parents[2]
SOURCES = ("ir", "passes", "targets")


class KernelError(IRError):
    """LLVM does not take a kernel: a bug of ours, with the files that show it."""


def build(funcs: Mapping[str, Func], cache: Cache | None = None) -> dict[str, Any]:
    """For each kernel its function, or the `IRError` that says why it has none."""
    machine, cache = host(), cache or default_cache()
    keys = {name: key_of(f"{name} {sources()}", machine) for name in funcs}
    objects = {name: code for name, key in keys.items() if (code := cache.get(key)) is not None}
    missing = [name for name in funcs if name not in objects]
    refused: dict[str, Any] = {}
    texts = [text_of(funcs[name], name) for name in missing]
    for name, made in zip(missing, workers().compile(texts, machine), strict=True):
        if isinstance(made, CompileError):
            refused[name] = reason(funcs[name], name, str(made))
        else:
            cache.put(keys[name], made)
            objects[name] = made
    return refused | (linked(objects, missing, funcs) if objects else {})


def reason(func: Func, name: str, message: str) -> IRError:
    """Why a kernel that was not compiled has no code, in the user's lines; if it should have some,
    that is an error."""
    try:
        loops = lower(func, host(), name)
        text = print_llvm([loops], host())
    except (Refused, NoInstruction) as refusal:
        return refusal
    raise failure(loops, text, message)


def linked(
    objects: Mapping[str, bytes], compiled: Iterable[str], funcs: Mapping[str, Func]
) -> dict[str, Any]:
    """The functions in objects, of which some were compiled just now."""
    try:
        return dict(load([*objects.values()], [*objects]))
    except RuntimeError as problem:  # something is called that is not there
        name = next(iter([*compiled, *objects]))
        raise reason(funcs[name], name, str(problem)) from problem


def failure(func: Func, text: str, message: str) -> KernelError:
    """The error for a func that LLVM refuses, with what it was given in files beside each other."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or ".").absolute()
    path = folder / f"{func.name}.ll"
    folder.mkdir(parents=True, exist_ok=True)
    write_aside(path, text)
    write_aside(path.with_suffix(".ir"), print_func(func))
    what = f"LLVM refuses the kernel @{func.name}: {message.strip()}"
    where = f"what LLVM was given is in {path}, from what is in {path.with_suffix('.ir')}"
    return KernelError(f"{what}\n{where}", _lines(func))


def _lines(func: Func) -> Location:
    """The first lines of the user's program that the kernel comes from."""
    location = func.location
    for op in func.walk():
        location = location.union(op.location)
    return Location(*location[:LINES_AT_MOST])


@cache
def sources() -> str:
    """What tells one state of the compiler's own files from another."""
    paths = sorted(path for folder in SOURCES for path in (PACKAGE / folder).rglob("*.py"))
    states = [(str(path), (about := path.stat()).st_size, about.st_mtime_ns) for path in paths]
    return sha256(repr(states).encode()).hexdigest()
