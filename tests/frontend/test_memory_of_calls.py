"""How much memory a compiled function takes, before it runs."""

from typing import Any

import numpy as np

import brimstone as bs


def chain(x: Any) -> Any:
    for _ in range(3):
        x = bs.cumulative_sum(bs.sort(x, axis=0), axis=0)
    return x


def test_what_is_given_made_and_between() -> None:
    step = bs.jit(chain)
    x = bs.zeros((64, 8), device="cpu")
    planned = step.memory(x)
    assert planned is not None
    assert (planned.given, planned.makes) == (x.nbytes, x.nbytes)
    assert planned.total == planned.given + planned.makes + planned.between
    assert 2 * x.nbytes >= planned.between >= x.nbytes
    assert {each.type for each in planned.alive} == {"f32[64, 8]"}


def test_it_grows_with_the_sizes_and_compiles_nothing_new() -> None:
    step = bs.jit(chain)
    amounts: list[int] = []
    for rows in (64, 128, 256):
        planned = step.memory(bs.zeros((rows, 8), device="cpu"))
        assert planned is not None
        amounts.append(planned.total)
    assert amounts[1] == 2 * amounts[0]
    assert amounts[2] == 4 * amounts[0]
    assert len({id(plan.executable) for plan in step.plans}) == 1


def test_it_runs_nothing_and_the_function_runs_afterwards() -> None:
    traced: list[int] = []
    called: list[int] = []

    def noted(array: Any) -> Any:
        called.append(1)
        return array + 1

    def seen(x: Any) -> Any:
        traced.append(1)
        return bs.host_call(noted, x, x)

    step = bs.jit(seen)
    x = bs.ones((3,), device="cpu")
    step.memory(x)
    before = len(traced)
    step.memory(x)
    assert called == []
    np.testing.assert_array_equal(np.asarray(step(x)), [2, 2, 2])
    assert (len(traced), called) == (before, [1])


def test_what_is_donated_is_counted_once() -> None:
    x = bs.zeros((64, 8), device="cpu")
    kept, given = bs.jit(chain).memory(x), bs.jit(chain, donate="x").memory(x)
    assert kept is not None
    assert given is not None
    assert kept.total - given.total == x.nbytes
    assert np.asarray(x).shape == (64, 8), "nothing was given away"


def test_where_nothing_is_planned_it_is_not_known() -> None:
    assert bs.jit(chain).memory(bs.zeros((4, 2), device="reference")) is None
    with_history = bs.zeros((4, 2), device="cpu").requires_grad_()
    assert bs.jit(chain).memory(with_history) is None
    kept = bs.jit(lambda x: x[x > 0] * 2)
    assert kept.memory(bs.zeros((4,), device="cpu")) is None
