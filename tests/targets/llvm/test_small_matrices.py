"""Small matrices: what Python does for each, and that results are what they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.tensor.factor import LARGE, eliminated
from kit.work import calls_of

RNG = np.random.default_rng(0)
MATRIX, COLUMN = RNG.standard_normal((6, 6)), RNG.standard_normal(6)
SIDE = int(LARGE**0.5)
SHAPES = (0, 0), (1, 1), (3, 3), (5, 9), (9, 5), (1, 4), (40, 40), (2, 3, 7, 7), (0, 4, 4)

MOST: dict[str, tuple[int, Callable[..., Any]]] = {
    "solve": (230, bs.linalg.solve),
    "inv": (260, lambda a, _: bs.linalg.inv(a)),
    "qr": (300, lambda a, _: bs.linalg.qr(a).Q),
    "eigvalsh": (300, lambda a, _: bs.linalg.eigvalsh(a)),
    "det": (70, lambda a, _: bs.linalg.det(a)),
    "slogdet": (90, lambda a, _: bs.linalg.slogdet(a).logabsdet),
    "lu": (90, lambda a, _: bs.linalg.lu(a).U),
}
"""So many calls of functions a call takes at most, in which nothing is planned or checked again."""


@pytest.fixture(autouse=True)
def _cpu() -> Any:
    with bs.device("cpu"):
        yield


@pytest.mark.parametrize("name", MOST)
def test_a_call_is_little_of_python(name: str) -> None:
    most, function = MOST[name]
    given, compiled = (bs.asarray(MATRIX), bs.asarray(COLUMN)), bs.jit(function)

    def call() -> Any:
        return compiled(*given).numpy()

    np.testing.assert_allclose(call(), function(*given).numpy(), rtol=1e-9, atol=1e-12)
    call()
    assert min(calls_of(call) for _ in range(5)) < most


def test_a_round_of_a_loop_is_little_of_python() -> None:
    def work(count: int) -> int:
        def loop(a: Any, b: Any) -> Any:
            return bs.fori_loop(0, count, lambda _, x: bs.linalg.solve(a, x), b)

        compiled, given = bs.jit(loop), (bs.asarray(MATRIX), bs.asarray(COLUMN))
        for _ in range(3):
            found = compiled(*given).numpy()
        expected = np.linalg.matrix_power(np.linalg.inv(MATRIX), count) @ COLUMN
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        return min(calls_of(lambda: compiled(*given).numpy()) for _ in range(3))

    assert work(20) - work(10) < 10 * 130


def test_memory_of_rounds_that_is_large_and_in_loops_of_loops() -> None:
    def step(a: Any, x: Any) -> Any:
        inner = bs.fori_loop(0, 2, lambda _, y: bs.linalg.solve(a, y) + 1, x)
        return bs.cond(inner.sum() > 0, lambda: bs.linalg.solve(a, inner), lambda: inner - 1)

    def plain(a: Any, x: Any) -> Any:
        for _ in range(3):
            for _ in range(2):
                x = np.linalg.solve(a, x) + 1
            x = np.linalg.solve(a, x) if x.sum() > 0 else x - 1
        return x

    def loop(a: Any, x: Any) -> Any:
        return bs.fori_loop(0, 3, lambda _, y: step(a, y), x)

    for side in (3, 100):  # the arrays of the latter are not kept from one round to the next
        a = RNG.standard_normal((side, side)) + side * np.eye(side)
        x = RNG.standard_normal((side, side))
        found = bs.jit(loop)(bs.asarray(a), bs.asarray(x)).numpy()
        np.testing.assert_allclose(found, plain(a, x), rtol=1e-9, atol=1e-12)


def test_results_that_show_one_array_or_an_argument_or_a_part() -> None:
    def several(a: Any, b: Any) -> Any:
        x = bs.linalg.solve(a, b)
        return x, x.reshape(2, 3), a, x[:2], bs.linalg.solve(a, x), x + 1

    given = bs.asarray(MATRIX), bs.asarray(COLUMN)
    expected = [each.numpy() for each in several(*given)]
    compiled = bs.jit(several)
    kept = [compiled(*given) for _ in range(3)]
    for made in kept:
        for each, one in zip(made, expected, strict=True):
            np.testing.assert_allclose(each.numpy(), one, rtol=1e-12)


def test_a_result_is_what_another_step_may_be_given_for_good() -> None:
    solve = bs.jit(bs.linalg.solve)
    more = bs.jit(lambda x: x + 1, donate=(0,))
    x = solve(bs.asarray(MATRIX), bs.asarray(COLUMN))
    expected = np.linalg.solve(MATRIX, COLUMN)
    np.testing.assert_allclose(more(x).numpy(), expected + 1, rtol=1e-12)
    again = solve(bs.asarray(MATRIX), bs.asarray(COLUMN))
    seen = again.numpy()
    more(again)
    np.testing.assert_allclose(seen, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("kind", ["plain", "singular", "zero", "odd"])
def test_factors_have_the_bits_of_the_interpreter(dtype: str, kind: str) -> None:
    compiled = bs.jit(bs.linalg.lu)
    for shape in SHAPES:
        x = given(shape, dtype, kind)
        with np.errstate(all="ignore"):
            factors, rows = eliminated(x)
        found = compiled(bs.asarray(x))
        order = np.arange(shape[-2])[:, None] == rows[..., None, :]
        np.testing.assert_array_equal(found.P.numpy(), order)
        count = min(shape[-2:])
        np.testing.assert_array_equal(found.U.numpy(), np.triu(factors)[..., :count, :])
        lower = np.tril(factors, -1)[..., :count] + np.eye(shape[-2], count, dtype=dtype)
        np.testing.assert_array_equal(found.L.numpy(), lower)


def given(shape: tuple[int, ...], dtype: str, kind: str) -> Any:
    """Matrices, of which some are singular, or have NaN and infinity among their numbers."""
    x = RNG.standard_normal(shape).astype(dtype)
    if dtype[0] == "c":
        x = x + np.asarray(1j, dtype) * RNG.standard_normal(shape).astype(dtype)
    if kind == "singular":
        x[..., -1:] = x[..., :1]
    elif kind == "odd":
        x[RNG.random(shape) < 0.1] = np.nan
        x[RNG.random(shape) < 0.1] = -np.inf
    return x * 0 if kind == "zero" else x


@pytest.mark.parametrize("side", [SIDE - 1, SIDE])
def test_determinants_of_matrices_that_are_almost_large_and_large(side: int) -> None:
    x = RNG.standard_normal((side, side))
    sign, size = np.linalg.slogdet(x)
    found = bs.jit(bs.linalg.slogdet)(bs.asarray(x))
    assert found.sign.item() == sign
    np.testing.assert_allclose(found.logabsdet.item(), size, rtol=1e-10)


def test_what_numpy_does_is_told() -> None:
    told = str(bs.jit(bs.linalg.det).explain(bs.asarray(MATRIX)))
    assert "where it is large, numpy is quicker" in told
    assert f"≥ {LARGE}" in told


def test_singular_matrices_are_told_of_in_each_call_and_round() -> None:
    solve = bs.jit(bs.linalg.solve)
    for _ in range(3):
        with pytest.raises(bs.OperationFailed, match="Singular matrix"):
            solve(bs.zeros((2, 2)), bs.ones(2)).numpy()
        np.testing.assert_allclose(solve(bs.eye(2), bs.ones(2)).numpy(), [1, 1])

    def loop(a: Any, b: Any) -> Any:
        return bs.fori_loop(0, 3, lambda i, x: bs.linalg.solve(a * (2 - i), x), b)

    with pytest.raises(bs.OperationFailed, match="Singular matrix"):
        bs.jit(loop)(bs.eye(2), bs.ones(2)).numpy()
