"""Products of complex numbers as machine code: along axes, at places, and of windows."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import brimstone as bs

LENGTHS = [0, 1, 3, 64, 65, 130, 4097]
"""Few, a block, a block and one, two and some, and a block of blocks and one."""


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def turns(*shape: int) -> np.ndarray:
    """Numbers near the unit circle, of which many may be multiplied."""
    source = np.random.default_rng(sum(shape))
    return np.exp(1j * source.uniform(-3, 3, shape) + source.normal(size=shape) / 100)


def machine_code(function: Callable[..., Any], *given: Any) -> Callable[..., Any]:
    """The compiled function, no part of which is interpreted."""
    compiled = bs.jit(function)
    assert "interpreted" not in str(compiled.explain(*given))
    return compiled


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("axis", [0, 1])
def test_along_an_axis(axis: int, dtype: str) -> None:
    """The same kernels at all lengths."""
    functions = machine_code(
        lambda z: (bs.prod(z, axis=axis), bs.cumulative_prod(z, axis=axis)),
        bs.asarray(turns(5, 5).astype(dtype)),
    )
    for length in LENGTHS:
        z = turns(*((length, 3) if axis == 0 else (3, length))).astype(dtype)
        wide, error = z.astype(np.complex128), 2 * float(np.finfo(dtype).eps) * (length + 1)
        whole, every = (each.numpy() for each in functions(bs.asarray(z)))
        np.testing.assert_allclose(whole, np.prod(wide, axis), rtol=error)
        np.testing.assert_allclose(every, np.cumprod(wide, axis), rtol=error)


def test_along_several_axes() -> None:
    z = turns(3, 4, 5)
    found = machine_code(lambda z: bs.prod(z, axis=(0, 2)), bs.asarray(z))(bs.asarray(z))
    np.testing.assert_allclose(found.numpy(), np.prod(z, (0, 2)), rtol=1e-14)


def test_the_first_of_a_product_is_no_product_with_one() -> None:
    """Which would make NaN of an infinity, and 0.0 of -0.0."""
    z = np.array([[complex(np.inf, 0), 2], [complex(2, -0.0), complex(1, -0.0)]])

    def products(z: bs.Tensor) -> tuple[bs.Tensor, bs.Tensor]:
        return bs.prod(z, axis=1), bs.cumulative_prod(z, axis=1)

    with bs.device("reference"):
        wanted = products(bs.asarray(z))
    found = machine_code(products, bs.asarray(z))(bs.asarray(z))
    for one, other in zip(found, wanted, strict=True):
        for each in (one.numpy(), other.numpy()):
            infinite, plain = each.reshape(2, -1)[:, -1].tolist()
            assert infinite.real == np.inf
            assert str(plain) == "(2-0j)"


@pytest.mark.parametrize("name", ["prod", "cumulative_prod"])
def test_gradients_of_products(name: str) -> None:
    z = turns(2, 6).astype(np.complex64)
    z[1, 2] = 0

    def loss(z: bs.Tensor) -> bs.Tensor:
        return bs.real(getattr(bs, name)(z, axis=1) * (2 - 1j)).sum()

    found = machine_code(bs.grad(loss), bs.asarray(z))(bs.asarray(z))
    with bs.device("reference"):
        wanted = bs.grad(loss)(bs.asarray(z)).numpy()
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_at_places() -> None:
    """One of which is named twice."""
    z, factors, places = turns(5, 2), turns(4, 2), np.array([3, 0, 3, 4])

    def products(z: bs.Tensor, factors: bs.Tensor, places: bs.Tensor) -> bs.Tensor:
        return z.at[places].multiply(factors)

    given = [bs.asarray(each) for each in (z, factors, places)]
    found = machine_code(products, *given)(*given)
    wanted = z.copy()
    np.multiply.at(wanted, places, factors)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-15)


def test_of_windows() -> None:
    x, kernel = turns(2, 4, 9), turns(6, 2, 3)

    def convolved(x: bs.Tensor, kernel: bs.Tensor) -> bs.Tensor:
        return bs.convolve(x, kernel, stride=2, padding=1, groups=2)

    def loss(x: bs.Tensor, kernel: bs.Tensor) -> bs.Tensor:
        return bs.real(convolved(x, kernel) * (1 - 2j)).sum()

    given = bs.asarray(x), bs.asarray(kernel)
    for function in convolved, bs.grad(loss, argnums=(0, 1)):
        with bs.device("reference"):
            wanted = function(*given)
        found = machine_code(function, *given)(*given)
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for one, other in pairs:
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)
