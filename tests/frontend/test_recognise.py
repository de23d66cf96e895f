"""Attention in code that is written out: found, and the same as what is written."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.ir.tensor import Attention
from brimstone.passes.context import Context
from brimstone.passes.fuse import fuse
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.recognise import missed
from brimstone.passes.tiling import tile
from brimstone.passes.tiling.attention.diagonal import diagonal
from brimstone.runtime.steps import prepare
from brimstone.targets.llvm.machines import host
from brimstone.targets.llvm.schedules import chooser
from kit.cases import read_cases
from kit.written_attentions import (
    DEAD,
    INF,
    WRITTEN,
    apart,
    arguments,
    before,
    by_hand,
    drawn,
    whole,
)

FOUND = "tensor.attention"


@pytest.fixture(autouse=True)
def on_reference() -> Iterator[None]:
    with bs.device("reference"):
        yield


def ops_of(function: Callable[..., Any], *given: Any) -> str:
    return str(bs.jit(function).lower(*given))


def slopes(written: Any, barrier: Any) -> Callable[..., Any]:
    """Values and gradients."""

    def loss(q: Any, k: Any, v: Any) -> Any:
        made = written(q, k, v, barrier)
        return bs.sin(made * 2).sum(), made

    return bs.value_and_grad(loss, (0, 1, 2), has_aux=True)


def assert_same(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_found_and_the_same(name: str) -> None:
    made = []
    for barrier, is_found in ((whole, True), (apart, False)):
        derived = slopes(WRITTEN[name], barrier)
        assert (FOUND in ops_of(derived, *arguments())) is is_found
        (_, values), gradients = bs.jit(derived)(*arguments())
        made.append([values, *gradients])
    assert_same(*made)
    assert (name in DEAD) == bool(np.isnan(made[0][0].numpy()).any())


@pytest.mark.parametrize("name", ["both", "nothing"])
def test_second_derivatives(name: str) -> None:
    def derived(barrier: Any) -> Any:
        def slope(*given: Any) -> Any:
            _, gradients = slopes(WRITTEN[name], barrier)(*given)
            return sum([bs.cos(each).sum() for each in gradients])

        return bs.jit(bs.grad(slope, (0, 1, 2)))(*arguments())

    assert_same(derived(whole), derived(apart))


@pytest.mark.parametrize("seed", range(6))
def test_at_random(seed: int) -> None:
    written, given = drawn(seed)
    made = [bs.jit(slopes(written, barrier))(*given) for barrier in (whole, apart)]
    assert FOUND in ops_of(lambda *x: written(*x, whole), *given)
    assert_same(*[[values, *gradients] for (_, values), gradients in made])


def weights(q: Any, k: Any) -> Any:
    return by_hand(q @ k.mT)


def halves(*given: Any) -> list[Any]:
    return [each.astype(bs.bfloat16) for each in given]


def unshifted(q: Any, k: Any, v: Any) -> Any:
    powers = bs.exp(q @ k.mT)
    return powers / bs.sum(powers, axis=-1, keepdims=True) @ v


def shifted(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT
    powers = bs.exp(scores - bs.mean(scores, axis=-1, keepdims=True))
    return powers / bs.sum(powers, axis=-1, keepdims=True) @ v


def twice(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT
    return by_hand(scores) @ v + scores.sum()


def pooled(q: Any, k: Any, v: Any) -> Any:
    scores = bs.einsum("bhd,bhkd->bhk", q[:, :, 0], k)
    return bs.einsum("bhk,bhkd->bhd", by_hand(scores), v)


def at_length(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT
    for _ in range(80):
        scores = bs.sin(scores)
    return by_hand(scores) @ v


def summed_along_heads(q: Any, k: Any, v: Any) -> Any:
    return bs.einsum("bqk,bkd->bqd", by_hand(bs.einsum("bhqd,bhkd->bqk", q, k)), v[:, 0])


MISSED: dict[str, tuple[Callable[..., Any], str]] = {
    "weights returned": (
        lambda q, k, v: ((p := weights(q, k)) @ v, p), "its tensor.divide is also read by return"
    ),
    "scores read": (twice, "is also read by tensor.reduce_sum at "),
    "another axis": (
        lambda q, k, v: bs.softmax(q @ k.mT, axis=-2) @ v, "not along the last axis of the scores"
    ),
    "not shifted": (unshifted, "the largest score is not subtracted"),
    "shifted otherwise": (shifted, "is not the largest score"),
    "narrow": (
        lambda *given: WRITTEN["softmax"](*halves(*given), whole), "its weights are cast to bf16"
    ),
    "whole numbers": (
        lambda q, k, v: by_hand((q.astype(bs.int32) @ k.mT.astype(bs.int32)) * 1.0) @ v,
        "where queries of i32 are summed in i32",
    ),
    "wide": (
        lambda q, k, v: by_hand((q @ k.mT).astype(bs.float64)) @ v.astype(bs.float64),
        "the softmax of f64, where queries of f32 are summed in f32",
    ),
    "several axes": (summed_along_heads, "summed along several axes"),
    "along queries": (
        lambda q, k, v: bs.einsum("bhqk,bhqd->bhkd", weights(q, k), q),
        "values are not summed along the last axis of the weights",
    ),
    "values of one number": (
        lambda q, k, v: bs.einsum("bhqk,bhk->bhq", weights(q, k), v[..., 0]),
        "values have not one axis of their own",
    ),
    "no axis of queries": (
        pooled,
        "the last two axes of the scores are not those of queries and keys",
    ),
    "changed at length": (at_length, "its scores are changed by 80 ops"),
    "no keys": (lambda q, k, v: by_hand_of_none(q, k) @ v[:, :, :0], "there may be no key"),
}  # fmt: skip


def by_hand_of_none(q: Any, k: Any) -> Any:
    return bs.softmax(q @ k[:, :, :0].mT, axis=-1)


@pytest.mark.parametrize("name", MISSED)
def test_what_only_looks_like_it_is_left_alone(name: str) -> None:
    function, reason = MISSED[name]
    told = bs.explain(function)(*arguments())
    assert FOUND not in told.ops
    (found,) = missed(told.func)
    assert reason in found.reason
    assert found.reason in str(told)


@pytest.mark.parametrize(
    "function", [lambda q, k, v: (q @ k.mT) @ v, lambda q, k, v: by_hand(q) @ k.mT]
)
def test_what_is_something_else_has_no_reason(function: Any) -> None:
    told = bs.explain(function)(*arguments())
    assert not missed(told.func)


def test_narrow_scores_are_rounded_as_they_were() -> None:
    def written(q: Any, k: Any, v: Any, barrier: Any) -> Any:
        q, k = halves(q, k)
        scores = bs.where(before(), q @ k.mT * 0.3, -INF)
        return barrier(by_hand(scores.astype(bs.float32))) @ v

    q, k, v = arguments()
    assert FOUND in ops_of(lambda v: written(q, k, v, whole), v)
    pair = [written(q, k, v, barrier).numpy() for barrier in (whole, apart)]
    np.testing.assert_allclose(*pair, rtol=1e-5, atol=1e-6)


def test_it_stands_for_all_its_lines_and_burns_fuel() -> None:
    (case, *_) = read_cases(Path(__file__).parents[1] / "passes" / "recognise.ir")
    counts = []
    for fuel in (0, 1):
        module = parse(case.text, "case.ir")
        run_pipeline(module, "recorded", Context(fuel))
        counts.append([len(each.location) for each in module.main.body if each.name == FOUND])
    assert counts == [[], [11]]


def test_weights_that_somebody_holds_are_made() -> None:
    q, k, v = arguments()
    held = weights(q, k)
    np.testing.assert_allclose((held @ v).numpy(), held.numpy() @ v.numpy(), rtol=1e-5)


def test_a_history_keeps_no_scores() -> None:
    q, k, v = (bs.tensor(each, requires_grad=True) for each in arguments())
    loss = bs.sin(WRITTEN["causal"](q, k, v, whole)).sum()
    loss.numpy()
    found = loss.backward()
    expected = bs.grad(lambda *x: bs.sin(WRITTEN["causal"](*x, apart)).sum(), (0, 1, 2))(q, k, v)
    assert_same([found[each] for each in (q, k, v)], expected)


def test_in_lanes_and_in_a_loop() -> None:
    def layer(x: Any) -> Any:
        return x + weights(x, x) @ x

    lanes = bs.vmap(layer)(arguments()[0])
    np.testing.assert_allclose(lanes.numpy(), layer(arguments()[0]).numpy(), rtol=1e-5)


def test_sizes_that_are_open() -> None:
    function = bs.jit(lambda q, k, v: WRITTEN["plain"](q, k, v, whole), dynamic={"q": {2: "rows"}})
    q, k, v = arguments()
    assert FOUND in str(function.lower(q, k, v))
    for rows in (5, 3):
        expected = WRITTEN["plain"](q[:, :, :rows], k, v, apart).numpy()
        np.testing.assert_allclose(function(q[:, :, :rows], k, v).numpy(), expected, rtol=1e-5)


def prepared(name: str) -> Func:
    func = bs.explain(slopes(WRITTEN[name], whole))(*arguments()).func
    return prepare(Module([generalise(func).func])).main


@pytest.mark.parametrize("name", ["future", "tril", "both", "capped", "keys for all", "matrices"])
def test_what_comes_after_its_query_is_seen_by_those_who_lower(name: str) -> None:
    func = prepared(name)
    (op,) = [each for each in func.body if isinstance(each, Attention)]
    assert diagonal(func, op.score, [None] * len(op.operands)) == 0


@pytest.mark.parametrize(
    ("name", "count"),
    {"shared by two": 2, "shared by all": 4, "grouped": 2, "keys for all": 8, "plain": 1}.items(),
)
def test_keys_are_not_repeated(name: str, count: int) -> None:
    func = bs.explain(lambda *given: WRITTEN[name](*given, whole))(*arguments()).func
    (op,) = [each for each in func.body if isinstance(each, Attention)]
    assert op.query.shape[1] == count * op.key.shape[1]


def test_it_has_a_form_of_tiles() -> None:
    assert not tile(fuse(prepared("both")).module, chooser(host())).refused


@pytest.mark.parametrize(
    ("dtype", "offset"),
    [
        (bs.uint8, np.uint8(250)), (bs.int8, np.int8(100)), (bs.int32, np.int32(2**31 - 1)),
        (bs.int32, np.int32(3)), (bs.int64, -2), (bs.int64, 2**40), (bs.float64, -0.5),
        (bs.float64, INF), (bs.float32, 0.0),
    ],
)  # fmt: skip
def test_counters_that_wrap_or_are_no_integers(dtype: Any, offset: Any) -> None:
    """What a mask compares is what it says, whatever the places are counted in."""
    rows = 40

    def masked(q: Any, k: Any, v: Any, barrier: Any) -> Any:
        at = bs.arange(rows, dtype=dtype)
        scores = bs.where(at[None, :] <= at[:, None] + offset, q @ k.mT, -INF)
        return barrier(by_hand(scores)) @ v

    given = [np.random.default_rng(5).normal(size=(1, 2, rows, 4)) for _ in range(3)]
    with bs.device("cpu"):
        q, k, v = map(bs.asarray, given)
        found = bs.jit(lambda q, k, v: masked(q, k, v, whole))(q, k, v).numpy()
        expected = bs.jit(lambda q, k, v: masked(q, k, v, apart))(q, k, v).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
