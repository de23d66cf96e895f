"""Gaussian elimination on the tile floor."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import step, tensor, verify
from brimstone.ir.func import Module
from brimstone.ir.tensor.factor import LARGE
from brimstone.ir.tensor.rules import Term
from brimstone.ir.types import View
from brimstone.passes.oracle import difference
from brimstone.passes.tiling import tile
from kit.tiling import SCHEDULE, kernel, launched, runs, tiled

SHAPES = ("4 4", "5 9", "9 5", "1 1", "1 6", "6 1", "3 0", "0 3", "0 0", "n 3 3", "2 n 7 5")


def factors(x: Term) -> tuple[Term, ...]:
    return tuple([Term(x.builder, each) for each in x.builder.emit_all(tensor.Lu, x.value)])


def matrices(shape: str, dtype: str, seed: int) -> Any:
    """Some with equal numbers, some singular, and some with NaN and infinity here and there."""
    rng = np.random.default_rng(seed)
    sizes = [2 if size == "n" else int(size) for size in shape.split()]
    made = rng.choice([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0], sizes)
    if seed % 2:
        odd = rng.choice([np.nan, np.inf, -np.inf, -0.0], sizes)
        made = np.where(rng.random(sizes) < 0.1, odd, made)
    return made.astype({"f32": np.float32, "f64": np.float64}[dtype])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_bits_are_those_of_the_interpreter(shape: str, dtype: str) -> None:
    func = kernel(factors, f"{shape} {dtype}")
    made = tiled(func)
    assert not made.refused
    for seed in range(6):
        known = {"n": 2} if "n" in shape else {}
        before, after = runs(func, [matrices(shape, dtype, seed)], made.module, known)
        assert difference(before, after) is None, seed


def test_large_matrices_stay_tensors() -> None:
    side = int(LARGE**0.5)
    few, many = [launched(kernel(factors, f"3 {n} {n} f32")) for n in (side - 1, side)]
    assert is_of_tiles(few)
    assert not is_of_tiles(many)


def is_of_tiles(module: Module) -> bool:
    """Whether the only launch of the module, tiled, is one of tiles."""
    made = tile(module, lambda shape: SCHEDULE).module
    verify(made)
    (launch,) = [op for op in made.main.walk() if isinstance(op, step.Launch)]
    return all(isinstance(each.type, View) for each in made[launch.kernel].arguments)
