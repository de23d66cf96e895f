"""`x.at[key]` where slices and integers name a block: what numpy does, with no place looked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

BLOCKS: list[Any] = [
    np.s_[2], np.s_[:, 0], np.s_[1:], np.s_[:-1, 1:], np.s_[1:, 1:2], np.s_[::-1], np.s_[3:1:-1],
    np.s_[:0], np.s_[4:1], np.s_[..., -1], np.s_[None, 1], np.s_[:], np.s_[1, 2],
    np.s_[-1:, None, :], np.s_[5:9, 1], np.s_[...],
]  # fmt: skip
OTHERS: list[Any] = [np.s_[::2], np.s_[::-3, 1:], np.s_[1:6:2, ::2]]
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda old, new: new,
    "add": lambda old, new: old + new,
    "multiply": lambda old, new: old * new,
    "min": np.minimum,
    "max": np.maximum,
}


def expected(x: np.ndarray, key: Any, way: str, values: np.ndarray) -> np.ndarray:
    changed = x.copy()
    with np.errstate(over="ignore"):
        changed[key] = WAYS[way](changed[key], values)
    return changed


def given(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=shape) * 20).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64", "bool"])
@pytest.mark.parametrize("key", [*BLOCKS, *OTHERS], ids=str)
def test_blocks_are_changed_as_by_numpy(key: Any, dtype: str) -> None:
    x = given(dtype, (6, 4))
    shape = x[key].shape
    for way in WAYS:
        if (dtype == "bool" and way != "set") or (dtype == "complex64" and way in ("min", "max")):
            continue
        for values in (given(dtype, (), 1), given(dtype, shape, 2), given(dtype, shape[-1:], 3)):

            def changed(x: Any, values: Any, way: str = way) -> Any:
                return getattr(x.at[key], way)(values)

            known = expected(x, key, way, values)
            for function in (changed, bs.jit(changed)):
                found = function(bs.asarray(x), bs.asarray(values))
                np.testing.assert_array_equal(found.numpy(), known)


def test_values_that_would_not_do_elsewhere() -> None:
    """What is beside the block has no part in it, whatever it is."""
    x = np.array([np.nan, np.inf, -0.0, 1, 2])
    for way, combined in WAYS.items():
        found = getattr(bs.asarray(x).at[3:], way)(bs.asarray([np.inf, 3.0])).numpy()
        np.testing.assert_array_equal(found[:3], x[:3])
        assert np.signbit(found[2])
        np.testing.assert_array_equal(found[3:], combined(x[3:], np.array([np.inf, 3.0])))


@pytest.mark.parametrize("key", BLOCKS, ids=str)
@pytest.mark.parametrize("way", ["set", "add", "multiply"])
def test_gradients(key: Any, way: str) -> None:
    x, weights = given("float64", (6, 4)), given("float64", (6, 4), 1)
    values = given("float64", x[key].shape, 2)

    def weighted(x: Any, values: Any) -> Any:
        return (getattr(x.at[key], way)(values) * bs.asarray(weights)).sum()

    by_x, by_values = bs.grad(weighted, argnums=(0, 1))(bs.asarray(x), bs.asarray(values))
    factor = {"set": 0.0, "add": 1.0, "multiply": values}[way]
    there = weights.copy()
    there[key] = weights[key] * factor
    np.testing.assert_allclose(by_x.numpy(), there)
    own = {"set": 1.0, "add": 1.0, "multiply": x[key]}[way]
    np.testing.assert_allclose(by_values.numpy(), weights[key] * own)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("values", [2.0, [2.0, 3.0]])
def test_gradients_beside_what_is_not_finite(way: str, values: Any) -> None:
    x = bs.asarray([np.inf, np.nan, 1.0, 5.0])

    def total(x: Any, values: Any) -> Any:
        return getattr(x.at[2:], way)(values)[2:].sum()

    by_x, by_values = bs.grad(total, argnums=(0, 1))(x, bs.asarray(values))
    assert by_x.numpy()[:2].tolist() == [0, 0]
    assert np.isfinite(by_values.numpy()).all()
    assert np.isfinite(by_x.numpy()).all()


def test_sizes_are_left_open() -> None:
    traced: list[int] = []

    @bs.jit
    def step(x: Any) -> Any:
        traced.append(1)
        return x.at[0].set(1), x.at[:, :-1].multiply(2), x.at[-1].set(3)

    for rows in (5, 7, 2, 300):
        x = given("float32", (rows, 3))
        found = [each.numpy() for each in step(bs.asarray(x))]
        ways = [(np.s_[0], "set", 1), (np.s_[:, :-1], "multiply", 2)]
        for (key, way, values), mine in zip([*ways, (np.s_[-1], "set", 3)], found, strict=True):
            known = expected(x, key, way, np.asarray(values, np.float32))
            np.testing.assert_array_equal(mine, known)
    assert len(traced) == 1


def test_a_place_that_a_shorter_one_has_not() -> None:
    step = bs.jit(lambda x: x.at[2].set(1))
    assert step(bs.zeros((4, 2))).numpy()[2].tolist() == [1, 1]
    with pytest.raises(IndexError):
        step(bs.zeros((2, 2))).numpy()


def test_it_is_a_map() -> None:
    """One kernel, also with what is done around it."""
    step = bs.jit(lambda x: bs.exp((x * 2).at[1:, 1:].set(0)) + 1)
    with bs.device("cpu"):
        told = str(step.explain(bs.zeros((1000, 30))))
    assert "1 kernel: machine code" in told
