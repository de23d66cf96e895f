"""What is remembered of one pass over a module: what ran, how long, what it changed.

Comes in: measurements of the manager. Goes out: `Stage`s, which `report` prints.
Never: the module itself, which later passes change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..ir.rewriter import Application
from .declare import Step


@dataclass(frozen=True, slots=True)
class Span:
    """One func's share of a stage; times are in seconds, on one clock for all stages of a run."""

    func: str
    start: float
    seconds: float
    applications: int


@dataclass
class Stage:
    """One pass over all funcs of a module; verifying after it is timed apart, and comes last."""

    step: Step
    start: float = 0.0
    seconds: float = 0.0
    seconds_of_verifying: float = 0.0
    spans: list[Span] = field(default_factory=list[Span])
    applications: tuple[Application, ...] = ()
    ops_before: int = 0
    ops_after: int = 0
    texts: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self.step.name

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that were given to the pass."""
        return self.step.options

    @property
    def before(self) -> str:
        """The module's text before the pass, if the context asked to keep texts."""
        return self._kept()[0]

    @property
    def after(self) -> str:
        """The module's text after the pass, if the context asked to keep texts."""
        return self._kept()[1]

    def _kept(self) -> tuple[str, str]:
        if self.texts is None:
            raise ValueError("the texts of this stage were not kept; run with Settings(texts=True)")
        return self.texts
