"""Machine code, and lowered steps, on disk, so that each is made once and not once a process.

Comes in: a key, bytes. Goes out: the bytes that were put there under that key, or None.
Never: half a file, or code that another user may have written. Files are written aside and renamed,
and begin with a checksum. Where the disk is broken, full, read-only or somebody else's there is one
warning, and everything is as if nothing were stored.
"""

import hashlib
import os
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import time
from uuid import uuid4

from .compile import AS_WRITTEN, PASSES
from .library import llvm
from .machines import CPU

VARIABLE = "BRIMSTONE_CACHE"
"""The environment variable that names the folder; if it is set and empty, nothing is stored."""
VERSION = 2
"""Goes into every key; another meaning of slots or of a text needs another one."""
BYTES_AT_MOST = 256 << 20
KEPT_WHEN_FULL = 3 / 4
LOOK_AFTER = "00"
"""Keys end so once in 256 times; after writing such a one, a process looks how much there is."""
ABANDONED_AFTER = 3600.0
"""Seconds after which a file that was never renamed belongs to a process that died."""

OBJECT, STEP, ASIDE = ".object", ".step", ".aside"
DIGEST = hashlib.sha256().digest_size
_COMMENT = re.compile(r"^ *;.*\n", re.MULTILINE)


class CacheWarning(UserWarning):
    """Machine code cannot be stored on disk, or what was stored is damaged."""


def key_of(text: str, machine: CPU) -> str:
    """What names the code of a text: all that it depends on; comments are no part of that."""
    llvms = (PASSES, AS_WRITTEN, llvm().llvm_version_info)
    settings = (VERSION, *llvms, machine.triple, machine.cpu)
    plain = _COMMENT.sub("", text)
    parts = f"{settings}\n{machine.features}\n{plain}"
    return hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()


class Cache:
    """A folder of objects. Those used longest ago go first when it holds more than its bound."""

    def __init__(self, folder: Path | None, bytes_at_most: int = BYTES_AT_MOST) -> None:
        self.folder, self.bytes_at_most = folder, bytes_at_most
        self._ready = self._warned = False

    def unheard(self) -> "Cache":
        """The same folder, for work that nobody waits for: who meets trouble there says nothing,
        and leaves it to the next who does wait."""
        made = Cache(self.folder, self.bytes_at_most)
        made._warned = True
        return made

    def get(self, key: str, kind: str = OBJECT) -> bytes | None:
        """What was put under the key, as something of that kind."""
        if not self._usable():
            return None
        path = self._path(key, kind)
        try:
            stored = _read(path)
        except FileNotFoundError:
            return None
        except _Damaged:
            stored = b""
        except OSError as problem:
            return self._give_up(f"cannot be read ({problem})")
        if _digest(path, stored[DIGEST:]) != stored[:DIGEST]:
            self._warn(f"had a damaged file, {path.name}")
            _remove(path)
            return None
        with suppress(OSError):
            os.utime(path)
        return stored[DIGEST:]

    def put(self, key: str, code: bytes, kind: str = OBJECT) -> None:
        """Store code, or something of another kind, under a key."""
        if not self._usable():
            return
        path = self._path(key, kind)
        aside = path.with_name(f"{uuid4().hex}{ASIDE}")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            aside.write_bytes(_digest(path, code) + code)
            os.replace(aside, path)
        except OSError as problem:
            with suppress(OSError):
                aside.unlink()
            self._give_up(f"cannot be written to ({problem})")
            return
        if key.endswith(LOOK_AFTER):
            self.trim()

    def trim(self) -> None:
        """Remove what was used longest ago until the rest is well below the bound, and what dead
        processes left."""
        entries: list[tuple[float, int, str]] = []
        for entry in self._entries():
            with suppress(OSError):  # another process trims too
                found = entry.stat(follow_symlinks=False)
                if entry.name.endswith((OBJECT, STEP)):
                    entries.append((found.st_mtime, found.st_size, entry.path))
                elif time() - found.st_mtime > ABANDONED_AFTER:
                    os.unlink(entry.path)
        total = sum(size for _, size, _ in entries)
        wanted = total if total <= self.bytes_at_most else self.bytes_at_most * KEPT_WHEN_FULL
        for _, size, path in sorted(entries):
            if total <= wanted:
                break
            with suppress(OSError):
                os.unlink(path)
            total -= size

    def unusable(self) -> str:
        """Why nothing can be put into the folder, which is made if it is not there; empty if it
        can be."""
        why = self._refused()
        if why or self.folder is None or os.access(self.folder, os.W_OK | os.X_OK):
            return why
        return "cannot be written to by this user"

    def held(self) -> tuple[int, int]:
        """How many objects there are, and how many bytes all take that is kept."""
        count = size = 0
        for entry in self._entries():
            with suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    size += entry.stat().st_size if entry.name.endswith((OBJECT, STEP)) else 0
                    count += entry.name.endswith(OBJECT)
        return count, size

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        """Every file."""
        assert self.folder is not None
        with suppress(OSError):
            for shelf in self.folder.iterdir():
                with suppress(OSError), os.scandir(shelf) as found:
                    yield from found

    def drop(self, key: str, kind: str = OBJECT) -> None:
        """Have nothing under a key."""
        if self._usable():
            with suppress(OSError):
                self._path(key, kind).unlink()

    def _path(self, key: str, kind: str) -> Path:
        """A shelf for the first letters, so that no folder has too many files."""
        assert self.folder is not None
        return self.folder / key[:2] / f"{key[2:]}{kind}"

    def _usable(self) -> bool:
        """Whether there is a folder that only this user writes to; makes it the first time."""
        if self._ready or self.folder is None:
            return self._ready
        why = self._refused()
        if why:
            self._give_up(why)
        else:
            self._ready = True
        return self._ready

    def _refused(self) -> str:
        """Why the folder is not to be used, which is made if it is not there; empty if it is."""
        assert self.folder is not None
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _foreign(self.folder)
        except OSError as problem:
            return f"cannot be used ({problem})"

    def _give_up(self, why: str) -> None:
        """Go on without the folder."""
        self._warn(f"{why}; kernels are compiled anew in each process")
        self.folder, self._ready = None, False

    def _warn(self, what: str) -> None:
        if self._warned:
            return
        self._warned = True
        text = f"the cache of machine code {self.folder} {what} (set {VARIABLE} to name another)"
        warnings.warn(text, CacheWarning, stacklevel=3)


class _Damaged(Exception):
    """What lies there is no file that was put there."""


def _read(path: Path) -> bytes:
    """What a plain file holds; others, and such as nobody has put there, may never end."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_size > BYTES_AT_MOST:
        raise _Damaged
    return path.read_bytes()


def _remove(path: Path) -> None:
    """Take away what is damaged, whatever it is."""
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.rmdir()


def _digest(path: Path, code: bytes) -> bytes:
    """What tells whether a file is what was put there, and under this name."""
    return hashlib.sha256(f"{path.parent.name}{path.name}\n".encode() + code).digest()


def _foreign(folder: Path) -> str:
    """Why what lies in a folder is not to be trusted; empty if only this user writes there."""
    found = folder.stat()
    others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if found.st_uid == os.geteuid() and not others:
        return ""
    return "can be written to by other users, who could put their code there"


@cache
def default_cache() -> Cache:
    """The one that the environment names, else in the user's folder for such things."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Cache(Path(named).expanduser().absolute() / "llvm" if named else None)
    from platformdirs import user_cache_path

    return Cache(user_cache_path("brimstone") / "llvm")
