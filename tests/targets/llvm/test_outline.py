"""What is said of a step once, for all sizes that choose the same."""

from typing import Any

import pytest

from brimstone.targets.llvm.outline import outline_of
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.whole import is_whole, plan_of
from kit.sized import attention, general, prepared, program

SIZES = [(n, m) for n in (0, 1, 7, 8, 9, 64) for m in (0, 1, 5, 64)]


def planned(preparation: Preparation) -> Any:
    """All of a plan but what holds its code, and what is said of its actions."""
    assert is_whole(preparation)
    plan = plan_of(preparation)
    return plan._replace(held=None, script=plan.script._replace(about=None))


@pytest.mark.parametrize("latest", SIZES)
def test_a_plan_is_the_same_whatever_sizes_were_first(latest: tuple[int, int]) -> None:
    step = program()
    for sizes in (*SIZES, latest):
        made = planned(prepared(step, sizes))
    assert made == planned(prepared(program(), latest))


def test_sizes_that_choose_the_same_share_it() -> None:
    step = program()
    few, fewer, many = [prepared(step, sizes) for sizes in ((1, 2), (7, 5), (8, 5))]
    for each in (few, fewer, many):
        planned(each)
    outlines = [each.flow.whole.outline for each in (few, fewer, many) if each.flow.whole]
    assert [outlines.index(each) for each in outlines] == [0, 0, 2]


def test_parts_of_a_step_share_theirs_too() -> None:
    step = program()
    few, fewer, many = [prepared(step, sizes) for sizes in ((1, 2), (7, 5), (8, 5))]
    found = [outline_of(each.flow, each.flat(step.main.body)[:3]) for each in (few, fewer)]
    assert found[0] is found[1]
    assert outline_of(many.flow, many.flat(step.main.body)[:3]) is not found[0]


@pytest.mark.parametrize("latest", [(2, 3), (1, 1), (7, 64), (64, 7), (257, 300), (600, 600)])
def test_launches_are_the_same_whatever_sizes_were_first(latest: tuple[int, int]) -> None:
    sizes = [(5, 5), (64, 7), (600, 600), (2, 3), (257, 300)]
    step, fresh = general(attention), general(attention)
    for each in (*sizes, latest):
        made = planned(prepared(step, (each[0], 32, each[1])))
    assert made == planned(prepared(fresh, (latest[0], 32, latest[1])))
