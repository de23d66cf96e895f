"""Every bit of what random programs compute is kept: by every pass that has a name, by the builder
and by the parser."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from brimstone.ir.errors import IRError
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.passes.context import Context, Settings
from brimstone.passes.copying import copy_module
from brimstone.passes.examine import examine
from brimstone.passes.manager import run_pipeline
from brimstone.passes.oracle import choose_sizes, difference, random_arguments
from brimstone.passes.pipelines import PASSES
from brimstone.passes.reduce import fails_like, reduce_module
from kit.collector import collector_paused
from kit.programs import Plan, both_ways, program, random_plans

PROGRAMS = 2000
MADE_AGAIN = 1000
CHANGED_AT_LEAST = 20


@dataclass(frozen=True)
class Trial:
    """A program, and what it gives for some arguments; `again` is the same, made another way, and
    `unchanged` holds a copy of the module, if a pass has left one as it was."""

    plan: Plan
    module: Module
    again: Module | None
    text: str
    sizes: dict[str, int]
    arguments: list[Any]
    results: tuple[Any, ...]
    unchanged: list[Module] = field(default_factory=list)


def observed(plan: Plan, seed: int) -> Trial:
    """One run of a plan's program, at a choice of sizes that the seed makes.

    Of the first programs, every other one is also built by a builder that merges and folds what it
    can, and the rest are read from their texts.
    """
    if seed < MADE_AGAIN and seed % 2:
        module, again = both_ways(plan)
    else:
        module, again = program(plan), None
    text = print_module(module)
    if seed < MADE_AGAIN and again is None:
        again = parse(text)
    choices = choose_sizes(module.main)
    sizes = choices[seed % len(choices)]
    arguments = random_arguments(module.main, sizes, np.random.default_rng(seed))
    results = interpret(module, *arguments, sizes=sizes)
    return Trial(plan, module, again, text, sizes, arguments, results)


def trials() -> Iterator[Trial]:
    for seed, plan in enumerate(random_plans(PROGRAMS, collectives=False)):
        with collector_paused():
            yield observed(plan, seed)


def change(trial: Trial, name: str, context: Context) -> str | None:
    """What the pass changes of a program's results, or why it fails; None if all is well."""
    module = trial.unchanged.pop() if trial.unchanged else copy_module(trial.module)
    try:
        run_pipeline(module, name, context)
        if not context.entries and print_module(module) == trial.text:
            trial.unchanged.append(module)
            return None
        results = interpret(module, *trial.arguments, sizes=trial.sizes)
    except IRError as problem:
        return str(problem)
    return difference(trial.results, results)


def report(trial: Trial, name: str) -> str:
    """What went wrong, and the smallest program on which it does."""
    found = examine(trial.module, name)
    if found.failure is None:
        return (
            f"{name} at {trial.sizes}: {change(trial, name, quiet())}\n{print_module(trial.module)}"
        )
    least = reduce_module(trial.module, fails_like(found.failure, name))
    again = examine(least, name)
    return (
        f"{name}: {again.failure.message if again.failure else found.failure.message}\n"
        f"{print_module(least)}// after {name}\n{print_module(again.module)}"
    )


def quiet() -> Context:
    """A context that writes no reproducer: `report` makes a smaller one."""
    return Context(settings=Settings(reproduce=False))


@pytest.mark.slow
def test_every_bit_is_kept(record_summary: list[str]) -> None:
    """All that is done to one program, then to the next, so that none has to be kept."""
    changes: dict[str, list[int]] = {name: [] for name in sorted(PASSES)}
    for trial in trials():
        if trial.again is not None:
            results = interpret(trial.again, *trial.arguments, sizes=trial.sizes)
            changed = difference(trial.results, results)
            assert changed is None, f"{trial.plan} at {trial.sizes}: {changed}\n{trial.text}"
        for name, counts in changes.items():
            context = quiet()
            if change(trial, name, context) is not None:
                pytest.fail(report(trial, name), pytrace=False)
            counts.append(len(context.entries))
    for name, counts in changes.items():
        met = sum(count > 0 for count in counts)
        record_summary.append(f"{name}: {sum(counts)} changes, in {met} of {PROGRAMS} programs")
        assert met >= CHANGED_AT_LEAST, f"the programs have little that {name} looks for"
