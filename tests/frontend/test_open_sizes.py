"""Functions with open sizes inside of others, which have sizes of their own for them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

OPEN = {"x": {0: bs.dim("n", 1, 64)}}
X = np.arange(1.0, 4.0)


def squares(x: Any) -> Any:
    return (x * 2 * x).sum()


compiled = bs.jit(squares, dynamic=OPEN)
WAYS: dict[str, Callable[..., Any]] = {
    "grad": lambda f, x: bs.grad(lambda x: f(x) + f(x))(x),
    "its own grad": lambda f, x: bs.grad(f)(x),
    "jvp": lambda f, x: bs.jvp(f, (x,), (x,))[1],
    "vmap": lambda f, x: bs.vmap(f)(bs.stack([x, x + 1])),
    "jit": lambda f, x: bs.jit(lambda x: f(x) + 1)(x),
    "jit of a grad": lambda f, x: bs.jit(bs.grad(f))(x),
    "as open": lambda f, x: bs.jit(lambda x: f(x) + 1, dynamic=OPEN)(x),
    "grad, as open": lambda f, x: bs.jit(bs.grad(f), dynamic=OPEN)(x),
    "less open": lambda f, x: bs.jit(f, dynamic={"x": {0: bs.dim("m", 2, 8)}})(x),
    "cond": lambda f, x: bs.cond(bs.asarray(True), f, lambda x: x.sum(), x),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_the_function(way: str) -> None:
    x = bs.asarray(X)
    found, expected = (WAYS[way](each, x).numpy() for each in (compiled, squares))
    np.testing.assert_allclose(found, expected)


def test_a_history_goes_through_it() -> None:
    x = bs.asarray(X).requires_grad_()
    gradients = compiled(x).backward()
    np.testing.assert_allclose(gradients[x].numpy(), 4 * X)


@pytest.mark.parametrize("other", [bs.dim("m", 0, 64), bs.dim("m", 1, 65)])
def test_a_size_that_may_be_outside_is_refused(other: Any) -> None:
    outer = bs.jit(lambda x: compiled(x) + 1, dynamic={"x": {0: other}})
    with pytest.raises(ValueError, match=r"the size n of x is m, not 1\.\.64"):
        outer(bs.asarray(X))


def test_a_number_outside_is_refused_too() -> None:
    with pytest.raises(ValueError, match="is 99"):
        bs.grad(compiled)(bs.ones(99))


@pytest.mark.parametrize("shift", [1, -1, 5, -7, 0])
def test_what_rolls_and_its_derivative(shift: int) -> None:
    """As far as the size says, which kernels compute from it."""

    def turned(x: bs.Tensor) -> bs.Tensor:
        return (bs.roll(x, shift) * bs.arange(x.shape[0], dtype="float32")).sum()

    derivative = bs.jit(bs.grad(turned), dynamic={"x": {0: bs.dim("n", 0, 64)}})
    for size in (4, 1, 3, 0, 9):
        places = np.arange(size, dtype=np.float32)
        found = derivative(bs.asarray(places))
        assert found.tolist() == np.roll(places, -shift).tolist()
