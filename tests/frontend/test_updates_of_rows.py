"""Rows that indices name are written whole: as numpy writes them, and with their derivatives."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import tensor as ops

WAYS = {
    "set": None, "add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
KEYS: dict[str, Any] = {
    "rows": np.array([3, 0, 3, -1]),
    "no rows": np.zeros(0, np.int64),
    "a row": 2,
    "the last row": -1,
    "rows of rows": (slice(None), np.array([[1, -2], [0, 1]])),
    "columns": (slice(None), slice(None), np.array([2, 2, 0])),
    "pairs": (np.array([3, 0, 3]), np.array([1, 1, 1])),
    "pairs, one the same": (np.array([3, 0, 3]), 1),
    "pairs in the middle": (slice(None), np.array([0, 1, 0]), np.array([1, 2, 1])),
    "elements": (np.array([3, 0, 3]), np.array([1, 2, 1]), np.array([1, 0, 1])),
}
DRAWS = np.random.default_rng(3)


def given(rows: int = 5) -> np.ndarray:
    return DRAWS.standard_normal((rows, 4, 3)).astype(np.float32)


def written(x: np.ndarray, key: Any, way: str, values: Any) -> np.ndarray:
    made = x.copy()
    if way == "set":
        made[key] = values
    else:
        WAYS[way].at(made, key, values)
    return made


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("one", [False, True])
def test_rows_are_written_as_in_numpy(key: Any, way: str, one: bool) -> None:
    traced: list[int] = []

    def update(x: Any, values: Any) -> Any:
        traced.append(1)
        return getattr(x.at[key], way)(values)

    step = bs.jit(update)
    for rows in (5, 7, 40):
        x = given(rows)
        values = np.float32(0.3) if one else DRAWS.standard_normal(x[key].shape, np.float32)
        expected = written(x, key, way, values)
        for function in (update, step):
            found = function(bs.asarray(x), bs.asarray(values)).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert len(traced) == 4


def test_a_row_is_one_update() -> None:
    step = bs.jit(lambda x, at, values: x.at[at].set(values))
    arrays = bs.zeros((50, 64)), bs.zeros(7, dtype=bs.int64), bs.zeros((7, 64))
    scatter = next(op for op in step.lower(*arrays).ir.main.walk() if isinstance(op, ops.Scatter))
    assert scatter.indices.type.shape[-1] == 1 and scatter.updates.type.rank == 2


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("way", WAYS)
def test_derivatives_are_those_of_differences(key: Any, way: str) -> None:
    x, weights = given().astype(np.float64), given().astype(np.float64)
    values = DRAWS.standard_normal(x[key].shape)

    def total(x: Any, values: Any) -> Any:
        return (getattr(x.at[key], way)(values) * weights).sum()

    found = bs.grad(total, argnums=(0, 1))(bs.asarray(x), bs.asarray(values))
    directions = DRAWS.standard_normal(x.shape), DRAWS.standard_normal(values.shape)
    step = 1e-6
    ends = [
        np.sum(weights * written(x + sign * directions[0], key, way, values + sign * directions[1]))
        for sign in (step, -step)
    ]
    slope = sum([np.sum(each.numpy() * way) for each, way in zip(found, directions, strict=True)])
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-7)


def test_rows_of_each_lane() -> None:
    x, at = given(), np.array([[1, 1], [0, 3], [2, 0], [3, 3], [0, 1]])
    values = DRAWS.standard_normal((5, 2, 3)).astype(np.float32)
    found = bs.vmap(lambda x, at, values: x.at[at].add(values))(*map(bs.asarray, (x, at, values)))
    expected = [written(*each[:2], "add", each[2]) for each in zip(x, at, values, strict=True)]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("key", [np.array([0, 4]), (slice(None), np.array([4]))])
def test_places_outside_are_told(key: Any) -> None:
    step = bs.jit(
        lambda x, at: x.at[at].set(0.0) if isinstance(key, np.ndarray) else x.at[:, at].set(0.0)
    )
    at = key if isinstance(key, np.ndarray) else key[1]
    with pytest.raises(bs.PlaceError, match="index 4"):
        step(bs.zeros((4, 4)), bs.asarray(at)).sync()
