"""Launches that become one action: which ones may, and that it does not show."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.passes.copying import copy_module
from brimstone.runtime.host import Host, shared_host
from brimstone.runtime.steps import prepare
from brimstone.targets.llvm import sharing
from brimstone.targets.llvm.heads import Head
from brimstone.targets.llvm.kernel import Kernel
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.program import Program, bind
from brimstone.targets.llvm.road import compile_step
from brimstone.targets.llvm.sharing import LEAST, WORTH
from brimstone.targets.llvm.together import Launched, Range, Together, are_apart
from brimstone.targets.llvm.whole import plan_of
from brimstone.targets.script import Kind
from kit.agreement import dtype_of, program, trials
from kit.loops import same_bits
from kit.played import played

ALONE, MANY = Host(1), Host(3)
ENOUGH = LEAST * WORTH
HALF = ENOUGH // 2
HERE, BEHIND, OTHER = Range(1, 0, 100), Range(1, 100, 200), Range(2, 0, 100)


def together(bytes: int, effort: int = 1) -> Together:
    """One launch of so many bytes."""
    return Together(0, [], [Launched(Kernel(Head("", effort, 16), None, 0), (9, 1, 1), bytes)])


@pytest.mark.parametrize("works", [(HALF, HALF), (ENOUGH, 1), (1, ENOUGH)])
def test_what_is_enough_together_gains(works: tuple[int, int]) -> None:
    one, other = map(together, works)
    assert one.gains(other)
    both = one.with_next(other)
    assert tuple(each.bytes for each in both.launches) == works
    assert both.shared == sum(works)


@pytest.mark.parametrize("works", [(HALF, HALF - 1), (ENOUGH, ENOUGH), (1, 1)])
def test_too_little_does_not_and_neither_does_enough_for_all(works: tuple[int, int]) -> None:
    assert not together(works[0]).gains(together(works[1]))


@pytest.mark.parametrize("effort", [0, 8])
def test_work_that_is_uncertain_does_not_count(effort: int) -> None:
    """As a product's, which is little if it is small, and that of programs which take turns."""
    assert not together(HALF - 1, 8).gains(together(HALF, effort))
    assert together(ENOUGH).gains(together(1, effort))


def test_ranges_of_bytes() -> None:
    assert are_apart([HERE, OTHER], [BEHIND])
    assert are_apart([HERE], [])
    assert not are_apart([OTHER, HERE], [BEHIND, Range(1, 99, 101)])
    assert are_apart([HERE], [Range(2, 0, 100)])


def lowered(function: Any, *given: Any) -> Module:
    with bs.device("cpu"):
        return bs.jit(function).lower(*map(bs.tensor, given)).ir


def compiled(module: Module, host: Host) -> Program:
    return compile_step(prepare(copy_module(module)), host)


def actions(step: Program, given: list[Any]) -> list[tuple[Kind, int]]:
    """The kind of each action, and how many launches it has."""
    sizes = bind(step.main, [np.shape(each) for each in given], {})
    preparation = Preparation(step, sizes)
    step.code.make(preparation.launched())
    found = plan_of(preparation).script.actions
    return [(act.kind, act.number) for act in found]


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def test_both_operands_of_a_product_are_packed_at_once() -> None:
    given = [normal(600, 600), normal(600, 420)]
    module = lowered(lambda x, y: x @ y, *given)
    step = compiled(module, MANY)
    assert actions(step, given) == [(Kind.SHARE, 2), (Kind.SHARE, 1)]
    assert actions(compiled(module, ALONE), given) == [(Kind.ALONE, 1)] * 3
    assert same_bits(*played(step, given), *played(compiled(module, ALONE), given))


def chained(x: Any) -> Any:
    """Each reads what the one before writes."""
    return bs.sort(bs.sort(x, 0), 1)


def in_turn(x: Any) -> Any:
    """A row follows a loop, beside an array that does not."""

    def body(total: Any, row: Any) -> Any:
        made = bs.sort(total * 2, 0)
        return made, made + bs.sort(row, 0)

    return bs.scan(body, x[0], x)


@pytest.mark.parametrize("function", [chained, in_turn])
@pytest.mark.parametrize("worth", [1 << 10, 1 << 12, 1 << 14, 1 << 16])
def test_what_reads_what_another_one_writes_comes_after_it(
    monkeypatch: pytest.MonkeyPatch, function: Any, worth: int
) -> None:
    monkeypatch.setattr(sharing, "LEAST", 1)
    monkeypatch.setattr(sharing, "WORTH", worth)
    module = lowered(function, normal(30, 40))
    for _ in range(5):
        found = played(compiled(module, MANY), [normal(30, 40)])
        assert all(map(same_bits, found, played(compiled(module, ALONE), [normal(30, 40)])))


def maybe(x: Any, y: Any) -> Any:
    """Something behind a branch, which ends with a launch."""
    chosen = bs.cond(bs.sum(x) > 0, lambda a: a * 2, lambda a: a + 1, x)
    return chosen, y * 3 + 1, bs.exp(y)


@pytest.mark.parametrize("sign", [-1, 1])
def test_what_stands_behind_a_branch_is_done_in_any_case(
    monkeypatch: pytest.MonkeyPatch, sign: int
) -> None:
    given = [sign * abs(normal(40, 50)), normal(40, 50)]
    monkeypatch.setattr(sharing, "LEAST", 1)
    monkeypatch.setattr(sharing, "WORTH", 3 * 40 * 50 * 4)  # more than one launch has
    module = lowered(maybe, *given)
    found = played(compiled(module, MANY), given)
    assert all(map(same_bits, found, played(compiled(module, ALONE), given)))


@pytest.mark.parametrize("worth", [1 << 8, 1 << 12, 1 << 16])
@pytest.mark.parametrize("seed", range(6))
def test_programs_make_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, seed: int, worth: int
) -> None:
    monkeypatch.setattr(sharing, "LEAST", 1)
    monkeypatch.setattr(sharing, "WORTH", worth)
    dtype = dtype_of(seed)
    module = Module([program(seed, dtype)])
    alone, shared = (compiled(module, host) for host in (ALONE, MANY))
    for trial in trials(seed, dtype):
        pairs = zip(played(alone, trial.arguments), played(shared, trial.arguments), strict=True)
        assert all(same_bits(*pair) for pair in pairs)


def test_a_profile_names_all_that_an_action_does() -> None:
    given = [normal(600, 600), normal(600, 420)]
    if shared_host().count == 1:
        pytest.skip("one thread does one thing at a time")
    with bs.device("cpu"):
        multiply = bs.jit(lambda x, y: x @ y)
        x, y = map(bs.tensor, given)
        multiply(x, y).sync()
        with bs.profile() as profile:
            multiply(x, y).sync()
    names = [row.name for row in profile.rows() if row.kind == "kernel"]
    assert any("pack_left + " in name and name.endswith("pack_right") for name in names)
