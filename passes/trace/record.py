"""An observer that remembers the module before the first pass and after each.

Comes in: the stages of a run, as they end. Goes out: a `Moment` for each, and one for a pass that
failed, with what it left behind.
Never: a change to the module.
"""

from dataclasses import dataclass
from time import perf_counter

from ...ir.func import Module
from ...ir.rewriter import Application
from ..context import Context
from ..manager import PassError, count_ops
from ..stage import Stage
from .lines import Line, lines_of
from .names import Names

Snapshot = dict[str, list[Line]]


@dataclass
class Moment:
    """A pass that has ended, and the lines of each func then; `error` is why it failed, if so."""

    stage: Stage
    lines: Snapshot
    error: str | None = None


class Recorder:
    """Made before a run, and handed to its context as an observer."""

    def __init__(self, module: Module) -> None:
        self._names: dict[str, Names] = {}
        self._ended = perf_counter()
        self.ops = count_ops(module)
        self.start = self._snapshot(module)
        self.moments: list[Moment] = []

    def __call__(self, stage: Stage, module: Module) -> None:
        self.moments.append(Moment(stage, self._snapshot(module)))
        self._ended = perf_counter()

    def fail(self, error: PassError, context: Context) -> None:
        """Remember a pass that failed, of which the manager tells no observer."""
        noted = sum(len(moment.stage.applications) for moment in self.moments)
        stage = Stage(error.step, self._ended, perf_counter() - self._ended)
        stage.applications = tuple(Application(*entry) for entry in context.entries[noted:])
        stage.ops_before = self.moments[-1].stage.ops_after if self.moments else self.ops
        try:
            stage.ops_after, lines = count_ops(context.module), self._snapshot(context.module)
        except Exception:  # the IR is too broken to be shown: show that nothing more is known
            stage.ops_after, lines = stage.ops_before, self.last
        self.moments.append(Moment(stage, lines, str(error)))

    @property
    def last(self) -> Snapshot:
        """The lines after the last pass so far."""
        return self.moments[-1].lines if self.moments else self.start

    def _snapshot(self, module: Module) -> Snapshot:
        return {
            func.name: lines_of(func, self._names.setdefault(func.name, Names())) for func in module
        }
