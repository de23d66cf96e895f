"""What was compiled for sizes at which a function never looked, found again for other sizes.

Comes in: the arguments of calls. Goes out: what was compiled for arguments that differ from them in
such sizes alone, if anything was, and what these are in this call.
Never: a size at which the function has looked; it is part of the kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from .arguments import Arguments
from .leading import Opened

Entry = TypeVar("Entry")


class Openings(Generic[Entry]):
    """By kinds of arguments with symbols among their sizes; `ways` are those in which sizes have
    been left open."""

    def __init__(self) -> None:
        self._entries: dict[Any, Entry] = {}
        self._ways: dict[tuple[Opened, ...], None] = {}

    def add(self, given: Arguments, opened: Sequence[Opened], entry: Entry) -> Entry:
        """Keep what was compiled, where these sizes are left open; what is kept."""
        given.close()
        given.open(opened)
        self._ways[tuple(opened)] = None
        return self._entries.setdefault(given.kind, entry)

    def find(self, given: Arguments) -> tuple[Entry, dict[str, int]] | None:
        """What was compiled for such arguments, and the sizes that it leaves open."""
        for opened in self._ways:
            if len(opened) == len(given.types):
                numbers = given.open(opened)
                entry = None if numbers is None else self._entries.get(given.kind)
                given.close()
                if numbers is not None and entry is not None:
                    return entry, {symbol.name: size for symbol, size in numbers.items()}
        return None
