"""Machine code in this process.

Comes in: the bytes of objects, and the names of the kernels in them. Goes out: `Kernels`, which
hands out functions that run without the GIL.
Never: a symbol of another library; a kernel calls nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any

from cffi import FFI as ForeignFunctions

from .compile import target_machine
from .library import llvm
from .machines import host

FFI: Any = ForeignFunctions()
SIGNATURE = "void (*)(const uint64_t *, const int64_t *, const int64_t *)"
_NUMBERS = count()


class Kernels(Mapping[str, Any]):
    """Functions by name: `kernels["add"](slots, grid, range)`.

    Code is unloaded when nobody has a function of it any more.
    """

    def __init__(self, code: Any, names: Iterable[str]) -> None:
        # Each function holds the code that it is part of.
        self._functions = {
            name: FFI.gc(FFI.cast(SIGNATURE, code[name]), _Holder(code)) for name in names
        }

    def __getitem__(self, name: str) -> Any:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


class _Holder:
    """Holds code for as long as it is held itself."""

    __slots__ = ("code",)

    def __init__(self, code: Any) -> None:
        self.code = code

    def __call__(self, function: Any) -> None:
        """The function is no more; the code goes with this."""


def load(objects: Sequence[bytes], names: Sequence[str]) -> Kernels:
    """Put objects for this very processor into memory; they may name no symbol twice."""
    library = llvm().JITLibraryBuilder()
    for each in objects:
        library.add_object_img(each)
    for name in names:
        library.export_symbol(name)
    return Kernels(library.link(_linker(), f"kernels.{next(_NUMBERS)}"), names)


@cache
def _linker() -> Any:
    """JITLink puts the code and the constants of an object side by side. The other linker looks for
    memory for each, and ends the process where these are more than 2 GiB apart."""
    return llvm().create_lljit_compiler(target_machine(host()), use_jit_link=True)
