"""Lowered steps on disk: what one process has lowered and compiled, others only read.

Comes in: a step of tensors, by which it is found; the lowered step, and the `Code` of its kernels.
Goes out: a func of the step floor, with the lines that it is of, and what is known of kernels.
Never: the body of a kernel, which is wanted only where there is no code of it yet; nor a step of
which a kernel was refused.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...ir.errors import IRError
from ...ir.func import Func, Module
from ...ir.locations import UNKNOWN
from ...ir.parser import parse
from ...ir.printer import print_func, print_module
from .build import sources
from .cache import STEP, Cache, key_of
from .code import Code, Version
from .heads import Head
from .machines import CPU

NOWHERE = "<stored>"
"""Ops that are of no line say that they are of this file."""


class Lowered(NamedTuple):
    """A lowered step, and what is known of its kernels."""

    main: Func
    heads: Mapping[str, Head]
    versions: Mapping[Version, str]


class How(NamedTuple):
    """For which machine a step is lowered, and whether each op is a kernel."""

    machine: CPU
    apart: bool


class Place:
    """Where on disk a step of tensors lies, and where anybody sees that it does, whatever its lines
    are."""

    def __init__(self, cache: Cache, key: str = "", of_any_lines: str = "") -> None:
        self._cache, self._quiet = cache, cache.unheard()
        self._key, self._of_any_lines = key, of_any_lines

    def get(self) -> Lowered | None:
        """What lies there, if it can be read."""
        found = self._cache.get(self._key, STEP)
        try:
            return None if found is None else _read(json.loads(found))
        except (IRError, LookupError, TypeError, ValueError):
            return None

    def is_new(self) -> bool:
        """Whether no such step lies there, of whatever lines."""
        return self._cache.get(self._of_any_lines, STEP) is None

    def tell(self, main: Func, code: Code) -> None:
        """Put there what there is to tell of a lowered step, if that is more than lies there. Who
        cannot has heard of it when he put code there."""
        if code.is_news and not code.refused and self._key:
            code.is_news = False
            written = _written(Lowered(main, dict(code.heads), dict(code.versions)))
            self._quiet.put(self._key, json.dumps(written).encode(), STEP)
            self._quiet.put(self._of_any_lines, b"", STEP)

    def drop(self) -> None:
        """Have nothing lie there."""
        self._quiet.drop(self._key, STEP)


NO_PLACE = Place(Cache(None))


def place_of(module: Module, how: How, cache: Cache) -> Place:
    """Where a step lies that is lowered in this way."""
    if cache.folder is None:
        return NO_PLACE
    made_by = f"{how} {sources()}"
    step = f"step {made_by}\n{print_module(module, locations=True)}"
    of_any_lines = f"of any lines {made_by}\n{print_module(module)}"
    return Place(cache, *[key_of(each, how.machine) for each in (step, of_any_lines)])


def _written(lowered: Lowered) -> Mapping[str, Any]:
    heads = {name: print_func(head.as_func("head")) for name, head in lowered.heads.items()}
    versions = [[*version, name] for version, name in lowered.versions.items()]
    return {"main": text_of(lowered.main), "heads": heads, "versions": versions}


def _read(found: Mapping[str, Any]) -> Lowered:
    main = parse(found["main"], NOWHERE).main
    for each in (main, *main.walk()):
        if each.location and each.location[0][0] == NOWHERE:
            each.location = UNKNOWN
    texts, versions = found["heads"].items(), found["versions"]
    return Lowered(
        main,
        {name: Head.written(parse(text).main.attributes) for name, text in texts},
        {Version(past, of, tuple(given)): name for past, of, given, name in versions},
    )


def text_of(main: Func) -> str:
    """A step as it lies on disk."""
    return print_func(main, locations=True)
