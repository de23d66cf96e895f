"""Functions of complex numbers as machine code: what the reference computes, to the signs of zeros.

Results of complex64 are compared with those of complex128, which the reference computes.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import brimstone as bs

CIRCULAR = ("sin", "cos", "tan", "asin", "acos", "atan")
HYPERBOLIC = ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
OTHERS = ("sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p")
NAMES = (*CIRCULAR, *HYPERBOLIC, *OTHERS)
UNITS, UNITS_OF_EXP2 = 6, 80
"""By how many units results may differ: of exp2, numpy's are that far off, and angles rounded."""
INF, NAN = np.inf, np.nan


def pairs(parts: list[float], dtype: str) -> Any:
    """Every number of two of these parts, each a number of the dtype."""
    real = np.array(parts, np.finfo(dtype).dtype)
    made = np.empty((len(parts), len(parts)), dtype)
    made.real, made.imag = real[:, None], real
    return made.ravel()


def edges(dtype: str) -> np.ndarray:
    """Zeros, infinities, NaNs, extremes, branch points and plain numbers."""
    limits = np.finfo(dtype)
    least, tiny, most = (
        float(each) for each in (limits.smallest_subnormal, limits.tiny, limits.max)
    )
    plain = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.7, -89.5]
    return pairs([*plain, tiny, -least, most, -most, INF, -INF, NAN], dtype)


def anywhere(dtype: str) -> np.ndarray:
    """Numbers of usual size, of many sizes, on both unit circles about 0 and -1, and near ±1."""
    source = np.random.default_rng(3)
    sizes = 10.0 ** source.uniform(-8, 1.3, (2, 300)) * source.choice([-1, 1], (2, 300))
    circle = np.exp(1j * source.uniform(-np.pi, np.pi, 300))
    close = 10.0 ** source.uniform(-12, -1, (2, 300))
    parts = [
        source.normal(size=300) * 3 + 3j * source.normal(size=300),
        sizes[0] + 1j * sizes[1],
        circle,
        circle - 1,
        source.choice([-1, 1], 300) + close[0] + 1j * close[1],
    ]
    return np.concatenate(parts).astype(dtype)


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


@cache
def compiled(name: str) -> Callable[..., Any]:
    """The function, of both dtypes at once: one step."""
    function = getattr(bs, name)
    return bs.jit(lambda narrow, wide: (function(narrow), function(wide)))


def by_reference(function: Callable[..., Any], *given: Any) -> Any:
    with bs.device("reference"), np.errstate(all="ignore"):
        return function(*map(bs.asarray, given)).numpy()


def found_and_wanted(name: str, of: Callable[[str], np.ndarray]) -> list[Any]:
    """Of both dtypes, what machine code makes of numbers, and what it should."""
    given = of("complex64"), of("complex128")
    found = [each.numpy() for each in compiled(name)(*map(bs.asarray, given))]
    narrow = given[0] if name == "exp2" else given[0].astype(np.complex128)
    wanted = [by_reference(getattr(bs, name), z) for z in (narrow, given[1])]
    return [*zip(found, wanted, strict=True)]


def units_between(found: Any, wanted: Any) -> Any:
    """How far apart numbers are, in units of the last place of the larger part."""
    limits = np.finfo(found.dtype)
    size = np.maximum(np.abs(wanted.real), np.abs(wanted.imag)).clip(limits.tiny)
    unit = np.exp2(np.floor(np.log2(size))) * limits.eps
    apart = np.maximum(np.abs(found.real - wanted.real), np.abs(found.imag - wanted.imag))
    return apart / unit


def assert_same_edges(found: Any, wanted: Any, units: float) -> None:
    """Part by part: NaNs and infinities at the same places, signs, and numbers up to units; what
    is smaller than all normal numbers may be zero."""
    limits = np.finfo(found.dtype)
    for one, other in ((found.real, wanted.real), (found.imag, wanted.imag)):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        told = ~np.isnan(other) & ((other == 0) | (np.abs(other) >= limits.tiny))
        np.testing.assert_array_equal(np.signbit(one)[told], np.signbit(other)[told])
        with np.errstate(over="ignore"):
            rounded = other.astype(one.dtype)
        np.testing.assert_array_equal(np.isinf(one), np.isinf(rounded))
        some = np.isfinite(rounded)
        np.testing.assert_allclose(
            one[some], rounded[some], rtol=units * limits.eps, atol=2 * limits.tiny
        )


@pytest.mark.parametrize("name", NAMES)
def test_at_the_edges(name: str) -> None:
    for found, wanted in found_and_wanted(name, edges):
        assert_same_edges(found, wanted, UNITS_OF_EXP2 if name == "exp2" else UNITS)


@pytest.mark.parametrize("name", NAMES)
def test_anywhere(name: str) -> None:
    for found, wanted in found_and_wanted(name, anywhere):
        assert units_between(found, wanted).max() <= UNITS_OF_EXP2 if name == "exp2" else UNITS


@pytest.mark.parametrize(("name", "centre"), [("log", 0), ("log2", 0), ("log1p", -1)])
def test_little_is_left_of_a_logarithm_on_the_circle(name: str, centre: float) -> None:
    """|z| is 1 but for what rounding lost; of that the real part is made."""
    angles = np.random.default_rng(4).uniform(-np.pi, np.pi, 500)
    z = (np.exp(1j * angles) + centre).astype(np.complex64)
    found = bs.jit(getattr(bs, name))(bs.asarray(z)).numpy()
    wanted = np.log(np.hypot(z.real.astype(float) - centre, z.imag.astype(float)))
    wanted = wanted / np.log(2) if name == "log2" else wanted
    np.testing.assert_allclose(found.real, wanted, rtol=2e-6, atol=1e-15)
    assert 0 < np.abs(wanted).min() < np.abs(wanted).max() < 2e-7


