"""Plans made again for other sizes: the same as when they are written anew, or none."""

import json
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime.records import plan_words
from brimstone.targets.llvm.program import PATTERNS_AT_MOST
from brimstone.targets.llvm.whole import is_whole, plan_of
from brimstone.targets.tape import Tape
from kit.sized import attention, general, planned, prepared, program
from kit.tapes import again

STEPS = {
    "text": (program, [(n, m) for n in (0, 1, 7, 8, 9, 64) for m in (0, 1, 5, 64)]),
    "function": (
        lambda: general(attention),
        [(5, 32, 5), (6, 32, 9), (64, 32, 7), (70, 32, 8), (600, 32, 600), (610, 32, 590)],
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_plan_is_that_of_its_sizes_or_none(name: str) -> None:
    make, every = STEPS[name]
    step, reused, written = make(), 0, {}
    for sizes in every:
        plan = plan_of(prepared(step, sizes))
        written[sizes] = plan_words(plan), plan.script.about
    for first in every:
        tape = Tape()
        preparation = prepared(step, first, tape)
        assert is_whole(preparation)
        plan = plan_of(preparation)
        words, about = plan_words(plan), plan.script.about
        assert about is not None
        count = len(words.words)
        for sizes, (expected, told) in written.items():
            found = again(tape, sizes, [*words.words, *about.numbers])
            assert told is not None
            if found is not None:
                assert found[:count] == expected.words
                assert words.pointers == expected.pointers
                assert found[count:] == [*told.numbers]
            assert found is not None or sizes != first
            reused += found is not None and sizes != first
    assert reused >= len(every)


@pytest.fixture
def news(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return planned(monkeypatch)


def numbers(rows: int) -> Any:
    return np.random.default_rng(rows).standard_normal((rows, 24)).astype(np.float32)


def test_other_sizes_need_no_other_plan(news: list[Any]) -> None:
    with bs.device("cpu"):
        f = bs.jit(lambda x: bs.sum(bs.exp(x), axis=0) + x[0])
        for rows in (30, 31, 47, 33, 30):
            x = numbers(rows)
            np.testing.assert_allclose(f(bs.asarray(x)), np.exp(x).sum(0) + x[0], rtol=1e-5)
    assert [given[0] for given in news] == [30]


def test_what_holds_of_few_sizes_is_kept_beside_others(news: list[Any]) -> None:
    with bs.device("cpu"):
        f = bs.jit(lambda x: bs.exp(x) * 2)
        for rows in (3, 200_000, 4, 210_000, 3):
            x = numbers(rows)
            np.testing.assert_allclose(f(bs.asarray(x)), np.exp(x) * 2, rtol=1e-5)
    assert [given[0] for given in news] == [3, 200_000]


def test_few_patterns_are_kept() -> None:
    step = program()
    for sizes in [(n, m) for n in range(12) for m in range(12)]:
        step._new(sizes)
    assert len(step._patterns) == PATTERNS_AT_MOST


def test_an_error_tells_of_the_sizes_that_are_given(news: list[Any]) -> None:
    with bs.device("cpu"):
        f = bs.jit(lambda x, k: bs.take(x, k, axis=0))
        for rows in (30, 40):
            x, k = numbers(rows), np.array([[0, 3], [1, rows]])
            f(bs.asarray(x), bs.asarray(k % 30)).numpy()
            with pytest.raises(Exception, match=rf"index {rows} .*\[1, 1\].* {rows}"):
                f(bs.asarray(x), bs.asarray(k)).numpy()
    assert len(news) == 1


def test_sizes_that_do_not_fit_are_refused(news: list[Any]) -> None:
    with bs.device("cpu"):
        f = bs.jit(lambda n: bs.broadcast_to(n, (1 << 20, 1 << 20, 1 << 20)) + n)
        with pytest.raises(MemoryError):
            f(bs.asarray(np.float32(1))).numpy()
        g = bs.jit(lambda x: bs.sum(x, axis=1))
        for rows in (3, 5):
            np.testing.assert_allclose(
                g(bs.asarray(numbers(rows))), numbers(rows).sum(1), rtol=1e-4
            )


def test_a_profile_tells_of_the_sizes_that_are_given(news: list[Any], tmp_path: Any) -> None:
    found: dict[int, int] = {}
    with bs.device("cpu"):
        f = bs.jit(lambda x: bs.exp(x) * 2)
        for rows in (30, 40):
            x = bs.asarray(numbers(rows))
            f(x).sync()
            with bs.profile(str(tmp_path / "trace.json")):
                f(x).sync()
            trace = json.loads((tmp_path / "trace.json").read_text())
            events = trace["traceEvents"] if isinstance(trace, dict) else trace
            found[rows] = sum([each.get("args", {}).get("bytes", 0) for each in events])
    assert len(news) == 1
    assert found[30] * 4 == found[40] * 3 > 0
