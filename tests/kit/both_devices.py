"""Tests of kernels written by hand: the same on the interpreter and as machine code."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import brimstone as bs

RNG = np.random.default_rng(5)


def on_both_devices() -> Any:
    """A fixture under which every test of a module runs once on each device."""

    @pytest.fixture(autouse=True, params=["reference", "cpu"])
    def device(request: pytest.FixtureRequest) -> Iterator[str]:
        with bs.device(request.param):
            yield request.param

    return device


def floats(*shape: int) -> np.ndarray:
    """Floats that no function is undefined for."""
    return RNG.uniform(0.25, 0.75, shape).astype(np.float32)


def close(found: bs.Tensor, expected: Any, tolerance: float = 2e-6) -> None:
    """Assert that the numbers are alike."""
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=1e-7)
