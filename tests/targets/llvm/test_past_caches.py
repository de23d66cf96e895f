"""Large results go past the caches: the machine code, and when it runs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.printer import print_func
from brimstone.passes.past_caches import past_caches
from brimstone.targets.llvm import code, preparation
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.lower import lower
from brimstone.targets.llvm.machines import MODELS
from brimstone.targets.llvm.printer import print_llvm
from kit.bound import kernel

FEW = 1 << 13
RNG = np.random.default_rng(5)
DOUBLED = """
func @doubled<n: 1..4096>(%x: view<1, {dtype}, {{size: [n], unit_stride: 0}}>,
    %y: view<1, {dtype}, {{size: [n], unit_stride: 0}}>)
    with {{grid: [ceildiv(n, 64)], tile: {{n: 64}}}} {{
  %program = tile.program_id {{axis = 0}} : scalar<i64>
  %by = tile.constant {{value = 64}} : scalar<i64>
  %at = tile.binary %program, %by {{kind = multiply}} : scalar<i64>
  %a = tile.load %x, %at {{shape = [64], padding = {zero}}} : tile<[64], {dtype}>
  tile.store %y, %a, %at
  return
}}"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Results of 8 KiB count as large; the kernels that had another version. No step is known."""
    names: list[str] = []
    made = Code.past_caches

    def noted(code: Code, name: str, arguments: tuple[int, ...]) -> Any:
        found = made(code, name, arguments)
        names.extend([found] if found else [])
        return found

    monkeypatch.setattr(preparation, "LARGE", FEW)
    monkeypatch.setattr(preparation, "past_caches_from", lambda: FEW)
    monkeypatch.setattr(Code, "past_caches", noted)
    monkeypatch.setattr("brimstone.runtime.steps._STEPS", {})
    monkeypatch.setattr("brimstone.targets.llvm.road.default_cache", lambda: Cache(None))
    yield names


@pytest.mark.parametrize("machine", MODELS.values(), ids=list(MODELS))
@pytest.mark.parametrize(("dtype", "zero"), [("f32", "0.0"), ("bf16", "0.0"), ("bool", "false")])
def test_the_text_says_so(machine: Any, dtype: str, zero: str) -> None:
    made = past_caches(kernel(DOUBLED.format(dtype=dtype, zero=zero)), [1])
    assert made is not None
    text = print_llvm([lower(made, machine)], machine)
    stores = [line for line in text.splitlines() if line.strip().startswith("store <")]
    assert stores
    short = dtype == "bf16" and machine.vector_bytes == 16
    assert all(("!nontemporal" in line) != short for line in stores), "8 bytes go no other way"
    _, fence, after = text.partition("  fence seq_cst\n")
    assert bool(fence) != short, "nobody may find what was in memory before"
    assert after.startswith("" if short else "  ret void")
    plain = print_llvm([lower(kernel(DOUBLED.format(dtype=dtype, zero=zero)), machine)], machine)
    assert "nontemporal" not in plain
    assert "fence" not in plain


def normal(x: Any) -> Any:
    return x / bs.sqrt(bs.sum(x * x, axis=-1, keepdims=True))


@pytest.mark.parametrize(
    ("shape", "past"),
    [((64, 64), True), ((65, 48), True), ((64, 65), False), ((8, 64), False), ((4097,), True)],
)
def test_results_are_the_same(shape: tuple[int, ...], past: bool, asked: list[str]) -> None:
    x = RNG.standard_normal(shape).astype(np.float32)
    with bs.device("cpu"):
        found = bs.jit(normal)(bs.asarray(x)).numpy()
    assert bool(asked) == past
    np.testing.assert_allclose(found, x / np.sqrt((x * x).sum(-1, keepdims=True)), rtol=1e-4)


def test_a_new_size_takes_another_version_once(asked: list[str]) -> None:
    with bs.device("cpu"):
        f = bs.jit(lambda x: bs.abs(x) + 1)
        for rows in (2, 100, 3, 101, 4, 102):
            x = RNG.standard_normal((rows, 64)).astype(np.float32)
            np.testing.assert_array_equal(f(bs.asarray(x)).numpy(), np.abs(x) + 1)
    assert len(set(asked)) == 1


@pytest.mark.parametrize("rows", [100, 600])
def test_what_caches_may_hold_is_written_through_them(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Large results have a version that asks for what it reads, and the larger ones another one."""
    made: list[str] = []
    build = code.build

    def noted(funcs: dict[str, Any]) -> Any:
        made.extend([print_func(each()) for each in funcs.values()])
        return build(funcs)

    monkeypatch.setattr(preparation, "LARGE", FEW)
    monkeypatch.setattr(preparation, "past_caches_from", lambda: 4 * FEW)
    monkeypatch.setattr(code, "build", noted)
    x = RNG.standard_normal((rows, 64)).astype(np.float32)
    with bs.device("cpu"):
        found = bs.jit(lambda x: bs.atan(x) - 3)(bs.asarray(x)).numpy()
    np.testing.assert_allclose(found, np.arctan(x) - 3, rtol=1e-5)
    (text,) = made
    assert "ahead: 2048" in text
    assert ("past_caches: 1" in text) == (rows == 600)


def test_small_results_beside_large_ones_stay(asked: list[str]) -> None:
    """What a row comes to is a few KiB, which begin anywhere."""
    x = RNG.standard_normal((96, 64)).astype(np.float32)
    with bs.device("cpu"):
        f = bs.jit(
            lambda x: (bs.sum(x, axis=1), bs.mean(x, axis=1), x - bs.sum(x, 1, keepdims=True))
        )
        sums, means, rest = f(bs.asarray(x))
    assert asked
    np.testing.assert_allclose(sums.numpy(), x.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(means.numpy(), x.mean(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(rest.numpy(), x - x.sum(1, keepdims=True), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [bs.float64, bs.int64, bs.int8, bs.float16, bs.bool], ids=str)
def test_every_width(dtype: Any, asked: list[str]) -> None:
    x = RNG.integers(0, 2, (129, 128))
    with bs.device("cpu"):
        given = bs.asarray(x, dtype=dtype)
        found = bs.jit(lambda x: bs.where(x == 0, x, x))(given)
        turned = bs.jit(lambda x: bs.permute_dims(x, (1, 0)) + 0)(bs.asarray(x.astype(np.float32)))
    np.testing.assert_array_equal(found.numpy(), given.numpy())
    np.testing.assert_array_equal(turned.numpy(), x.T)
    assert asked
