"""The special functions, against exact sums and products and known values."""

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.tensor import special
from kit.evaluate import evaluate


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """As the interpreter runs it: a division by zero is a number like any other."""
    with np.errstate(all="ignore"):
        yield


EULER = 0.5772156649015328606
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def erf_exactly(y: float) -> Decimal:
    """The Taylor series, to 60 digits: Σ (-1)^k y^(2k+1) / (k! (2k+1)) · 2 / √π."""
    with localcontext() as context:
        context.prec = 90
        exact = Decimal(y)
        power, total, k = exact, exact, 0
        while abs(power) > Decimal(10) ** -80:
            k += 1
            power *= -exact * exact / k
            total += power / (2 * k + 1)
        return total * 2 / PI.sqrt()


@pytest.mark.parametrize(
    "x",
    [
        1e-300,
        1e-10,
        0.1,
        0.3,
        0.4999,
        0.5,
        0.5001,
        0.9,
        0.999,
        1 - 1e-9,
        1 - 2**-53,
        -0.7,
        -0.99999,
    ],
)
def test_erf_inverse_is_good_to_the_last_bits(x: float) -> None:
    y = float(special.erf_inverse(np.array(x)))
    slope = 2 / math.sqrt(math.pi) * math.exp(-y * y)
    error = float(erf_exactly(y) - Decimal(x)) / slope
    assert abs(error) <= 3 * math.ulp(y)


def test_erf_inverse_of_f32_undoes_erf() -> None:
    x = np.linspace(-0.999, 0.999, 101, dtype=np.float32)
    back = evaluate(tensor.Erf, evaluate(tensor.ErfInverse, x))
    assert np.allclose(back, x, rtol=3e-7, atol=0)


@pytest.mark.parametrize("n", [1, 2, 3, 9, 10, 11, 30, 170])
def test_digamma_of_whole_numbers_is_a_harmonic_sum(n: int) -> None:
    wanted = float(sum((Fraction(1, k) for k in range(1, n)), Fraction())) - EULER
    assert abs(special.digamma(np.array(float(n))) - wanted) <= 8 * math.ulp(max(1, abs(wanted)))


KNOWN_DIGAMMA = {
    0.5: -EULER - 2 * math.log(2),
    0.25: -EULER - math.pi / 2 - 3 * math.log(2),
    -0.5: 2 - EULER - 2 * math.log(2),
    -1.5: 2 + 2 / 3 - EULER - 2 * math.log(2),
    1e-8: -1e8 - EULER,
    1e10: math.log(1e10) - 0.5e-10,
    1.4616321449683623: 0.0,
}


@pytest.mark.parametrize("x", KNOWN_DIGAMMA)
def test_digamma_at_known_places(x: float) -> None:
    wanted = KNOWN_DIGAMMA[x]
    assert abs(special.digamma(np.array(x)) - wanted) <= 8 * math.ulp(max(1, abs(wanted)))


def test_digamma_far_below_zero() -> None:
    """ψ(1 - x) - ψ(x) = π / tan(πx), which is 0 at x = 1/2 and its like."""
    x = np.array([-1000.5, -12345.5, -7.5])
    assert np.allclose(special.digamma(x), special.digamma(1 - x), rtol=1e-14, atol=0)


@pytest.mark.parametrize("n", [3, 5, 20, 100, 170])
def test_log_gamma_of_whole_numbers_is_the_log_of_a_factorial(n: int) -> None:
    wanted = math.log(math.factorial(n - 1))
    assert abs(special.log_gamma(np.array(float(n))) - wanted) <= 4 * math.ulp(wanted)


def test_log_gamma_of_halves() -> None:
    halves = special.log_gamma(np.array([0.5, -0.5, -1.5]))
    root = math.sqrt(math.pi)
    wanted = [math.log(root), math.log(2 * root), math.log(4 / 3 * root)]
    assert np.allclose(halves, wanted, rtol=0, atol=1e-15)


def test_log_gamma_beyond_the_largest_double() -> None:
    assert special.log_gamma(np.array(1e308)) == math.inf
