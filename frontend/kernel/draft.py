"""A kernel while its function runs: the tile func, and the point in it where ops go.

Comes in: ops of the tile floor with their operands, from what the user's function calls. Goes out:
values of the func; what the function has stated of results, grid and sizes is kept here.
Never: two kernels at once in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, substitute
from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.types import Type
from ...ir.values import AnyValue, Block
from ..caller import user_line
from ..errors import ArgumentError, DeadTensorError, fail

Known = Mapping[Symbol, Size]


class Draft:
    """One kernel being written.

    `known` are sizes that the function has stated to be equal to others; `learned` are those that
    it states for the first time: it is then run again.
    """

    def __init__(self, name: str, location: Location, known: Known) -> None:
        self.func = Func(name, location=location)
        self.builder = Builder(self.func.body)
        self.known, self.learned = known, dict[Symbol, Size]()
        self.inputs: list[Any] = []
        self.results: list[Any] = []
        self.fills: list[tuple[int, Any]] = []
        self.grid: tuple[Size, ...] | None = None

    def size(self, size: Size) -> Size:
        """A size, with what is known of its symbols."""
        return substitute(size, self.known)

    def learn(self, symbol: Symbol, size: Size) -> None:
        """State what a symbol is, of which nothing is known."""
        resolved = {each: substitute(of, {symbol: size}) for each, of in self.learned.items()}
        self.learned = {**resolved, symbol: size}

    def emit(self, cls: Any, *operands: Any, **attributes: Any) -> AnyValue:
        """The result of an op."""
        return self.emit_all(cls, *operands, **attributes)[0]

    def emit_all(self, cls: Any, *operands: Any, **attributes: Any) -> tuple[AnyValue, ...]:
        """All results of an op, which has the running line of the user's program."""
        self.builder.location = user_line()
        try:
            return self.builder.emit_all(cls, *operands, **attributes)
        except IRError as problem:
            fail(ArgumentError, cls.name, problem.message.removeprefix(f"{cls.name}: "))

    @contextmanager
    def region(self, types: Sequence[Type]) -> Iterator[Block]:
        """A block that takes values of these types; ops go there meanwhile."""
        outer = self.builder
        self.builder = outer.nest(types)
        try:
            yield self.builder.block
        finally:
            self.builder = outer

    def check_own(self, draft: Draft, operation: str) -> None:
        """Refuse what belongs to another kernel."""
        if draft is not self:
            problem = "a tile or a view of another kernel is used"
            fail(DeadTensorError, operation, problem, hint="load it where it is used")

    def check_visible(self, value: AnyValue, operation: str) -> None:
        """Refuse a value that was made in a loop or a branch that has ended."""
        at: Builder | None = self.builder
        while at is not None:
            if value.block is at.block:
                return
            at = at.outer
        fail(
            DeadTensorError, operation, "a tile is used outside the loop or the branch it is of",
            hint="return it from the body, so that it is carried out",
        )  # fmt: skip


class _Current(local):
    draft: Draft | None = None


_CURRENT = _Current()


@contextmanager
def drafting(draft: Draft) -> Iterator[None]:
    """Let this thread write a kernel."""
    outer, _CURRENT.draft = _CURRENT.draft, draft
    try:
        yield
    finally:
        _CURRENT.draft = outer


def current(operation: str) -> Draft:
    """The kernel that this thread is writing."""
    if _CURRENT.draft is None:
        fail(
            ArgumentError, operation, "only a kernel does this, while it is traced",
            hint="decorate the function with `bs.kernel`, and call that",
        )  # fmt: skip
    return _CURRENT.draft
