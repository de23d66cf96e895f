"""Machine code of the kernels of a step, made when they are about to be launched.

Comes in: a module with kernels of the tile floor, and the names of those that are wanted. Goes out:
`Kernel`s. Kernels that do the same are one, whatever step they are of and whatever their sizes and
values are called; what any process of this user has compiled is found on disk.
Never: a kernel lowered or compiled that nobody launches, before the step runs again: only then are
those made, by helpers, that other sizes launch.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple

from ...ir.errors import IRError
from ...ir.func import Func, Module
from ...ir.types import View
from ...passes.collector import collector_paused
from ...passes.forks import held_across_forks
from ...passes.past_caches import past_caches, through_caches
from ..notes import NOTES
from .build import build, object_ahead
from .kernel import Kernel
from .load import load
from .naming import name_of
from .sharing import chunks_of, effort_of

KNOWN_AT_MOST = 4096
_KNOWN: dict[str, Any] = {}
_LOCK = held_across_forks(Lock())
"""Held while code is put into memory."""


class Foreseen(NamedTuple):
    """A kernel that may be launched yet, or its version that writes these arguments past the
    caches."""

    name: str
    past_caches: tuple[int, ...] = ()


class Code:
    """The kernels of a module; `refused` gives the reasons for those that stay what they are."""

    def __init__(self, module: Module, refused: Mapping[str, str]) -> None:
        self.refused = dict(refused)
        self._funcs = {func.name: func for func in module if _of_tiles(func)}
        self._kernels: dict[str, Kernel] = {}
        self._versions: dict[tuple[bool, str, tuple[int, ...]], Func | None] = {}

    def get(self, name: str) -> Kernel | None:
        """The kernel of that name; None if it has no code."""
        return self._kernels.get(name)

    def func(self, name: str) -> Func:
        """A kernel as tiles."""
        return self._funcs[name]

    def past_caches(self, name: str, arguments: tuple[int, ...]) -> Func | None:
        """The version of a kernel which writes these past the caches; None if there is none."""
        return self._version(True, name, arguments)

    def through_caches(self, name: str, arguments: tuple[int, ...]) -> Func | None:
        """The version for these as large results that caches may hold; None if there is none."""
        return self._version(False, name, arguments)

    def _version(self, past: bool, name: str, arguments: tuple[int, ...]) -> Func | None:
        key = (past, name, arguments)
        if key not in self._versions:
            make = past_caches if past else through_caches
            made = make(self._funcs[name], arguments) if name in self._funcs else None
            if made is not None:
                self._funcs[made.name] = made
            self._versions[key] = made
        return self._versions[key]

    def __len__(self) -> int:
        return len(self._kernels)

    def make(self, names: Iterable[str]) -> None:
        """Have code for these kernels."""
        done = self._kernels.keys() | self.refused.keys()
        wanted = {
            name: name_of(self._funcs[name])
            for name in dict.fromkeys(names)
            if name in self._funcs and name not in done
        }
        if not wanted:
            return
        with NOTES.about(f"compile {len(wanted)} kernels"), _LOCK, collector_paused():
            found = {alike: _KNOWN[alike] for alike in wanted.values() if alike in _KNOWN}
            missing = {alike: name for name, alike in wanted.items() if alike not in found}
            made = build({alike: self._funcs[name] for alike, name in missing.items()})
            if len(_KNOWN) + len(made) > KNOWN_AT_MOST:
                _KNOWN.clear()
            _KNOWN.update(made)
        for name, alike in wanted.items():
            self._keep(name, (found | made)[alike])

    def make_ahead(self, kernel: Foreseen) -> Iterator[None]:
        """Have code for a kernel that nobody has launched, if a helper makes it: part by part, so
        that others can have Python's lock in between."""
        func = self._funcs.get(kernel.name)
        if kernel.past_caches:
            func = self.past_caches(*kernel)
        if func is None or func.name in self._kernels or func.name in self.refused:
            return
        _ = func.body  # written only now
        yield
        alike = name_of(func)
        yield
        if alike not in _KNOWN and (made := object_ahead(func, alike)) is not None:
            with _LOCK, suppress(RuntimeError):  # who launches it will be told
                _KNOWN.update(load([made], [alike]))
            yield
        found = _KNOWN.get(alike)
        if found is not None:
            self._keep(func.name, found)

    def _keep(self, name: str, found: Any) -> None:
        if isinstance(found, IRError):
            self.refused[name] = str(found)
        else:
            func = self._funcs[name]
            self._kernels[name] = Kernel.of(func, found, effort_of(func), chunks_of(func))


def kernels_known() -> int:
    """How many kernels this process has code of."""
    return len(_KNOWN)


def _of_tiles(func: Func) -> bool:
    return any(isinstance(argument.type, View) for argument in func.arguments)
