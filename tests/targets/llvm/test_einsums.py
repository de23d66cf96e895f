"""Products along any axes, of merged axes too, have machine code and give what numpy does."""

import random

import numpy as np
import pytest

import brimstone as bs
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.targets.llvm.machines import MODELS
from kit.lowered import in_tiles

AXES = "abcdefg"
MACHINES = [MODELS[name] for name in ("avx2", "avx512")]


def drawn(draws: random.Random) -> tuple[str, list[np.ndarray]]:
    """A product of two tensors along axes that both have, in any order, and numbers for it."""
    axes = draws.sample(AXES, len(AXES))
    groups = [
        axes[start : start + draws.choice(few)]
        for start, few in ((0, (0, 0, 1, 2)), (2, (0, 1, 1, 2)), (4, (0, 1, 2)), (6, (0, 1)))
    ]
    batch, summed, left, right = groups
    sides = [[*batch, *summed, *left], [*batch, *summed, *right], [*batch, *left, *right]]
    for side in sides:
        draws.shuffle(side)
    sizes = {axis: draws.choice([2, 3, 4, 5, 8, 16]) for axis in axes}
    numbers = np.random.default_rng(draws.randrange(1 << 30))
    given = [
        numbers.standard_normal([sizes[axis] for axis in side], np.float32) for side in sides[:2]
    ]
    first, second, result = map("".join, sides)
    return f"{first},{second}->{result}", given


@pytest.mark.parametrize("seed", range(48))
@pytest.mark.parametrize("turned", [False, True])
def test_a_product_along_any_axes(seed: int, turned: bool) -> None:
    text, given = drawn(random.Random(seed))

    def function(left: bs.Tensor, right: bs.Tensor) -> bs.Tensor:
        made = bs.einsum(text, left * 2, right)
        return made.T + 1 if turned and made.ndim == 2 else made

    arrays = [bs.asarray(each) for each in given]
    for machine in MACHINES:
        assert not in_tiles(function, *arrays, machine=machine).refused
    with bs.device("cpu"):
        found = bs.jit(function)(*given).numpy()
    expected = np.einsum(text, 2 * given[0], given[1])
    expected = expected.T + 1 if turned and expected.ndim == 2 else expected
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


TURNED = ["dab,da->abd", "dab,dba->abd", "dab,adb->bda", "dab,dba->bda", "ab,cb,ca->cba"]


@pytest.mark.parametrize("text", TURNED)
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "int8"])
def test_products_of_what_is_turned_in_several_ways(text: str, dtype: str) -> None:
    sizes = {"a": 33, "b": 20, "c": 17, "d": 50}
    draws = np.random.default_rng(0)
    sides = text.partition("->")[0].split(",")
    given = [draws.integers(0, 3, [sizes[axis] for axis in side]).astype(dtype) for side in sides]

    def function(*arrays: bs.Tensor) -> bs.Tensor:
        return bs.einsum(text, *arrays)

    arrays = [bs.asarray(each) for each in given]
    for machine in MACHINES:
        made = in_tiles(function, *arrays, machine=machine)
        assert not made.refused
        for kernel in made.kernels:
            bind_cpu(made.module[kernel], machine)
    with bs.device("cpu"):
        np.testing.assert_array_equal(bs.jit(function)(*given).numpy(), np.einsum(text, *given))


@pytest.mark.parametrize("length", [997, 6000])
def test_transforms_of_any_length(length: int) -> None:
    """Their stages are products of merged axes, whose single sizes no array has."""
    transform = bs.jit(bs.fft.rfft)
    line = np.random.default_rng(0).standard_normal((3, length)).astype(np.float32)
    with bs.device("cpu"):
        assert "interpreted" not in {each.does for each in transform.explain(line).kernels}
        found = transform(bs.asarray(line)).numpy()
    expected = np.fft.rfft(line.astype(np.float64))
    assert np.abs(found - expected).max() <= 3e-6 * np.abs(expected).max()


@pytest.mark.parametrize("shape", [(2, 5, 7), (1, 3, 4), (3, 20, 300)])
def test_a_product_of_what_is_padded_whose_single_size_no_array_has(shape: tuple[int, ...]) -> None:
    @bs.jit
    def function(x: bs.Tensor) -> bs.Tensor:
        joined = bs.pad(bs.concat([x, -x], axis=2), [(0, 0), (0, 0), (2, 0)])
        return joined @ joined.swapaxes(1, 2)

    x = np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)
    with bs.device("cpu"):
        assert "interpreted" not in {each.does for each in function.explain(x).kernels}
        np.testing.assert_array_equal(function(x).numpy(), 2 * x @ x.swapaxes(1, 2))
