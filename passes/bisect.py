"""Fuel search: which single change of which pass made a program wrong.

Comes in: a module and a pipeline that does something wrong with it. Goes out: a `Culprit`: the
first change that makes the results wrong, or a pass fail, by binary search on how many may happen.
Never: a change to the module that came in. Where wrong and right alternate with more changes, one
of the places where right turns into wrong is found, not always the first.
"""

from dataclasses import dataclass

from ..ir.func import Module
from ..ir.printer import print_module
from ..ir.rewriter import Application
from .copying import copy_module
from .dead import swept
from .examine import DIFFERS, Examination, Failure, Oracle, examine
from .notation import Pipeline, steps_of
from .report import unified_diff


@dataclass(frozen=True)
class Culprit:
    """With `fuel - 1` changes all is well, with `fuel` it is not, of `total` that happen in all.

    `application` is that change. It is None where the pass failed before it said what it was about
    to do, or where a pass fails, or changes results, without a change that it notes (`fuel` 0).
    """

    fuel: int
    total: int
    failure: Failure
    step: str | None
    application: Application | None
    before: str
    after: str

    @property
    def diff(self) -> str:
        """What that one change did to the text."""
        return unified_diff(
            self.before, self.after, f"with {self.fuel - 1} changes", f"with {self.fuel}"
        )


def bisect(module: Module, pipeline: Pipeline, oracle: Oracle | None = None) -> Culprit | None:
    """The change that does it; None if the pipeline does nothing wrong."""
    steps = steps_of(pipeline)
    wrong = examine(module, steps, oracle=oracle)
    if wrong.failure is None:
        return None
    total = len(wrong.context.entries)
    # A pass may fail before it has noted the change that it was about to make.
    low, high = 0, total + (wrong.failure.step is not None)
    right = examine(module, steps, 0, oracle)
    if right.failure is not None:
        return _culprit(0, total, right, right)
    while high - low > 1:
        middle = (low + high) // 2
        tried = examine(module, steps, middle, oracle)
        if tried.failure is None:
            low, right = middle, tried
        else:
            high, wrong = middle, tried
    return _culprit(high, total, right, wrong)


def _culprit(fuel: int, total: int, right: Examination, wrong: Examination) -> Culprit:
    assert wrong.failure is not None
    noted = 0 < fuel <= len(wrong.context.entries)
    # Where fuel ends a rewriting, it leaves dead code, which would only disturb the comparison.
    # Broken IR is shown as it is.
    tidy = swept if wrong.failure.kind == DIFFERS else copy_module
    return Culprit(
        fuel,
        total,
        wrong.failure,
        wrong.passes[fuel - 1] if noted else wrong.failure.step,
        wrong.context.applications[fuel - 1] if noted else None,
        print_module(tidy(right.module)),
        print_module(tidy(wrong.module)),
    )
