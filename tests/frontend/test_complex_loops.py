"""Complex numbers in loops and branches: what numpy computes, what the reference does, and all of
it machine code."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

SIZE, STEPS = 16, 5
Function = Callable[[Any, Any], Any]


def numbers(*shape: int) -> np.ndarray:
    source = np.random.default_rng(sum(shape))
    return (source.standard_normal(shape) + 1j * source.standard_normal(shape)) * 0.4


def mandelbrot(xp: Any, z: Any, rows: Any) -> Any:
    def step(i: Any, z: Any) -> Any:
        return xp.where(xp.abs(z) <= 2, z * z + rows[0], z)

    return repeat(xp, 12, step, z)


def waves(xp: Any, z: Any, rows: Any) -> Any:
    """Steps of an equation of waves, by way of frequencies."""

    def step(i: Any, z: Any) -> Any:
        return rows[1] * xp.fft.ifft(rows[0] * xp.fft.fft(z))

    return repeat(xp, STEPS, step, z)


def sums(xp: Any, z: Any, rows: Any) -> Any:
    def step(total: Any, row: Any) -> Any:
        total = total * row + z
        return total, (xp.conj(total), xp.abs(total))

    total, (every, lengths) = scanned(xp, step, z, rows)
    return total, every, lengths


def halvings(xp: Any, z: Any, rows: Any) -> Any:
    """A loop that data end; one carry is a number."""

    def goes_on(state: Any) -> Any:
        return xp.abs(state[0]).sum() > 0.01

    def step(state: Any) -> Any:
        return state[0] * (0.3 + 0.3j), state[1] + 1

    state = (z, 0 if xp is np else bs.asarray(0))
    if xp is not np:
        return bs.while_loop(goes_on, step, state)
    while goes_on(state):
        state = step(state)
    return state


def choices(xp: Any, z: Any, rows: Any) -> Any:
    def step(i: Any, z: Any) -> Any:
        if xp is np:
            return z * 1j if z.real.sum() > 0 else z - rows[0]
        return bs.cond(bs.real(z).sum() > 0, lambda z: z * 1j, lambda z: z - rows[0], z)

    return repeat(xp, STEPS, step, z)


def within_each_other(xp: Any, z: Any, rows: Any) -> Any:
    def step(z: Any, row: Any) -> Any:
        z = repeat(xp, 3, lambda i, z: z * row + i, z)
        return z / (1 + xp.abs(z)), z

    return scanned(xp, step, z, rows)


def products(xp: Any, z: Any, rows: Any) -> Any:
    """A matrix is carried."""
    start = xp.outer(z, xp.conj(z))
    made = repeat(xp, 3, lambda i, m: m @ start * 0.5 + xp.exp(1j * start), start)
    return made, xp.trace(made) if xp is np else bs.linalg.trace(made)


def real_outside(xp: Any, z: Any, rows: Any) -> Any:
    """Complex numbers only while a step runs."""

    def step(i: Any, x: Any) -> Any:
        return xp.imag(xp.exp(1j * x)) + 0.5

    return repeat(xp, STEPS, step, xp.real(z))


def repeat(xp: Any, count: int, step: Any, z: Any) -> Any:
    if xp is not np:
        return bs.fori_loop(0, count, step, z)
    for i in range(count):
        z = step(i, z)
    return z


def scanned(xp: Any, step: Any, state: Any, rows: Any) -> Any:
    if xp is not np:
        return bs.scan(step, state, rows)
    made: list[Any] = []
    for row in rows:
        state, out = step(state, row)
        made.append(out)
    if isinstance(made[0], tuple):
        return state, tuple(np.stack(each) for each in zip(*made, strict=True))
    return state, np.stack(made)


FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    each.__name__: each
    for each in (
        mandelbrot, waves, sums, halvings, choices, within_each_other, products, real_outside,
    )
}  # fmt: skip
DTYPES = {"complex64": 2e-4, "complex128": 1e-10}
WITH_SLOPES = [name for name in FUNCTIONS if name != "halvings"]


def in_brimstone(name: str) -> Function:
    return lambda z, rows: FUNCTIONS[name](bs, z, rows)


def slopes(name: str) -> Function:
    """Gradients of the squares of all results."""

    def loss(z: Any, rows: Any) -> Any:
        made = FUNCTIONS[name](bs, z, rows)
        return sum((bs.abs(each) ** 2).sum() for each in bs.tree_leaves(made))

    return bs.grad(loss, argnums=(0, 1))


def in_lanes(name: str) -> Function:
    """Several starts at once, of the same rows."""
    lanes = bs.vmap(in_brimstone(name), in_axes=(0, None))
    return lambda z, rows: lanes(bs.stack([z, z * 0.5, -z]), rows)


def again(name: str) -> Function:
    """Gradients for which steps are run again."""
    body = bs.checkpoint(in_brimstone(name))

    def loss(z: Any, rows: Any) -> Any:
        return sum((bs.abs(each) ** 2).sum() for each in bs.tree_leaves(body(z, rows)))

    return bs.grad(loss)


MADE: dict[str, Function] = {
    **{name: in_brimstone(name) for name in FUNCTIONS},
    **{f"slopes of {name}": slopes(name) for name in WITH_SLOPES},
    **{f"lanes of {name}": in_lanes(name) for name in FUNCTIONS},
    "slopes of sums again": again("sums"),
}


def results(name: str, device: str, dtype: str) -> list[np.ndarray]:
    with bs.device(device):
        given = [bs.asarray(each.astype(dtype)) for each in (numbers(SIZE), numbers(STEPS, SIZE))]
        return [each.numpy() for each in bs.tree_leaves(bs.jit(MADE[name])(*given))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_agree_with_numpy(name: str, dtype: str) -> None:
    given = numbers(SIZE).astype(dtype), numbers(STEPS, SIZE).astype(dtype)
    expected = bs.tree_leaves(FUNCTIONS[name](np, *given))
    for found, wanted in zip(results(name, "cpu", dtype), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=DTYPES[dtype], atol=DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MADE)
def test_they_agree_with_the_reference(name: str, dtype: str) -> None:
    pairs = zip(results(name, "cpu", dtype), results(name, "reference", dtype), strict=True)
    for found, wanted in pairs:
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=DTYPES[dtype], atol=DTYPES[dtype])


@pytest.mark.parametrize("name", MADE)
def test_all_is_machine_code(name: str) -> None:
    with bs.device("cpu"):
        given = bs.asarray(numbers(SIZE)), bs.asarray(numbers(STEPS, SIZE))
        told = str(bs.jit(MADE[name]).explain(*given))
    assert "machine code" in told
    assert "no machine code" not in told
