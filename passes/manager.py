"""The pass manager: runs the steps of a pipeline over the funcs of a module.

Comes in: a module, a pipeline and a context. Goes out: the module, changed, and a `Stage` for each
step. A step that fails, or that leaves broken IR, becomes a `PassError`, and the module as it was
before that step a `reproducer.ir`.
Never: what a pass does; and nothing here depends on the order in which passes were imported.
"""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from traceback import extract_tb

from ..ir.errors import IRError
from ..ir.func import Func, Module
from ..ir.parser import parse
from ..ir.printer import print_module
from ..ir.rewriter import Application
from ..ir.verifier import verify
from .context import Context, Settings
from .declare import Step
from .handled import is_of_handler
from .notation import Pipeline, steps_of
from .reproducer import write_reproducer
from .stage import Span, Stage


class PassError(IRError):
    """A pass failed: which, on which func (None for the whole module), and why (`__cause__`).

    `reproducer` says where the file that replays it was written, or why there is none.
    """

    def __init__(self, step: Step, func: Func | None, cause: Exception) -> None:
        self.step = step
        self.func = func
        self.reproducer = "none was asked for"
        did = f"failed on @{func.name}" if func is not None else "left broken IR"
        location = cause.location if isinstance(cause, IRError) else None
        super().__init__(f"the pass {step.name} {did}: {_reason(cause)}", location)

    def __str__(self) -> str:
        return f"{super().__str__()}\n  reproducer: {self.reproducer}"


def run_pipeline(module: Module, pipeline: Pipeline, context: Context | None = None) -> list[Stage]:
    """Run the steps in order, each over every func; return what happened at each."""
    context = context or Context()
    context.module = module
    steps = steps_of(pipeline)
    origin = _Origin(module, context) if context.settings.reproduce else None
    stages: list[Stage] = []
    for place, step in enumerate(steps):
        before = stages[-1].texts[1] if stages and stages[-1].texts else None
        fuel = context.left
        try:
            stage = _run_step(step, context, before)
        except PassError as error:
            if origin is not None:
                error.reproducer = origin.reproduce(steps[: place + 1], fuel)
            raise
        stages.append(stage)
        for observe in context.observers:
            observe(stage, module)
    return stages


def _run_step(step: Step, context: Context, before: str | None) -> Stage:
    """One step over all funcs, and the check after it."""
    module, settings = context.module, context.settings
    spent = len(context.entries)
    stage = Stage(step, perf_counter(), ops_before=count_ops(module))
    if settings.texts and before is None:
        before = print_module(module, locations=settings.locations)
    for func in list(module):
        stage.spans.append(_run_on(step, func, context))
    stage.seconds = perf_counter() - stage.start
    if settings.verify:
        _verify_after(step, module)
        stage.seconds_of_verifying = perf_counter() - stage.start - stage.seconds
    stage.applications = tuple(Application(*entry) for entry in context.entries[spent:])
    stage.ops_after = count_ops(module)
    if before is not None:
        stage.texts = (before, print_module(module, locations=settings.locations))
    return stage


def _run_on(step: Step, func: Func, context: Context) -> Span:
    start, spent = perf_counter(), len(context.entries)
    try:
        step(func, context)
    except Exception as error:
        if is_of_handler(error):
            raise
        raise PassError(step, func, error) from error
    return Span(func.name, start, perf_counter() - start, len(context.entries) - spent)


def _verify_after(step: Step, module: Module) -> None:
    try:
        verify(module)
    except Exception as error:  # broken IR may break the verifier itself
        raise PassError(step, None, error) from error


def count_ops(module: Module) -> int:
    """The ops of all funcs, at any depth."""
    return sum(1 for func in module for _ in func.walk())


def _reason(cause: Exception) -> str:
    """What an exception says; one that was not meant to be read also says where it was raised."""
    if isinstance(cause, IRError):
        return cause.message
    shown = f"{cause.__class__.__name__}: {cause}"
    frames = extract_tb(cause.__traceback__)
    if not frames:
        return shown
    return f"{shown} (in {frames[-1].name}, {Path(frames[-1].filename).name}:{frames[-1].lineno})"


class _Origin:
    """The module's text before a pipeline: all that is kept of it in case a later step fails.

    Printing once is cheaper than before each step; a failure runs the steps before it again.
    """

    def __init__(self, module: Module, context: Context) -> None:
        self.text = print_module(module, locations=True)
        self.fuel = context.left
        self.folder = context.settings.reproducers

    def reproduce(self, steps: Sequence[Step], fuel: int | None) -> str:
        """Write the reproducer for the last of `steps`; return where, or why that failed."""
        try:
            replayed = parse(self.text)
            quiet = Context(self.fuel, Settings(verify=False, reproduce=False))
            run_pipeline(replayed, steps[:-1], quiet)
            text, needed = print_module(replayed, locations=True), steps[-1:]
        except Exception:
            # What cannot be replayed here is replayed from the start, by whoever reads the file.
            text, needed, fuel = self.text, steps, self.fuel
        try:
            return str(write_reproducer(text, needed, fuel, self.folder))
        except OSError as problem:
            return f"could not be written: {problem}"
