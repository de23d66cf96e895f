"""What a compiled function does with one kind of arguments: plain values that print themselves.

Comes in: what `explaining` has found. Goes out: text, a page, and attributes to look at.
Never: a computation, or a step compiled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...ir.func import Func
from ...targets.account import Memory
from .kernels import Amount, ExplainedKernel, source_lines
from .steps import CompiledStep, OpenSize

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


@dataclass(frozen=True)
class Part:
    """One step: how it `runs`, its kernels, the sizes that may be others, and those that `kept`
    their number, with the reasons. `ends` says why the host goes on in another step, if it does,
    and `memory` how much is taken, where that is known."""

    runs: str
    is_compiled: bool
    sizes: tuple[OpenSize, ...]
    kept: tuple[str, ...]
    kernels: tuple[ExplainedKernel, ...]
    ends: tuple[str, ...] = ()
    memory: Memory | None = None


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a compiled function does with one kind of arguments.

    There is one of `parts`, or one for each stage where sizes depend on values. `steps` are
    compiled for the function so far, for `kinds` of arguments. `no_attention` lists what looks like
    attention and is none, with the reasons.
    """

    name: str
    device: str
    func: Func
    takes: Mapping[str, str]
    returns: tuple[str, ...]
    parts: tuple[Part, ...]
    steps: tuple[CompiledStep, ...] = ()
    kinds: int = 0
    no_attention: tuple[str, ...] = ()

    @property
    def kernels(self) -> tuple[ExplainedKernel, ...]:
        """All kernels, in the order in which they run."""
        return tuple([kernel for part in self.parts for kernel in part.kernels])

    @property
    def runs(self) -> str:
        """How the kernels run, or why there are none."""
        return self.parts[0].runs

    @property
    def new_steps(self) -> int:
        """How many steps a call with these arguments would compile."""
        return sum(not part.is_compiled for part in self.parts)

    @property
    def ops(self) -> Counter[str]:
        """How often each op was recorded."""
        return Counter(op.name for op in self.func.walk() if not op.terminator)

    @property
    def moved(self) -> int | None:
        """The bytes that all kernels read and write; None if that depends on values."""
        return _sum([each.moved for each in self.kernels])

    @property
    def saved(self) -> int | None:
        """The bytes that would be moved besides, if each op were a kernel."""
        return _sum([each.saved for each in self.kernels])

    def lines(self) -> list[tuple[str, int]]:
        """The user's lines, with the number of ops that each recorded."""
        found: Counter[str] = Counter()
        for op in self.func.walk():
            if not op.terminator:
                lines = source_lines(op.location)
                found[", ".join([each.place for each in lines]) or "unknown"] += 1
        return list(found.items())

    def text(self, *, tiles: bool = True) -> str:
        """All of it as plain text; without `tiles`, only what is so on every machine."""
        return self.styled(tiles=tiles).plain

    def styled(self, *, tiles: bool = True) -> Text:
        """The same in colours, for `rich`."""
        from .text import explanation_text

        return explanation_text(self, tiles)

    def show(self, console: Console | None = None) -> None:
        """Print it, in colours where that is a terminal."""
        from rich.console import Console

        (console or Console()).print(self.styled(), soft_wrap=True)

    def html(self) -> str:
        """All of it as a page that needs no other file."""
        from .page import page

        return page(self)

    def _repr_html_(self) -> str:
        """The same as a part of a page, for notebooks."""
        from .page import article

        return article(self)

    def __rich__(self) -> Text:
        return self.styled()

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def _sum(amounts: Sequence[Amount]) -> int | None:
    numbers = [each.number for each in amounts if each.number is not None]
    return sum(numbers) if len(numbers) == len(amounts) else None
