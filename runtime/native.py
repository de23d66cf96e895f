"""The native core, opened through cffi.

In: the installed shared library, and `declared.py`, which is what `native/brimstone.h` says of it.
Out: `core()`, an object with the header's functions as methods, each of which lets go of Python's
lock. This never builds anything, and never looks outside the installed package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from .. import __path__ as package_folders
from . import declared

if TYPE_CHECKING:
    from cffi import FFI

FILE_NAMES = ("libbrimstone_native.so", "libbrimstone_native.dylib")

ffi = cast("FFI", declared.ffi)


class NativeLibraryMissing(ImportError):
    """Brimstone's Python files are here, but its compiled library is not."""


class State:
    """What has become of an array, as `brimstone_state` counts: plain numbers, as each call asks
    for some, and an enumeration takes five times as long to look one up."""

    PENDING, READY, FAILED, STOPPED = range(4)


class Outcome:
    """What became of a call, as `brimstone_outcome` counts."""

    DONE, LATER, OTHERWISE, DONATED, OUT_OF_MEMORY = range(5)


ADDRESS: Any = ffi.typeof("intptr_t")
"""What a pointer is as a number."""

ENDED, RAISED = -2, -3
"""Why something could not be done, as `brimstone_reason` says it: the process came to its end, or
Python had a part in it and raised an error."""


class Core(Protocol):
    """The functions of brimstone.h that Python calls by cffi; a `char *` arrives as its pointer."""

    def brimstone_version(self) -> FFI.CData: ...

    def brimstone_clock(self) -> int: ...

    def brimstone_new_threads(self, count: int) -> FFI.CData: ...

    def brimstone_run(
        self,
        threads: FFI.CData,
        script: FFI.CData,
        addresses: FFI.CData,
        slots: FFI.CData,
        begin: int,
        failure: FFI.CData,
    ) -> int: ...

    def brimstone_stop(self) -> None: ...

    def brimstone_empty(self, bytes: int) -> FFI.CData: ...

    def brimstone_borrow(self, address: FFI.CData, bytes: int, ticket: int) -> FFI.CData: ...

    def brimstone_returned(self, tickets: FFI.CData, most: int) -> int: ...

    def brimstone_are_returned(self) -> FFI.CData: ...

    def brimstone_part(self, arrays: FFI.CData, begin: int, end: int) -> FFI.CData: ...

    def brimstone_join(self, pieces: Sequence[FFI.CData], count: int) -> FFI.CData: ...

    def brimstone_lend(self, arrays: FFI.CData) -> int: ...

    def brimstone_address(self, arrays: FFI.CData, index: int) -> FFI.CData: ...

    def brimstone_wait(self, arrays: FFI.CData) -> int: ...

    def brimstone_read(self, arrays: FFI.CData) -> FFI.CData: ...

    def brimstone_why(self, arrays: FFI.CData) -> FFI.CData: ...

    def brimstone_failed(self, bytes: int, script: int) -> FFI.CData: ...

    def brimstone_are_sound(
        self, stream: FFI.CData, pieces: Sequence[FFI.CData], count: int
    ) -> int: ...

    def brimstone_new_program(self, plan: FFI.CData) -> FFI.CData: ...

    def brimstone_end_program(self, program: FFI.CData) -> int: ...

    def brimstone_open_stream(self, threads: FFI.CData) -> FFI.CData: ...

    def brimstone_close_stream(self, stream: FFI.CData) -> None: ...

    def brimstone_admit(self, stream: FFI.CData, program: FFI.CData) -> int: ...

    def brimstone_idle(self, stream: FFI.CData) -> int: ...

    def brimstone_memory(self) -> FFI.CData: ...

    def brimstone_look(self, root: bytes) -> FFI.CData: ...

    def brimstone_record(self, wanted: int) -> None: ...

    def brimstone_events(self, events: FFI.CData, most: int) -> int: ...

    def brimstone_pack(self, intervals: FFI.CData, count: int) -> int: ...

    def brimstone_replay(self, tape: FFI.CData, given: FFI.CData, words: FFI.CData) -> int: ...


@cache
def core() -> Core:
    """The loaded library, which the first call opens."""
    return cast(Core, ffi.dlopen(str(library_path())))


def address_of(pointer: FFI.CData) -> int:
    """Where something lies that the library knows by a pointer."""
    return int(ffi.cast(ADDRESS, pointer))


def owned(end: Callable[[Any], object], make: Callable[..., Any], *given: Any) -> Any:
    """What a function of the library makes, which `end` is called with when it dies; both are to
    expect that it may be null.

    Python looks at signals behind a call: an interrupt between the one that makes it and the one
    that sees to its end would lose it, so both are one.
    """
    return next(map(ffi.gc, starmap(make, (given,)), (end,)))


def library_path() -> Path:
    """Where the library lies: in an editable install not beside the sources."""
    for folder in package_folders:
        for name in FILE_NAMES:
            path = Path(folder) / name
            if path.is_file():
                return path
    raise NativeLibraryMissing(
        f"Brimstone's native library ({' or '.join(FILE_NAMES)}) is in none of the package's "
        f"folders: {', '.join(package_folders)}. It is compiled when Brimstone is installed: run "
        "`pip install .` in the checkout (or `pip install -e .` to develop)."
    )