def test_near_zero_the_logarithm_of_more_is_the_number() -> None:
    z = np.array([1e-30 + 1e-20j, -1e-12 + 0j, 3e-9 - 4e-25j, -1e-300 - 1e-310j])
    for device in ("reference", "cpu"):
        with bs.device(device):
            np.testing.assert_allclose(bs.log1p(bs.asarray(z)).numpy(), z, rtol=1e-8)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_that_are_too_large_only_on_the_way(dtype: str) -> None:
    """e to the x is infinite, and half of it, or a small cosine of it, is not."""
    limit = float(np.log(np.finfo(dtype).max))
    z = np.array([limit + 0.3 + 0.8j, limit - 0.1 - 1.5j, 0.4 - limit + 1.5j], dtype)
    scaled, low = (np.e * np.exp(each.astype(np.complex128) - 1) for each in (z, -z))
    wanted = {"exp": scaled, "sinh": (scaled - low) / 2, "cosh": (scaled + low) / 2}
    for name, each in wanted.items():
        found = bs.jit(getattr(bs, name))(bs.asarray(z)).numpy()
        assert np.isfinite(found).all()
        rtol, atol = 1000 * float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
        np.testing.assert_allclose(found, each.astype(dtype), rtol, atol)


POWERS = [
    *[0, -0.0, 1, 2, 3, 5, -1, -2, 0.5, -0.5, 7, 99, -99, 1j, -1j, 1 + 1j, 2.5 - 3j],
    *[complex(2, -0.0), NAN, complex(2, NAN)],
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_powers_at_the_edges(dtype: str) -> None:
    """Of numbers of which one part is infinite and the other NaN, C tells nothing."""
    z = pairs([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.7, 1e30, INF, -INF, NAN], dtype)
    z = z[~((np.isinf(z.real) & np.isnan(z.imag)) | (np.isnan(z.real) & np.isinf(z.imag)))]
    grid: Any = np.meshgrid(z, np.array(POWERS, dtype))
    base, exponent = (each.ravel() for each in grid)
    found = bs.jit(bs.pow)(bs.asarray(base), bs.asarray(exponent)).numpy()
    wanted = by_reference(bs.pow, base, exponent)
    plain = np.isfinite(wanted) & (wanted != 0)
    assert (units_between(found[plain], wanted[plain]) < 400).all()
    for one, other in ((found.real, wanted.real), (found.imag, wanted.imag)):
        np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))
        zero = (other == 0) & (one == 0) & (exponent.real == np.round(exponent.real))
        np.testing.assert_array_equal(np.signbit(one)[zero], np.signbit(other)[zero])


def test_powers_anywhere() -> None:
    source = np.random.default_rng(5)
    z = source.normal(size=400) + 1j * source.normal(size=400)
    others = {
        0: source.integers(-99, 100, 400).astype(complex),
        2: np.full(400, 0.5 + 0j),
        8: (source.normal(size=400) + 1j * source.normal(size=400)) * 2,
    }
    power = bs.jit(bs.pow)
    for factor, exponent in others.items():
        found = power(bs.asarray(z), bs.asarray(exponent)).numpy()
        wanted = by_reference(bs.pow, z, exponent)
        # The logarithm is rounded, so a power is off by units of its size.
        bound = 4 + factor * np.abs(exponent) * (1 + np.abs(np.log(z)))
        assert (units_between(found, wanted) <= bound).all()


def test_whole_powers_are_products() -> None:
    z = np.array([1 + 1j, 2 - 1j, -3j, 1j], np.complex64)
    exponent = np.array([8, 3, -2, 42], np.complex64)
    found = bs.jit(bs.pow)(bs.asarray(z), bs.asarray(exponent)).numpy()
    assert found.tolist() == [16, 2 - 11j, -1 / np.float32(9), -1]


@pytest.mark.parametrize("name", [*NAMES, "pow", "sinc", "logit"])
def test_gradients(name: str) -> None:
    z = np.array([0.3 + 0.2j, -0.4 + 0.7j, 0.6 - 0.1j], np.complex64)
    function = getattr(bs, name)

    def loss(z: bs.Tensor) -> bs.Tensor:
        made = function(z, z * 0.5) if name == "pow" else function(z)
        return bs.real(made * (2 + 1j)).sum()

    gradient = bs.jit(bs.grad(loss))
    given = bs.asarray(z)
    assert {each.does for each in gradient.explain(given).kernels} == {"machine code"}
    wanted = by_reference(bs.grad(loss), z)
    np.testing.assert_allclose(gradient(given).numpy(), wanted, rtol=1e-5)


def test_in_loops_and_branches() -> None:
    z = anywhere("complex128")[:100]

    def step(i: Any, z: Any) -> Any:
        return bs.cond(i < 2, lambda z: bs.sqrt(bs.sin(z) * 0.5), lambda z: bs.tanh(z) ** z, z)

    def steps(z: Any) -> Any:
        return bs.fori_loop(0, 4, step, z)

    found = bs.jit(steps)
    assert "interpreted" not in str(found.explain(bs.asarray(z)))
    np.testing.assert_allclose(found(bs.asarray(z)).numpy(), by_reference(steps, z), rtol=1e-10)
