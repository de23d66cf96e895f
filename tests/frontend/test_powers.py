"""Powers that are products, quotients and roots have the values that all powers have."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs

ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan]
FAR = [1e-30, -1e-30, 1e30, 1e-13, 3e-10, 1e9, 1.0, -1.0]


def ops_of(exponent: Any, dtype: str = "float32") -> list[str]:
    """The names of what a power is recorded as, but for numbers and how they spread."""
    text = str(bs.jit(lambda x: x**exponent).lower(bs.ones(3, dtype=dtype)))
    names = [line.split(" = tensor.")[1].split()[0] for line in text.splitlines() if " = " in line]
    return [name for name in names if name not in {"constant", "broadcast"}]


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_small_whole_powers_are_products(dtype: str) -> None:
    for exponent, multiplied in ((1, 0), (2, 1), (3, 2), (4, 2)):
        assert ops_of(exponent, dtype) == ["multiply"] * multiplied
        assert ops_of(float(exponent), dtype) == ["multiply"] * multiplied
    assert ops_of(-1, dtype) == ops_of(-1.0, dtype) == ["divide"]
    assert ops_of(-2, dtype) == ops_of(-2.0, dtype) == ["divide", "multiply"]


def test_halves_are_roots() -> None:
    assert ops_of(0.5) == ["square_root", "add", "equal", "select"]
    assert ops_of(-0.5) == ["add", "reciprocal_square_root", "equal", "select"]
    assert ops_of(0.5, "complex64") == ["power"]


@pytest.mark.parametrize("exponent", [0, 5, -3, 2.5, float("nan"), True, np.float32(3)])
def test_other_powers_are_powers(exponent: Any) -> None:
    assert ops_of(exponent) == ["power"]


def test_integers_to_whole_powers() -> None:
    assert ops_of(3, "int8") == ["multiply", "multiply"]
    assert ops_of(-1, "int8") == ["power"]
    bases = np.arange(-128, 128).astype(np.int8)
    for exponent in range(1, 5):
        found = bs.asarray(bases) ** exponent
        assert found.dtype == bs.int8
        np.testing.assert_array_equal(found.numpy(), bases**exponent)
    assert (bs.asarray(bases) ** 2.0).dtype == bs.float32


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [1, 2, 3, 4, -1, -2, 0.5, -0.5])
def test_all_kinds_of_numbers(exponent: float, dtype: Any, device: str) -> None:
    drawn = np.random.default_rng(0).normal(size=1000) * 10
    bases = np.concatenate([ENDS, FAR, drawn]).astype(dtype)
    found = (bs.asarray(bases, device=device) ** exponent).numpy()
    with np.errstate(all="ignore"):
        exponents = np.full(bases.shape, exponent, np.longdouble)
        expected = np.power(bases.astype(np.longdouble), exponents).astype(dtype)
    ends, rest = slice(len(ENDS)), slice(len(ENDS), None)
    np.testing.assert_array_max_ulp(found[rest], expected[rest], 2)
    np.testing.assert_array_equal(found[ends], expected[ends])
    np.testing.assert_array_equal(np.signbit(found[:4]), np.signbit(expected[:4]))


def cube(x: Any) -> Any:
    return x**3


def test_derivatives_of_any_order() -> None:
    slopes = [cube, lambda x: 3 * x**2, lambda x: 6 * x, lambda x: 6.0 + 0 * x]
    for x in (0.0, -1.5, 2.0):
        function: Any = cube
        for slope in slopes:
            assert function(bs.asarray(x)).item() == pytest.approx(slope(x))
            function = bs.grad(function)
    for exponent, slope in ((-1, -0.0625), (0.5, 0.25), (-0.5, -0.0625)):
        assert bs.grad(lambda x, y=exponent: x**y)(bs.asarray(4.0)).item() == slope
    assert bs.grad(lambda x: x**0.5)(bs.asarray(0.0)).item() == np.inf
