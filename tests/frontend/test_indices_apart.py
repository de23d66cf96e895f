"""Indices along axes that do not lie side by side: what numpy picks, writes and refuses."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs

DRAWS = np.random.default_rng(5)
AT, ALSO = np.array([[3, 0, -1], [2, 2, 1]]), np.array([0, 2, -3])
KEYS: dict[str, Any] = {
    "first and last": (AT, slice(None), ALSO),
    "an integer": (1, slice(None), ALSO),
    "an integer behind": (AT, slice(None), -1),
    "in steps": (AT, slice(None, None, 2), ALSO),
    "backwards": (AT, slice(3, 0, -1), ALSO),
    "of four axes": (slice(1, None), AT, slice(None), ALSO),
    "a new axis": (AT, None, slice(None), ALSO),
    "behind the dots": (ALSO, ..., AT),
    "nothing": (np.zeros(0, np.int64), slice(None), ALSO[:0]),
}


def given(key: Any, rows: int = 5) -> np.ndarray:
    of_four = len([each for each in key if each is not None]) == 4
    return DRAWS.standard_normal((4, 5, 6, 7) if of_four else (rows, 6, 4)).astype(np.float32)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_what_is_picked_and_written_is_numpys(key: Any) -> None:
    pick = bs.jit(lambda x: x[key])
    add = bs.jit(lambda x, values: x.at[key].add(values))
    for rows in (5, 9):
        x = given(key, rows)
        expected = x[key]
        for function in (pick, lambda x: x[key]):
            np.testing.assert_array_equal(function(bs.asarray(x)).numpy(), expected)
        values = DRAWS.standard_normal(expected.shape).astype(np.float32)
        written, placed = x.copy(), x.copy()
        np.add.at(written, key, values)
        placed[key] = values
        np.testing.assert_allclose(add(bs.asarray(x), bs.asarray(values)).numpy(), written, 1e-6)
        found = bs.asarray(x).at[key].set(bs.asarray(values))
        np.testing.assert_array_equal(found.numpy(), placed)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_gradients_go_back_to_where_elements_were(key: Any) -> None:
    x = given(key)
    weights = DRAWS.standard_normal(x[key].shape).astype(np.float32)
    expected = np.zeros_like(x)
    np.add.at(expected, key, weights)
    found = bs.grad(lambda x: (x[key] * weights).sum())(bs.asarray(x))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_places_outside_are_told_with_their_axis() -> None:
    x = bs.zeros((4, 5, 6))
    for bad, axis in (
        ((bs.asarray([4]), bs.asarray([0])), 0),
        ((bs.asarray([0]), bs.asarray([-7])), 2),
    ):
        for function in (lambda x, i, j: x[i, :, j], lambda x, i, j: x.at[i, :, j].set(1.0)):
            with pytest.raises(bs.PlaceError, match=f"outside axis {axis} of size"):
                function(x, *bad).sync()


def test_they_have_machine_code() -> None:
    pick = bs.jit(lambda x, i, j: x[i, :, j])
    given = bs.zeros((8, 9, 10)), bs.asarray([1, 2, 3]), bs.asarray([0, 0, 9])
    with bs.device("cpu"):
        assert "interpreted" not in {kernel.does for kernel in pick.explain(*given).kernels}


@pytest.mark.parametrize("shape", [(4, 5, 6), (3, 33, 17), (5, 4, 130), (2, 6, 7, 9)])
def test_each_lane_has_indices_of_its_own(shape: tuple[int, ...]) -> None:
    x = DRAWS.standard_normal(shape).astype(np.float32)
    at = DRAWS.integers(-4, 4, (shape[0], 3))

    def picked(x: Any, at: Any) -> Any:
        return x[:, at]

    def both(x: Any, at: Any) -> Any:
        derived = bs.grad(lambda x, at: (picked(x, at) ** 2).sum())(x, at)
        return picked(x, at), derived, x.at[..., at].add(1.0)

    function = bs.jit(bs.vmap(both))
    found = [each.numpy() for each in function(bs.asarray(x), bs.asarray(at))]
    derived, added = np.zeros_like(x), x.copy()
    for lane, places in enumerate(at):
        key: Any = (slice(None), places)
        np.add.at(derived[lane], key, 2 * picked(x[lane], places))
        key = (..., places)
        np.add.at(added[lane], key, 1.0)
    expected = np.stack([picked(*lane) for lane in zip(x, at, strict=True)])
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_allclose(found[1], derived, rtol=1e-6)
    np.testing.assert_allclose(found[2], added, rtol=1e-6)
    if len(shape) == 3:
        with bs.device("cpu"):
            told = function.explain(bs.asarray(x), bs.asarray(at)).kernels
        assert "interpreted" not in {kernel.does for kernel in told}
