"""A step that no machine code is made for: each op's numpy meaning, on arrays of the host.

Comes in: a module, and arrays, which may still have to be computed. Goes out: computed arrays, each
with memory of its own.
Never: a pass, or a kernel.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ...ir.func import Module
from ...ir.interpreter import interpret
from ..notes import NOTES
from ..script import Arrays, Host
from ..target import dealt


class Interpreted:
    """A module that the interpreter runs now, while who asks waits."""

    def __init__(self, module: Module, host: Host) -> None:
        self.module, self.host = module, host

    def __call__(
        self,
        pieces: Sequence[Sequence[Arrays]],
        sizes: Mapping[str, int],
        counts: tuple[int, ...] | None = None,
    ) -> Any:
        """Run on buffers of the target."""
        given = [each.array() for each in chain.from_iterable(pieces)]
        with NOTES.about("interpret a step"):
            results = interpret(self.module, *given, sizes=sizes)
        made = tuple([self.host.copied(each, each.dtype) for each in results])
        return made if counts is None else dealt(made, counts)

    def dealer(self, sizes: Mapping[str, int], counts: tuple[int, ...]) -> None:
        """A call of Python is little here."""

    def memory(self, sizes: Mapping[str, int]) -> None:
        """Nothing is planned."""
