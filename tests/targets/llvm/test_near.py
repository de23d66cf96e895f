"""Sizes near those that a step is first run at: its kernels are there when they come."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.targets.llvm import build, code, program, road
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.near import near
from kit.sized import planned

TEXTS = {
    "a model, which keeps its weights": (
        """func @f<n: 1..64, i: 1..64, o: 1..64>(%w: array<[i, o], f32>, %b: array<[o], f32>,
            %x: array<[n, i], f32>, %y: array<[n], i64>) -> (array<[i, o], f32>, array<[o], f32>) {
          return %w, %b
        }""",
        (8, 3, 10),
        [(16, 3, 10), (4, 3, 10)],
    ),
    "one that is asked": (
        """func @f<n: 1..64, i: 1..64>(%w: array<[i, 4], f32>, %x: array<[n, i], f32>)
            -> array<[n, i], f32> {
          return %x
        }""",
        (5, 3),
        [(10, 3), (2, 3)],
    ),
    "a size beyond its bounds, and one that is none": (
        """func @f<n: 2..12>(%x: array<[n, 4], f32>) -> array<[n, 4], f32> {
          return %x
        }""",
        (8,),
        [(4,)],
    ),
    "multiples": (
        """func @f<n: 2..64 % 2>(%x: array<[n], f32>) -> array<[n], f32> {
          return %x
        }""",
        (6,),
        [(12,)],
    ),
    "two batches": (
        """func @f<n: 1..64, m: 1..64>(%x: array<[n, 4], f32>, %y: array<[m, 4], f32>,
            %w: array<[4, 4], f32>) -> array<[4, 4], f32> {
          return %w
        }""",
        (8, 6),
        [(16, 12), (4, 3)],
    ),
    "no batch": (
        """func @f<n: 1..64>(%x: array<[n, n], f32>, %y: array<[2*n], f32>) -> array<[n, n], f32> {
          return %x
        }""",
        (8,),
        [],
    ),
    "nothing": (
        """func @f<n: 0..64>(%x: array<[n], f32>) -> array<[n], f32> {
          return %x
        }""",
        (0,),
        [],
    ),
}


def func_of(text: str) -> Func:
    return parse(text, "near.ir").main


@pytest.mark.parametrize("name", TEXTS)
def test_batches_are_doubled_and_halved(name: str) -> None:
    text, sizes, expected = TEXTS[name]
    assert [*near(func_of(text), sizes)] == expected


@pytest.fixture
def news(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes for which there is something to find out; no step is known, nor any code."""
    monkeypatch.setattr(program, "near", near)
    monkeypatch.setattr(code, "_KNOWN", {})
    return planned(monkeypatch)


RNG = np.random.default_rng(0)
WEIGHTS = [RNG.standard_normal(shape).astype(np.float32) for shape in ((300, 520), (520, 280))]


def assert_right(step: Any, rows: int) -> None:
    x = RNG.standard_normal((rows, 300)).astype(np.float32)
    expected = np.maximum(x @ WEIGHTS[0], 0) @ WEIGHTS[1]
    found = step(bs.asarray(x), *map(bs.asarray, WEIGHTS)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_other_batches_compile_nothing(news: list[Any]) -> None:
    """Nor is a plan written for them, though other kernels run."""
    with bs.device("cpu"):
        step = bs.jit(lambda x, w, v: bs.maximum(x @ w, 0) @ v)
        assert_right(step, 100)
        known = code.kernels_known()
        for rows in (200, 129, 51, 128, 100, 150):
            assert_right(step, rows)
        assert code.kernels_known() == known
        assert [given[0] for given in news] == [100]
        assert_right(step, 6)
    assert code.kernels_known() > known
    assert [given[0] for given in news] == [100, 6]


def test_a_step_that_lay_on_disk_is_not_lowered_for_them(
    news: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the first process made for them is there all the same, once they come."""
    asked: list[int] = []

    def lowered(*given: Any, **named: Any) -> Any:
        asked.append(1)
        return make(*given, **named)

    make = road.lowered
    monkeypatch.setattr(road, "default_cache", lambda: Cache(tmp_path))
    monkeypatch.setattr(build, "default_cache", lambda: Cache(tmp_path))
    monkeypatch.setattr(road, "lowered", lowered)
    with bs.device("cpu"):
        for rows, more in ((100, 1), (200, 0), (51, 0)):
            asked.clear()
            code._KNOWN.clear()
            monkeypatch.setattr("brimstone.runtime.steps._STEPS", {})
            assert_right(bs.jit(lambda x, w, v: bs.maximum(x @ w, 0) @ v), rows)
            assert len(asked) == more


def test_a_batch_that_the_step_cannot_have_is_left_out(news: list[Any]) -> None:
    with bs.device("cpu"):
        rows = bs.asarray(np.arange(150))
        step = bs.jit(lambda x, w, v: bs.maximum(x @ w, 0) @ v + (x[:, :1] + rows[: len(x), None]))
        for count in (100, 150):
            x = RNG.standard_normal((count, 300)).astype(np.float32)
            expected = np.maximum(x @ WEIGHTS[0], 0) @ WEIGHTS[1]
            expected = expected + x[:, :1] + np.arange(count)[:, None]
            found = step(bs.asarray(x), *map(bs.asarray, WEIGHTS)).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-3)
    assert [given[0] for given in news] == [100, 150]
