"""Clipped gradients, against numpy."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import train

A, B = np.array([[3.0, -4.0], [0.5, 0.0]], np.float32), np.array([12.0, 0.1], np.float32)


def gradients(dtype: Any = bs.float32) -> dict[str, Any]:
    return {"a": bs.asarray(A, dtype=dtype), "none": None, "b": [bs.asarray(B, dtype=dtype)]}


def test_values_are_brought_between_bounds() -> None:
    found = train.clip_by_value(gradients(), 2.5)
    np.testing.assert_array_equal(found["a"].numpy(), np.clip(A, -2.5, 2.5))
    assert found["none"] is None
    found = bs.jit(train.clip_by_value)(gradients(bs.float16), 2.5)
    np.testing.assert_array_equal(found["b"][0].numpy(), np.clip(B, -2.5, 2.5).astype(np.float16))


@pytest.mark.parametrize("maximum", [1.0, 5.5, 100.0])
def test_each_leaf_has_a_norm_of_its_own(maximum: float) -> None:
    found = train.clip_by_norm(gradients(), maximum)
    for array, leaf in ((A, found["a"]), (B, found["b"][0])):
        expected = array * min(1, maximum / np.linalg.norm(array))
        np.testing.assert_allclose(leaf.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("maximum", [1.0, 100.0])
def test_all_leaves_have_one_norm(maximum: float) -> None:
    norm = np.sqrt(np.sum(A * A) + np.sum(B * B))
    found, told = bs.jit(train.clip_by_global_norm)(gradients(), maximum)
    assert float(told) == pytest.approx(norm)
    np.testing.assert_allclose(found["a"].numpy(), A * min(1, maximum / norm), rtol=1e-6)
    np.testing.assert_allclose(found["b"][0].numpy(), B * min(1, maximum / norm), rtol=1e-6)
    assert found["none"] is None


def test_what_is_small_enough_keeps_its_bits() -> None:
    found, _ = train.clip_by_global_norm(gradients(), 1000.0)
    np.testing.assert_array_equal(found["a"].numpy(), A)


def test_norms_of_narrow_floats_do_not_overflow() -> None:
    found, norm = train.clip_by_global_norm(bs.full(4, 60000.0, dtype=bs.float16), 1.0)
    assert float(norm) == pytest.approx(120000, rel=1e-2)
    assert found.dtype == bs.float16
    assert found.tolist() == [0.5] * 4


def test_no_gradient_at_all_is_none_afterwards() -> None:
    found = train.clip_by_norm({"a": bs.zeros(3)}, 1.0)
    assert found["a"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["clip_by_value", "clip_by_norm", "clip_by_global_norm"])
def test_limits_are_above_zero(name: str) -> None:
    with pytest.raises(bs.ArgumentError, match=name):
        getattr(train, name)(gradients(), 0.0)


def test_a_tree_without_gradients_has_no_norm() -> None:
    with pytest.raises(bs.ArgumentError, match="no gradients"):
        train.global_norm({"a": None})
