"""What a pipeline does wrong with a module: it raises, leaves broken IR, or changes the results.

Comes in: a module, steps, fuel. Goes out: an `Examination`: the module after the steps, the changes
that were made, and the `Failure`, if there is one.
Never: a change to the module that came in, nor a reproducer.
"""

from dataclasses import dataclass, field

from ..ir.errors import IRError
from ..ir.func import Module
from .context import Context, Settings
from .copying import copy_module
from .manager import PassError, run_pipeline
from .notation import Pipeline, steps_of
from .oracle import disagreement, observe

DIFFERS = "differs"


@dataclass(frozen=True)
class Failure:
    """What went wrong; failures of one `kind` are taken to have one cause.

    `step` is the pass that raised; the interpreter, which sees only the end, names none.
    """

    kind: str
    message: str
    step: str | None = None


@dataclass
class Examination:
    """A run of some steps on a copy of a module, and what became of it."""

    module: Module
    context: Context
    failure: Failure | None = None
    passes: list[str] = field(default_factory=list[str])
    """For each change, the pass that made it."""


@dataclass(frozen=True)
class Oracle:
    """How results are compared: with which random arguments, and how exactly."""

    seed: int = 0
    tolerance: float = 0.0


def examine(
    module: Module, pipeline: Pipeline, fuel: int | None = None, oracle: Oracle | None = None
) -> Examination:
    """Run the steps on a copy, and compare the results before and after with the interpreter."""
    oracle = oracle or Oracle()
    context = Context(fuel, Settings(reproduce=False))
    found = Examination(copy_module(module), context)
    for step in steps_of(pipeline):
        try:
            run_pipeline(found.module, (step,), context)
        except PassError as error:
            found.failure = _raised(error)
        found.passes += [step.name] * (len(context.entries) - len(found.passes))
        if found.failure is not None:
            return found
    reason = disagreement(observe(module, oracle.seed), found.module, oracle.tolerance)
    if reason is not None:
        found.failure = Failure(DIFFERS, reason)
    return found


def _raised(error: PassError) -> Failure:
    cause = error.__cause__
    kind = f"{error.step.name} raises {cause.__class__.__name__}"
    message = IRError.__str__(error)
    return Failure(kind, message, error.step.name)
