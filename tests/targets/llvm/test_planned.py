"""The memory that a step is said to take is what it takes."""

from typing import Any

import pytest

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.runtime.host import shared_host
from brimstone.runtime.steps import prepare
from brimstone.targets.llvm.planned import memory_of
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.road import compile_step
from brimstone.targets.llvm.whole import plan_of


def heads(x: Any, y: Any) -> Any:
    """Each product is there until the sums are."""
    first, second = x @ y, y @ x
    return (bs.softmax(first, -1) @ bs.softmax(second, -1)).sum(-1), first


def steps(x: Any, y: Any) -> Any:
    """A loop, in which a product and its sum are there at once."""
    return bs.scan(lambda carry, row: (bs.softmax(carry @ y, -1) @ y + row, carry), x, y)


def choices(x: Any, y: Any) -> Any:
    """A branch, of which either region needs memory."""
    return bs.cond(x.sum() > 0, lambda: heads(x, y)[0], lambda: heads(y, x)[0] + steps(x, y)[0][0])


FUNCTIONS = {
    "heads": heads,
    "steps": steps,
    "choices": choices,
    "chain": lambda x, y: bs.exp(x) * y,
}


def program(function: Any) -> Any:
    x = bs.ones((96, 96))
    return compile_step(prepare(Module([bs.jit(function).lower(x, x).ir.main])), shared_host())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_is_what_is_planned(name: str) -> None:
    made = program(FUNCTIONS[name])
    told = memory_of(made, {})
    preparation = Preparation(made, {})
    made.code.make(preparation.launched())
    plan = plan_of(preparation)
    assert told is not None
    assert told.between == plan.arena
    assert told.makes == sum(plan.made)
    assert told.given == 2 * 96 * 96 * 4
    assert told.between >= sum([each.bytes for each in told.alive])


def test_arrays_in_between_have_the_names_of_kernels() -> None:
    told = memory_of(program(heads), {})
    assert told is not None
    assert [each.type for each in told.alive][:1] == ["f32[96, 96]"]
    assert all(each.kernel and "test_planned.py" in str(each.location) for each in told.alive)


def test_a_loop_takes_what_its_body_takes() -> None:
    told = memory_of(program(steps), {})
    assert told is not None
    assert told.between >= 2 * 96 * 96 * 4


def test_sizes_that_nobody_knows_yet() -> None:
    with bs.device("cpu"):
        told = bs.explain(lambda x: bs.nonzero(x)[0] * 2)(bs.ones((5,)))
        assert [part.memory is None for part in told.parts] == [False, True]


def test_explain_says_so() -> None:
    with bs.device("cpu"):
        told = bs.explain(heads)(bs.ones((96, 96)), bs.ones((96, 96)))
    (line,) = [line for line in told.text().splitlines() if line.startswith("takes ")]
    assert "73.7 kB given" in line
    assert "in between" in line
    assert "takes " in told.html()
