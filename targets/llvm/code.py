"""Machine code of the kernels of a step, made when they are about to be launched.

Comes in: a module with kernels of the tile floor, and the names of those that are wanted. Goes out:
`Kernel`s. Kernels that do the same are one, whatever step they are of and whatever their sizes and
values are called; what any process of this user has compiled is found on disk.
Never: a kernel lowered or compiled that nobody launches.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any

from ...ir import tile
from ...ir.errors import IRError
from ...ir.func import Func, Module
from ...ir.printer import print_func
from ...ir.types import View
from ...passes.bind_cpu import Refused, bind_cpu
from ...passes.expand import expand
from .build import compiled, linked
from .cache import default_cache, key_of
from .kernel import Kernel
from .machines import CPU, host
from .printer import print_llvm
from .writer import Refused as NoInstruction

KNOWN_AT_MOST = 4096
PACKAGE = Path(__file__).parents[2]
SOURCES = ("ir", "passes", "targets")
_VALUE = re.compile(r"%\w+")
_KNOWN: dict[str, Any] = {}
_LOCK = Lock()


class Code:
    """The kernels of a module; `refused` gives the reasons for those that stay what they are."""

    def __init__(self, module: Module, refused: Mapping[str, str]) -> None:
        self.refused = dict(refused)
        self._funcs = {func.name: func for func in module if _of_tiles(func)}
        self._kernels: dict[str, Kernel] = {}

    def get(self, name: str) -> Kernel | None:
        """The kernel of that name; None if it has no code."""
        return self._kernels.get(name)

    def __len__(self) -> int:
        return len(self._kernels)

    def make(self, names: Iterable[str]) -> None:
        """Have code for these kernels."""
        done = self._kernels.keys() | self.refused.keys()
        wanted = {
            name: named_by_meaning(self._funcs[name])
            for name in dict.fromkeys(names)
            if name in self._funcs and name not in done
        }
        if not wanted:
            return
        with _LOCK:
            found = {alike: _KNOWN[alike] for alike in wanted.values() if alike in _KNOWN}
            missing = {alike: name for name, alike in wanted.items() if alike not in found}
            made = functions({alike: self._funcs[name] for alike, name in missing.items()})
            if len(_KNOWN) + len(made) > KNOWN_AT_MOST:
                _KNOWN.clear()
            _KNOWN.update(made)
        for name, alike in wanted.items():
            self._keep(name, (found | made)[alike])

    def _keep(self, name: str, found: Any) -> None:
        if isinstance(found, IRError):
            self.refused[name] = str(found)
        else:
            self._kernels[name] = _kernel(self._funcs[name], found)


def functions(funcs: Mapping[str, Func]) -> dict[str, Any]:
    """For each tile func, under the name of its code: the code's function, or why there is none."""
    machine, cache = host(), default_cache()
    keys = {name: key_of(f"{name} {sources()}", machine) for name in funcs}
    objects = {name: code for name, key in keys.items() if (code := cache.get(key)) is not None}
    refused: dict[str, Any] = {}
    loops: list[Func] = []
    texts: dict[str, str] = {}
    for name in funcs.keys() - objects.keys():
        try:
            made = lower(funcs[name], machine, name)
            texts[name] = print_llvm([made], machine)
            loops.append(made)
        except (Refused, NoInstruction) as reason:
            refused[name] = reason
    objects |= compiled(loops, texts, keys, cache)
    return refused | dict(linked(objects, loops, texts)) if objects else refused


def lower(func: Func, machine: CPU, name: str | None = None) -> Func:
    """A kernel of tiles as loops that the machine has instructions for."""
    loops = bind_cpu(func, machine)
    expand(loops, machine)
    loops.name = name or func.name
    return loops


def named_by_meaning(func: Func) -> str:
    """A name that funcs share if they differ in names alone: theirs, of their sizes, of values."""
    text = print_func(func)
    sizes = {symbol.name: f"size{place}" for place, symbol in enumerate(func.symbols)}
    if sizes:
        either = "|".join(map(re.escape, sizes))
        text = re.sub(rf"(?<![\w%@])({either})(?!\w)", lambda found: sizes[found[0]], text)
    values: dict[str, str] = {}
    text = _VALUE.sub(lambda found: values.setdefault(found[0], f"%{len(values)}"), text)
    meaning = text.replace(f"@{func.name}", "", 1)
    return f"kernel_{sha256(meaning.encode()).hexdigest()[:32]}"


@cache
def sources() -> str:
    """What tells one state of the compiler's own files from another."""
    paths = sorted(path for folder in SOURCES for path in (PACKAGE / folder).rglob("*.py"))
    states = [(str(path), (about := path.stat()).st_size, about.st_mtime_ns) for path in paths]
    return sha256(repr(states).encode()).hexdigest()


def _of_tiles(func: Func) -> bool:
    return any(isinstance(argument.type, View) for argument in func.arguments)


def _kernel(func: Func, code: Any) -> Kernel:
    scratches = [op for op in func.walk() if isinstance(op, tile.Scratch)]
    scratch = tuple([(prod(op.shape), op.dtype) for op in scratches])
    return Kernel(func, scratch, code)
