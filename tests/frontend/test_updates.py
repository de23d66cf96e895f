"""`x.at[key]`: each way to combine, values of every shape, mistakes."""

from copy import copy
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.functions import indexing
from kit.mistakes import Mistake, check

ARRAY = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
WAYS: dict[str, Any] = {
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def x() -> bs.Tensor:
    return bs.asarray(ARRAY)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint64", "complex64"])
@pytest.mark.parametrize("way", WAYS)
def test_values_are_combined_at_repeated_places(way: str, dtype: str) -> None:
    if dtype == "complex64" and way in ("min", "max"):
        return check(Mistake(lambda: getattr(x().astype(dtype).at[0], way)(1), TypeError, way))
    given = x().astype(dtype)
    expected = given.numpy().copy()
    WAYS[way].at(expected, ([0, 1, 0], [1, 1, 1]), np.asarray([2, 1, 3], expected.dtype))
    places = bs.asarray([0, 1, 0]), bs.asarray([1, 1, 1])
    values = bs.asarray([2, 1, 3]).astype(dtype)
    np.testing.assert_array_equal(getattr(given.at[places], way)(values).numpy(), expected)
    assert given.numpy().tolist() == ARRAY.tolist()
    return None


@pytest.mark.parametrize("way", ["set", *WAYS])
def test_masks(way: str) -> None:
    mask = ARRAY > 2
    expected = ARRAY.copy()
    expected[mask] = 7 if way == "set" else WAYS[way](expected[mask], 7)
    np.testing.assert_array_equal(getattr(x().at[bs.asarray(mask)], way)(7).numpy(), expected)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0)])
def test_a_mask_of_size_0_is_nowhere_true(shape: tuple[int, ...]) -> None:
    nowhere = bs.zeros(shape, dtype=bs.bool)
    assert x()[nowhere].shape == (0, *ARRAY.shape[len(shape) :])
    assert x().at[nowhere].add(7).tolist() == ARRAY.tolist()


def test_a_mask_takes_one_value_for_each_place() -> None:
    changed = x().at[x() % 2 == 0].set(bs.asarray([7.0, 8.0, 9.0]))
    assert changed.tolist() == [[7, 1, 8], [3, 9, 5]]
    assert x().at[x() > 9].set(bs.zeros((0,))).tolist() == ARRAY.tolist()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_a_mask_takes_one_value_for_all(shape: tuple[int, ...]) -> None:
    zeros, mask = bs.zeros(shape), bs.ones(shape, dtype=bs.bool)
    assert zeros.at[mask].set(bs.asarray([7.0])).tolist() == np.full(shape, 7.0).tolist()
    rows = bs.zeros((*shape, 2)).at[mask].set(bs.asarray([[7.0, 8.0]]))
    assert rows.tolist() == np.broadcast_to([7.0, 8.0], (*shape, 2)).tolist()
    none = bs.zeros(shape, dtype=bs.bool)
    assert zeros.at[none].set(bs.asarray([7.0])).tolist() == np.zeros(shape).tolist()


@bs.jit
def scaled(x: Any, least: Any, factors: Any) -> Any:
    mask = x > least
    return x.at[mask].set(x[mask] * 3), x.at[mask].multiply(factors)


@pytest.mark.parametrize("least", [-1, 2, 9])
def test_compiled_masks(least: int) -> None:
    mask = least < ARRAY
    factors = np.arange(mask.sum(), dtype=ARRAY.dtype)
    expected = np.where(mask, ARRAY * 3, ARRAY), ARRAY.copy()
    expected[1][mask] *= factors
    for found, right in zip(scaled(x(), least, bs.asarray(factors)), expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), right)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_compiled_masks_of_another_number_of_values(count: int) -> None:
    with pytest.raises(bs.PlaceError):
        scaled(x(), 2, bs.ones(count))[1].numpy()


def test_the_tensor_keeps_its_dtype() -> None:
    assert bs.asarray([1, 2], dtype=bs.int8).at[0].set(bs.asarray(5)).tolist() == [5, 2]
    assert x().astype("float16").at[0].set(np.float64(0.5)).dtype == bs.float16
    assert bs.asarray([True, False]).at[1].set(True).tolist() == [True, True]


def test_old_handles_keep_their_values() -> None:
    first = x()
    second = copy(first)
    first[0] = 9
    assert (first[0, 0].item(), second[0, 0].item()) == (9, 0)
    assert x().at[0].get().tolist() == [0, 1, 2]


MISTAKES = [
    Mistake(lambda: x().at[5].set(0), bs.PlaceError, "index 5"),
    Mistake(lambda: x().at[bs.asarray([7])].set(0), IndexError, "outside axis 0"),
    Mistake(lambda: x().at[0].set(bs.ones(4)), bs.ShapeError, "[4]"),
    Mistake(lambda: x().at[0].set("a"), bs.DTypeError, "str"),
    Mistake(lambda: x().at[x() > 2].set(bs.ones(2)), bs.ShapeError, "2 values are given, and the "),
    Mistake(lambda: x().at[x() > 2].add(bs.ones(4)), ValueError, "the mask is true in 3 places"),
    Mistake(lambda: x().at[x() > 2].set(bs.zeros(0)), bs.ShapeError, "0 values are given"),
    Mistake(lambda: x().at[bs.asarray([True])].set(0), bs.ShapeError, "the mask has shape [1]"),
    Mistake(lambda: (x() > 2).at[0].add(True), bs.DTypeError, "does not take bool"),
    Mistake(lambda: bs.asarray([1]).at[0].add(1.5), bs.DTypeError, "at.add: values of float32"),
    Mistake(lambda: bs.asarray([1]).at[0].set(1.5), bs.DTypeError, "cast one of them"),
    Mistake(lambda: bs.asarray([1]).at[0].max(bs.ones(1)), bs.DTypeError, "a tensor of int64"),
    Mistake(lambda: x().at[0].set(1j), bs.DTypeError, "values of complex64"),
    Mistake(lambda: x().at[bs.asarray([7])].add(1), bs.PlaceError, "at: index 7"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)


def test_a_key_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a mask among other items is true must be computed, and places of the host go up."""
    seen: list[Any] = []

    def seen_part(node: Any, item: Any, axis: int) -> Any:
        seen.append(item)
        return part(node, item, axis)

    part = indexing._part
    monkeypatch.setattr(indexing, "_part", seen_part)
    for key in (np.s_[[0, 1], 1], (np.array([True, False]), 2), np.s_[1, ::2], np.s_[1:, 0]):
        seen.clear()
        expected = ARRAY.copy()
        expected[key] = 7
        np.testing.assert_array_equal(x().at[key].set(7).numpy(), expected)
        assert len(seen) == 2
