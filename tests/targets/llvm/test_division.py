"""Integers divided by vectors, which goes through floats: every pair of bytes, and the ends of
wider ones, on each processor as code, and here as numbers."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.targets.llvm.machines import CPU, MODELS
from kit.lowered import in_tiles

WIDE = ["int16", "uint16", "int32", "uint32", "int64", "uint64"]


def floored(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quotients and remainders; by zero, both are zero."""
    with np.errstate(divide="ignore", over="ignore"):
        return x // y, x % y


def both(x: Any, y: Any) -> Any:
    return x // y, x % y


def edges(dtype: str) -> np.ndarray:
    """The ends of a dtype, zero and one, powers of two, and what is next to these."""
    info = np.iinfo(dtype)
    powers = [1 << each for each in range(info.bits)]
    near = [0, info.min, info.max, *powers, *[-each for each in powers], 3, 7, 10, 1000003]
    found = {each + by for each in near for by in (-2, -1, 0, 1, 2)}
    return np.array(sorted(each for each in found if info.min <= each <= info.max), dtype)


def check(x: np.ndarray, y: np.ndarray) -> None:
    left, right = (np.ascontiguousarray(each) for each in np.broadcast_arrays(x[:, None], y))
    with bs.device("cpu"):
        found = bs.jit(both)(bs.asarray(left), bs.asarray(right))
        of_numbers = bs.jit(both)(bs.asarray(left), bs.asarray(right[0, -1]))
        constant = int(right[0, -1])
        of_constants = bs.jit(lambda x: both(x, constant))(bs.asarray(left))
    for mine, expected in zip(found, floored(left, right), strict=True):
        np.testing.assert_array_equal(mine.numpy(), expected)
    for found_here in (of_numbers, of_constants):
        for mine, expected in zip(found_here, floored(left, right[0, -1]), strict=True):
            np.testing.assert_array_equal(mine.numpy(), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_every_pair_of_bytes(dtype: str) -> None:
    info = np.iinfo(dtype)
    every = np.arange(info.min, info.max + 1).astype(dtype)
    check(every, every)


@pytest.mark.parametrize("dtype", WIDE)
def test_pairs_at_the_ends(dtype: str) -> None:
    check(edges(dtype), edges(dtype))


@pytest.mark.parametrize("dtype", WIDE)
def test_multiples_and_their_neighbours(dtype: str) -> None:
    info, draws = np.iinfo(dtype), np.random.default_rng(0)
    divisors = np.unique(np.exp2(draws.uniform(0, info.bits - 2, 300)).astype(dtype))
    dividends = [(info.max // int(each)) * int(each) + by for each in divisors for by in (-1, 0, 1)]
    within = np.array([each for each in dividends if each <= info.max], dtype)
    check(draws.choice(within, 300), divisors)


@pytest.mark.parametrize("machine", MODELS.values(), ids=lambda machine: machine.name)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_what_is_turned_and_divided_has_code(machine: CPU, dtype: str) -> None:
    x, y = bs.zeros((130, 17), dtype=dtype), bs.zeros((17, 130), dtype=dtype)
    for function in (lambda x, y: x.T // y, lambda x, y: x.T // 3 // 3 + x.T % y):
        made = in_tiles(function, x, y, machine=machine)
        assert not made.refused
        for kernel in made.kernels:
            bind_cpu(made.module[kernel], machine)


@pytest.mark.parametrize("machine", MODELS.values(), ids=lambda machine: machine.name)
@pytest.mark.parametrize("dtype", ["int8", "int16", "float16", "float32"])
def test_what_is_turned_and_long_has_code(machine: CPU, dtype: str) -> None:
    def function(x: Any, y: Any) -> Any:
        made = x.T
        for _ in range(24):
            made = made * y + y
        return made

    x, y = bs.zeros((130, 17), dtype=dtype), bs.zeros((17, 130), dtype=dtype)
    made = in_tiles(function, x, y, machine=machine)
    assert not made.refused
    for kernel in made.kernels:
        bind_cpu(made.module[kernel], machine)
