"""Funcs of the loop floor as functions to call.

Comes in: kernels. Goes out: `Kernels`, with machine code from the cache where it has it.
Never: a kernel that is printed, compiled or stored twice.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.printer import print_func
from ...passes.reproducer import FOLDER_VARIABLE, write_aside
from .cache import Cache, default_cache, key_of
from .compile import CompileError
from .load import Kernels, load
from .machines import host
from .printer import print_llvm
from .workers import workers

LINES_AT_MOST = 4


class KernelError(IRError):
    """LLVM does not take a kernel: a bug of ours, with the files that show it."""


def build(funcs: Sequence[Func], cache: Cache | None = None) -> Kernels:
    """Code of this processor for each func, under its name."""
    machine, cache = host(), cache or default_cache()
    texts = {func.name: print_llvm([func], machine) for func in funcs}
    keys = {name: key_of(text, machine) for name, text in texts.items()}
    objects = {name: code for name, key in keys.items() if (code := cache.get(key)) is not None}
    missing = [func for func in funcs if func.name not in objects]
    return linked(objects | compiled(missing, texts, keys, cache), funcs, texts)


def compiled(
    funcs: Sequence[Func], texts: Mapping[str, str], keys: Mapping[str, str], cache: Cache
) -> dict[str, bytes]:
    """The object of each func's text; a text is a module of its own, so that it has its own place
    in the cache."""
    if not funcs:
        return {}
    objects: dict[str, bytes] = {}
    made = workers().compile([texts[func.name] for func in funcs], host())
    for func, code in zip(funcs, made, strict=True):
        if isinstance(code, CompileError):
            raise failure(func, texts[func.name], str(code))
        cache.put(keys[func.name], code)
        objects[func.name] = code
    return objects


def linked(
    objects: Mapping[str, bytes], funcs: Sequence[Func], texts: Mapping[str, str]
) -> Kernels:
    """The functions in objects, of which some were made of these funcs just now."""
    try:
        return load([*objects.values()], [*objects])
    except RuntimeError as problem:  # something is called that is not there
        raise failure(funcs[0], "\n".join(texts.values()), str(problem)) from problem


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
