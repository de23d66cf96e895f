"""Machine code of the kernels of a step, made when they are about to be launched.

Comes in: a module with kernels of the tile floor, or what is known of them, and the names of those
that are wanted. Goes out: `Kernel`s. Kernels that do the same are one, whatever step they are of
and whatever their sizes and values are called; what any process of this user has compiled is found
on disk.
Never: a kernel lowered or compiled that nobody launches, before the step runs again: only then are
those made, by helpers, that other sizes launch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from threading import RLock
from typing import Any, NamedTuple

from ...ir.errors import IRError
from ...ir.func import Func, Module
from ...ir.types import View
from ...passes.collector import without_collections
from ...passes.forks import held_across_forks
from ...passes.once import once
from ...passes.past_caches import past_caches, through_caches
from ..notes import NOTES
from .build import build, is_stored, object_ahead
from .heads import Head
from .kernel import Kernel
from .load import load
from .naming import name_of

KNOWN_AT_MOST = 4096
_KNOWN: dict[str, Any] = {}
_LOCK = held_across_forks(RLock())
"""Held while code is put into memory."""


class Foreseen(NamedTuple):
    """A kernel that may be launched yet, or its version that writes these arguments past the
    caches."""

    name: str
    past_caches: tuple[int, ...] = ()


class Changed(RuntimeError):
    """A step was lowered in another way when it was put on disk, so its kernels may be others."""

    def __init__(self) -> None:
        super().__init__("this step lay on disk, lowered in another way; it is removed: run again")


class Version(NamedTuple):
    """The version of a kernel for these arguments as large results, `past` the caches or not."""

    past: bool
    kernel: str
    arguments: tuple[int, ...]


class Code:
    """The kernels of a step; `refused` gives the reasons for those that stay what they are.

    Of some, `heads` has all that a launch asks for, and `versions` the names of others; the step is
    `lowered` where there is more to know. `is_news` says that not all of it was given.
    """

    def __init__(
        self,
        lowered: Callable[[], Module],
        refused: Mapping[str, str],
        heads: Mapping[str, Head] | None = None,
        versions: Mapping[Version, str] | None = None,
    ) -> None:
        self.refused = dict(refused)
        self.heads, self.versions = dict(heads or {}), dict(versions or {})
        self.is_news = heads is None
        self._told = frozenset(self.heads)
        self._lowered = lowered
        self._funcs: dict[str, Func] = {}
        self._kernels: dict[str, Kernel] = {}

    @property
    def module(self) -> Module:
        """The step, with the bodies of its kernels."""
        return self._lowered()

    def get(self, name: str) -> Kernel | None:
        """The kernel of that name; None if it has no code."""
        return self._kernels.get(name)

    def func(self, name: str) -> Func:
        """A kernel as tiles, or the version of one."""
        if name not in self._funcs:
            asked = next((each for each, made in [*self.versions.items()] if made == name), None)
            made = self.module[name] if asked is None else self._version(asked)
            assert made is not None
            self._funcs[name] = made
        return self._funcs[name]

    def past_caches(self, name: str, arguments: tuple[int, ...]) -> str:
        """The version of a kernel which writes these past the caches; empty if there is none."""
        return self._named(Version(True, name, arguments))

    def through_caches(self, name: str, arguments: tuple[int, ...]) -> str:
        """The version for these as large results that caches may hold; empty if there is none."""
        return self._named(Version(False, name, arguments))

    def _named(self, version: Version) -> str:
        if version not in self.versions:
            made = self._version(version)
            self.versions[version], self.is_news = "" if made is None else made.name, True
            if made is not None:
                self._funcs[made.name] = made
        return self.versions[version]

    def _version(self, version: Version) -> Func | None:
        func = self.func(version.kernel)
        make = past_caches if version.past else through_caches
        return make(func, version.arguments) if _of_tiles(func) else None

    def __len__(self) -> int:
        return len(self._kernels)

    def make(self, names: Iterable[str]) -> None:
        """Have code for these kernels."""
        done = self._kernels.keys() | self.refused.keys()
        new = [name for name in dict.fromkeys(names) if name not in done]
        wanted = {name: head.alike for name in new if (head := self._head(name)) is not None}
        if not wanted:
            return
        with NOTES.about(f"compile {len(wanted)} kernels"):
            found = self._built(wanted)
        for name, alike in wanted.items():
            self._keep(name, found[alike])

    @without_collections
    def _built(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        """What kernels are compiled to, by the name of all that are alike."""
        with once(_LOCK):
            found = {alike: _KNOWN[alike] for alike in wanted.values() if alike in _KNOWN}
            missing = {alike: name for name, alike in wanted.items() if alike not in found}
            made = build({alike: partial(self._body, name) for alike, name in missing.items()})
            if len(_KNOWN) + len(made) > KNOWN_AT_MOST:
                _KNOWN.clear()
            _KNOWN.update(made)
        return found | made

    def make_ahead(self, kernel: Foreseen) -> Iterator[None]:
        """Have code for a kernel that nobody has launched, if a helper makes it: part by part, so
        that others can have Python's lock in between."""
        name = self.past_caches(*kernel) if kernel.past_caches else kernel.name
        if not name or name in self._kernels or name in self.refused:
            return
        if name not in self.heads:
            _ = self.func(name).body  # written only now
            yield
        head = self._head(name)
        if head is None:
            return
        yield
        made = None if head.alike in _KNOWN else object_ahead(partial(self._body, name), head.alike)
        if made is not None:
            with once(_LOCK), suppress(RuntimeError):  # who launches it will be told
                _KNOWN.update(load([made], [head.alike]))
            yield
        found = _KNOWN.get(head.alike)
        if found is not None:
            self._keep(name, found)

    def _body(self, name: str) -> Func:
        """A kernel, whose code others will find under the name that its head has."""
        func = self.func(name)
        if name in self._told and name_of(func) != self.heads[name].alike:
            raise Changed
        return func

    def _head(self, name: str) -> Head | None:
        """What is to be known of a kernel; None if it is not one of tiles."""
        if name not in self.heads:
            func = self.func(name)
            if not _of_tiles(func):
                return None
            self.heads[name], self.is_news = Head.of(func), True
        return self.heads[name]

    def _keep(self, name: str, found: Any) -> None:
        if isinstance(found, IRError):
            self.refused[name] = str(found)
        else:
            self._kernels[name] = Kernel.of(self.heads[name], found)


def is_known(alike: str) -> bool:
    """Whether there is code of that name, in this process or on disk."""
    if alike in _KNOWN:
        return not isinstance(_KNOWN[alike], IRError)
    return is_stored(alike)


def kernels_known() -> int:
    """How many kernels this process has code of."""
    return len(_KNOWN)


def _of_tiles(func: Func) -> bool:
    return any(isinstance(argument.type, View) for argument in func.arguments)
