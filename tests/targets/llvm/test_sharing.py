"""Launches that threads share: what is cut, and that it does not show."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import tiles
from brimstone.ir.func import Module
from brimstone.passes.copying import copy_module
from brimstone.runtime.host import Host
from brimstone.runtime.steps import prepare
from brimstone.targets.llvm import sharing
from brimstone.targets.llvm.road import compile_step
from brimstone.targets.llvm.sharing import CHUNKS, LEAST, PRODUCTS, WORTH, cut, is_shared
from kit.agreement import dtype_of, program, trials
from kit.loops import same_bits
from kit.played import played

ALONE, MANY = Host(1), Host(5)
PROGRAMS = 10


@pytest.fixture
def smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has two programs is shared."""
    monkeypatch.setattr(sharing, "LEAST", 1)
    monkeypatch.setattr(sharing, "WORTH", 1)


@pytest.mark.parametrize(
    ("work", "grid", "threads", "expected"),
    [
        (LEAST * 100, (1000, 1, 1), 1, (0, 1)),
        (LEAST * 2 - 1, (1000, 1, 1), 2, (0, 1)),
        (LEAST * WORTH, (1000, 1, 1), 2, (0, WORTH)),
        (LEAST * 100, (1000, 1, 1), 2, (0, 2 * CHUNKS)),
        (LEAST * WORTH, (1000, 1, 1), 99, (0, WORTH)),
        (LEAST * 100, (3, 1, 1), 2, (0, 3)),
        (LEAST * 100, (1, 1, 1), 2, (0, 1)),
        (LEAST * 100, (2, 40, 1), 2, (1, 2 * CHUNKS)),
        (LEAST * 100, (2, 3, 7), 2, (2, 7)),
        (LEAST * 100, (40, 1000, 1), 2, (0, 2 * CHUNKS)),
        (LEAST * 100, (0, 1000, 1), 2, (0, 1)),
        (0, (40, 1000, 1), 2, (0, 1)),
    ],
)
def test_a_launch_is_cut_into_chunks_of_some_work(
    work: int, grid: tuple[int, ...], threads: int, expected: tuple[int, int]
) -> None:
    assert cut(work, grid, threads) == expected


def test_threads_share_what_is_worth_waking_one_for() -> None:
    assert is_shared(LEAST * WORTH)
    assert not is_shared(LEAST * WORTH - 1)


def test_columns_of_a_wide_array_are_of_several_programs() -> None:
    with bs.device("cpu"):
        told = bs.explain(lambda x: bs.sum(x, axis=0))(bs.ones((256, 4096)))
    assert "launches   main, 2 programs" in str(told)


def test_products_are_cut_into_fewer() -> None:
    """Each chunk of one reads all of the right operand."""
    assert cut(LEAST * 100, (1000, 1, 1), 2, PRODUCTS) == (0, 2 * PRODUCTS)


def results(module: Module, host: Host, arguments: Any) -> tuple[Any, ...]:
    """What a program makes of arguments."""
    return played(compile_step(prepare(copy_module(module)), host), arguments)


@pytest.mark.usefixtures("smallest")
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_many_threads_make_the_same_bits(seed: int) -> None:
    dtype = dtype_of(seed)
    module = Module([program(seed, dtype)])
    for trial in trials(seed, dtype):
        alone = results(module, ALONE, trial.arguments)
        shared = results(module, MANY, trial.arguments)
        assert all(map(same_bits, shared, alone))


def many_kinds(x: Any, y: Any, rows: Any) -> tuple[Any, ...]:
    """Products, sums along both axes, a sort, a running sum, rows that are looked up."""
    return (
        bs.softmax(x @ y, -1) @ y.permute(1, 0),
        bs.softmax(x, 0),
        bs.sort(x, -1),
        bs.cumulative_sum(x, 1),
        bs.mean(y, 0),
        x[rows] + 1,
    )


@pytest.mark.usefixtures("smallest")
@pytest.mark.parametrize("size", [1, 301])
def test_kernels_of_every_kind_make_the_same_bits(size: int) -> None:
    draws = np.random.default_rng(size)
    squares = [draws.standard_normal((size, size), np.float32) for _ in range(2)]
    arguments = [*squares, np.arange(size)[::-1].copy()]
    with bs.device("cpu"):
        lowered = bs.jit(many_kinds).lower(*map(bs.tensor, arguments)).ir
    alone = results(lowered, ALONE, arguments)
    assert all(map(same_bits, results(lowered, MANY, arguments), alone))


@bs.kernel
def summed(x: Any, *, combine: bool) -> None:
    """A few sums, to which many programs add."""
    out = tiles.result(16, x.dtype, fill=0)
    at = tiles.grid(tiles.ceil_div(x.shape[0], 16)) * 16
    if combine:
        out.combine(0, x.load(at, 16), "add")
    else:
        out.scatter(tiles.arange(16), x.load(at, 16), "add")


@pytest.mark.usefixtures("smallest")
@pytest.mark.parametrize("combine", [True, False])
def test_programs_that_add_to_what_others_have_written_take_turns(combine: bool) -> None:
    """In another order they would round otherwise, and at once some would be lost."""
    given = np.random.default_rng(0).standard_normal(200_000).astype(np.float32)
    with bs.device("cpu"):
        lowered = bs.jit(lambda x: summed(x, combine=combine)).lower(bs.tensor(given)).ir
    alone = results(lowered, ALONE, [given])
    assert all(same_bits(*results(lowered, MANY, [given]), *alone) for _ in range(5))


@bs.kernel
def last(x: Any) -> None:
    """What all programs store to one place."""
    out = tiles.result(16, x.dtype)
    out.store(0, x.load(tiles.grid(tiles.ceil_div(x.shape[0], 16)) * 16, 16))


@pytest.mark.usefixtures("smallest")
def test_the_last_program_that_stores_to_a_place_is_the_last_of_the_grid() -> None:
    given = np.arange(16 * 5000, dtype=np.float32)
    with bs.device("cpu"):
        lowered = bs.jit(last).lower(bs.tensor(given)).ir
    for _ in range(20):
        (found,) = results(lowered, MANY, [given])
        assert found.tolist() == given[-16:].tolist()


@pytest.mark.usefixtures("smallest")
def test_python_threads_share_them_too() -> None:
    with bs.device("cpu"):
        x = bs.tensor(np.random.default_rng(0).standard_normal((64, 512), np.float32))
        lowered = bs.jit(lambda x: bs.softmax(x @ x.permute(1, 0), -1)).lower(x).ir
    step = compile_step(prepare(copy_module(lowered)), MANY)
    (expected,), wrong = played(step, [np.asarray(x)]), list[int]()

    def work(number: int) -> None:
        for _ in range(20):
            if not same_bits(played(step, [np.asarray(x)])[0], expected):
                wrong.append(number)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert not wrong
