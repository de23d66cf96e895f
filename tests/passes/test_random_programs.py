"""Every pass that has a name keeps every bit of what 2,000 random programs compute."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from brimstone.ir.errors import IRError
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.printer import print_module
from brimstone.passes.context import Context, Settings
from brimstone.passes.copying import copy_module
from brimstone.passes.examine import examine
from brimstone.passes.manager import run_pipeline
from brimstone.passes.oracle import choose_sizes, difference, random_arguments
from brimstone.passes.pipelines import PASSES
from brimstone.passes.reduce import fails_like, reduce_module
from kit.programs import Plan, program, random_plans

PROGRAMS = 2000
CHANGED_AT_LEAST = 20


@dataclass(frozen=True)
class Trial:
    """A program, and what it gives for some arguments."""

    plan: Plan
    module: Module
    sizes: dict[str, int]
    arguments: list[Any]
    results: tuple[Any, ...]


def observed(plan: Plan, seed: int) -> Trial:
    """One run of a plan's program, at a choice of sizes that the seed makes."""
    module = program(plan)
    choices = choose_sizes(module.main)
    sizes = choices[seed % len(choices)]
    arguments = random_arguments(module.main, sizes, np.random.default_rng(seed))
    return Trial(plan, module, sizes, arguments, interpret(module, *arguments, sizes=sizes))


@cache
def trials() -> tuple[Trial, ...]:
    plans = random_plans(PROGRAMS, collectives=False)
    return tuple(observed(plan, seed) for seed, plan in enumerate(plans))


@pytest.fixture(scope="module", autouse=True)
def free_the_trials() -> Iterator[None]:
    yield
    trials.cache_clear()


def change(trial: Trial, name: str, context: Context) -> str | None:
    """What the pass changes of a program's results, or why it fails; None if all is well."""
    module = copy_module(trial.module)
    try:
        run_pipeline(module, name, context)
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
@pytest.mark.parametrize("name", sorted(PASSES))
def test_a_pass_keeps_every_bit(name: str, record_summary: list[str]) -> None:
    changes: list[int] = []
    for trial in trials():
        context = quiet()
        if change(trial, name, context) is not None:
            pytest.fail(report(trial, name), pytrace=False)
        changes.append(len(context.entries))
    changed = sum(count > 0 for count in changes)
    record_summary.append(f"{name}: {sum(changes)} changes, in {changed} of {PROGRAMS} programs")
    assert changed >= CHANGED_AT_LEAST, "the programs have little that this pass looks for"
