"""What a pass may know besides its func, and where it notes each change.

Comes in: the fuel and the settings of a run. Goes out: a `Context`, which is the journal that
`apply` and every pass that changes IR by hand ask before a change: `context.allow("cse", op)`.
Never: a result of a pass; those are in the IR.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..ir.func import Module
from ..ir.rewriter import Journal
from .stage import Stage

Observer = Callable[[Stage, Module], None]
"""Is told of each stage when it has ended, with the module as it is then."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a pipeline is run; none of it changes what comes out.

    `reproducers` is the folder for the file that a failing pass leaves behind; None stands for
    BRIMSTONE_REPRODUCERS or, where that is not set, the current folder.
    """

    verify: bool = True
    texts: bool = False
    locations: bool = False
    reproduce: bool = True
    reproducers: Path | None = None


class Context(Journal):
    """The journal of a run, the module that is being worked on, and who watches."""

    def __init__(
        self,
        fuel: int | None = None,
        settings: Settings | None = None,
        observers: Iterable[Observer] = (),
    ) -> None:
        super().__init__(fuel)
        self.settings = settings or Settings()
        self.observers = list(observers)
        self.module = Module()

    @property
    def left(self) -> int | None:
        """How many changes may still happen; None for any number."""
        return None if self.fuel is None else self.fuel - len(self.entries)
