"""Machine code in this process.

Comes in: the bytes of objects, and the names of the kernels in them. Goes out: `Kernels`, which
hands out functions that run without the GIL.
Never: a symbol of another library; a kernel calls nothing.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from typing import Any

from cffi import FFI as ForeignFunctions

from .compile import target_machine
from .library import llvm
from .machines import host
from .uninterrupted import uninterrupted

FFI: Any = ForeignFunctions()
SIGNATURE = "void (*)(const uint64_t *, const int64_t *, const int64_t *)"
_NUMBERS = count()
_LOADED = dict[int, Any]()
"""The code that each function is part of, by where it begins."""
_GONE = deque[Any]()
"""Functions that nobody has any more."""


class Kernels(Mapping[str, Any]):
    """Functions by name: `kernels["add"](slots, grid, range)`.

    Code is unloaded when nobody has a function of it any more, and something else is loaded.
    """

    def __init__(self, addresses: Mapping[str, int]) -> None:
        # No Python in there: it could be interrupted, and whatever it has to do be lost.
        self._functions = {
            name: FFI.gc(FFI.cast(SIGNATURE, address), _GONE.append)
            for name, address in addresses.items()
        }

    def __getitem__(self, name: str) -> Any:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


@uninterrupted
def load(objects: Sequence[bytes], names: Sequence[str]) -> Kernels:
    """Put objects for this very processor into memory; they may name no symbol twice."""
    _unload()
    library = llvm().JITLibraryBuilder()
    for each in objects:
        library.add_object_img(each)
    for name in names:
        library.export_symbol(name)
    code = library.link(_linker(), f"kernels.{next(_NUMBERS)}")
    addresses = {name: code[name] for name in names}
    _LOADED.update(dict.fromkeys(addresses.values(), code))
    return Kernels(addresses)


def _unload() -> None:
    with suppress(IndexError):
        while True:
            _LOADED.pop(int(FFI.cast("uintptr_t", _GONE.popleft())), None)


@cache
def _linker() -> Any:
    """JITLink puts the code and the constants of an object side by side. The other linker looks for
    memory for each, and ends the process where these are more than 2 GiB apart."""
    return llvm().create_lljit_compiler(target_machine(host()), use_jit_link=True)
