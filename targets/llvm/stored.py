"""Lowered steps on disk: what one process has lowered and compiled, others only read.

Comes in: a step of tensors, by which it is found; the lowered step, and the `Code` of its kernels.
Goes out: a func of the step floor, with the lines that it is of, and what is known of kernels.
Never: the body of a kernel, which is wanted only where there is no code of it yet; nor a step of
which a kernel has no code at all.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...ir.func import Func, Module
from ...ir.locations import UNKNOWN
from ...ir.parser import parse
from ...ir.printer import print_func, print_module
from .build import sources
from .cache import Cache, key_of
from .code import Code, Version
from .heads import Head
from .machines import CPU

NOWHERE = "<stored>"
"""Ops that are of no line say that they are of this file."""


@dataclass(frozen=True)
class Lowered:
    """A lowered step, as text, and what is known of its kernels."""

    main: str
    heads: Mapping[str, Head]
    versions: Mapping[Version, str]

    @classmethod
    def of(cls, main: Func, code: Code) -> "Lowered":
        """All that is known by now."""
        return cls(print_func(main, locations=True), dict(code.heads), dict(code.versions))

    def step(self) -> Func:
        """The step."""
        main = parse(self.main, NOWHERE).main
        for each in (main, *main.walk()):
            if each.location and each.location[0][0] == NOWHERE:
                each.location = UNKNOWN
        return main


class How(NamedTuple):
    """For which machine a step is lowered, and whether each op is a kernel."""

    machine: CPU
    apart: bool


class Shelf:
    """Where a step of tensors lies on disk, lowered in some way."""

    def __init__(self, module: Module, how: How, cache: Cache) -> None:
        self._cache = cache
        text = print_module(module, locations=True)
        self._key = key_of(f"step {how} {sources()}\n{text}", how.machine)

    def get(self) -> Lowered | None:
        """What lies there."""
        found = self._cache.get(self._key)
        return None if found is None else _read(json.loads(found))

    def put(self, lowered: Lowered) -> None:
        """Put it there."""
        self._cache.put(self._key, json.dumps(_written(lowered)).encode())


def _written(lowered: Lowered) -> Mapping[str, Any]:
    heads = {name: print_func(head.as_func("head")) for name, head in lowered.heads.items()}
    versions = [[*version, name] for version, name in lowered.versions.items()]
    return {"main": lowered.main, "heads": heads, "versions": versions}


def _read(found: Mapping[str, Any]) -> Lowered:
    heads = {
        name: Head.written(parse(text).main.attributes) for name, text in found["heads"].items()
    }
    versions = {
        Version(past, of, tuple(arguments)): name for past, of, arguments, name in found["versions"]
    }
    return Lowered(found["main"], heads, versions)
