"""Small matrices: what Python does for each, and that results are what they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.tensor.factor import LARGE, eliminated, positive_factor
from brimstone.ir.tensor.solve import solved, substituted
from kit.work import calls_of

RNG = np.random.default_rng(0)
MATRIX, COLUMN = RNG.standard_normal((6, 6)), RNG.standard_normal(6)
SIDE = int(LARGE**0.5)
SHAPES = (0, 0), (1, 1), (3, 3), (5, 9), (9, 5), (1, 4), (40, 40), (2, 3, 7, 7), (0, 4, 4)

MOST: dict[str, tuple[int, Callable[..., Any]]] = {
    "solve": (70, bs.linalg.solve),
    "inv": (70, lambda a, _: bs.linalg.inv(a)),
    "triangular": (70, lambda a, b: bs.linalg.solve_triangular(a, b, upper=True)),
    "cholesky": (90, lambda a, _: bs.linalg.cholesky(a @ a.mT)),
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


def test_a_round_of_a_loop_is_nothing_of_python() -> None:
    def work(count: int) -> int:
        def loop(a: Any, b: Any) -> Any:
            return bs.fori_loop(0, count, lambda _, x: bs.linalg.solve(a, x), b)

        compiled, given = bs.jit(loop), (bs.asarray(MATRIX), bs.asarray(COLUMN))
        for _ in range(3):
            found = compiled(*given).numpy()
        expected = np.linalg.matrix_power(np.linalg.inv(MATRIX), count) @ COLUMN
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        return min(calls_of(lambda: compiled(*given).numpy()) for _ in range(3))

    assert work(20) == work(10)


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["plain", "odd"])
def test_solutions_have_the_bits_of_the_interpreter(dtype: str, kind: str) -> None:
    solve = bs.jit(bs.linalg.solve)
    for side, count in (0, 2), (1, 1), (3, 0), (3, 1), (7, 7), (40, 19):
        for stack in (), (2, 3), (0,):
            shape = (*stack, side, side)
            x, right = given(shape, dtype, kind), given((*stack, side, count), dtype, "plain")
            arrays = bs.asarray(x), bs.asarray(right)
            with np.errstate(all="ignore"):
                expected = solved(x, right)
                triangles = [substituted(x, right, lower, unit) for lower, unit in EACH]
            np.testing.assert_array_equal(solve(*arrays).numpy(), expected)
            for made, other in zip(in_triangles(*arrays), triangles, strict=True):
                np.testing.assert_array_equal(made.numpy(), other)


EACH = [(lower, unit) for lower in (False, True) for unit in (False, True)]


@bs.jit
def in_triangles(x: Any, right: Any) -> Any:
    def of(lower: bool, unit: bool) -> Any:
        named = {"upper": not lower, "unit_diagonal": unit}
        return bs.linalg.solve_triangular(x, right, **named)

    return [of(*each) for each in EACH]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cholesky_has_the_bits_of_the_interpreter(dtype: str) -> None:
    compiled = bs.jit(bs.linalg.cholesky)
    for shape in (0, 0), (1, 1), (3, 3), (2, 3, 7, 7), (0, 4, 4), (40, 40):
        x = given(shape, dtype, "plain")
        x = x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1], dtype=dtype)
        x = (x + np.swapaxes(x, -1, -2)) / 2
        found = compiled(bs.asarray(x)).numpy()
        np.testing.assert_array_equal(found, positive_factor(x))
        np.testing.assert_allclose(found, np.linalg.cholesky(x), rtol=1e-3, atol=1e-4)


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


def test_the_line_of_a_singular_matrix_is_its_own() -> None:
    def both(a: Any, b: Any, x: Any) -> Any:
        first = bs.linalg.solve(a, x)
        return first, bs.linalg.solve(b, x)

    compiled, begin = bs.jit(both), both.__code__.co_firstlineno
    one, zero, x = bs.eye(2), bs.zeros((2, 2)), bs.ones(2)
    for matrices, line in (((one, zero), begin + 2), ((zero, one), begin + 1)):
        with pytest.raises(bs.OperationFailed, match=r"^solve: Singular matrix") as caught:
            compiled(*matrices, x)[0].sync()
        assert f"{__file__}:{line}" in str(caught.value)


NOT_POSITIVE = np.array([np.eye(3), np.diag([1.0, -1.0, 1.0])])


def test_matrices_that_are_not_positive_are_told_of() -> None:
    compiled = bs.jit(bs.linalg.cholesky)
    for _ in range(2):
        with pytest.raises(bs.OperationFailed, match=r"^cholesky: Matrix is not positive definite"):
            compiled(bs.asarray(NOT_POSITIVE)).sync()
        np.testing.assert_array_equal(compiled(bs.eye(3)).numpy(), np.eye(3))
    with pytest.raises(bs.OperationFailed, match=r"^triangular_solve: Singular matrix"):
        bs.linalg.solve_triangular(bs.zeros((2, 2)), bs.ones(2), upper=True).sync()


def filtered(p: Any, values: Any) -> Any:
    """What a Kalman filter of a position and a speed makes of values that it sees."""
    move, seen = bs.asarray([[1.0, 0.1], [0.0, 1.0]]), bs.asarray([[1.0, 0.0]])

    def body(carry: Any, value: Any) -> Any:
        mean, cov = carry
        mean, cov = move @ mean, move @ cov @ move.T + bs.exp(p) * bs.eye(2)
        spread = seen @ cov @ seen.T + bs.eye(1)
        gain, error = bs.linalg.solve(spread, seen @ cov).T, value - seen @ mean
        size = bs.linalg.slogdet(spread).logabsdet + error @ bs.linalg.solve(spread, error)
        return (mean + gain @ error, cov - gain @ spread @ gain.T), size

    return bs.scan(body, (bs.zeros(2), bs.eye(2)), values)[1].sum()


def in_numpy(p: float, values: Any) -> float:
    """The same, written by hand."""
    move, total = np.array([[1.0, 0.1], [0.0, 1.0]]), 0.0
    mean, cov = np.zeros(2), np.eye(2)
    for value in values:
        mean, cov = move @ mean, move @ cov @ move.T + np.exp(p) * np.eye(2)
        spread, error = cov[0, 0] + 1, value[0] - mean[0]
        gain = cov[0] / spread
        total += np.log(spread) + error**2 / spread
        mean, cov = mean + gain * error, cov - np.outer(gain, gain) * spread
    return float(total)


def test_loops_with_equations_and_their_gradients_are_machine_code() -> None:
    values = RNG.standard_normal((2, 9, 1)).astype(np.float32)
    lanes = bs.vmap(filtered, in_axes=(None, 0))
    both = bs.jit(bs.value_and_grad(lambda p, values: lanes(p, values).sum()))
    value, slope = both(bs.asarray(-2.0), values)
    middle, up, down = [
        sum(in_numpy(-2.0 + change, each) for each in values) for change in (0, 1e-5, -1e-5)
    ]
    np.testing.assert_allclose(value.item(), middle, rtol=1e-4)
    np.testing.assert_allclose(slope.item(), (up - down) / 2e-5, rtol=1e-3)
    assert "interpreted" not in str(both.explain(bs.asarray(-2.0), values))


def test_gradients_of_small_matrices_are_machine_code() -> None:
    def all_of(a: Any) -> Any:
        total = bs.linalg.slogdet(a).logabsdet + bs.linalg.det(a) + bs.linalg.inv(a).sum()
        return total + bs.linalg.cholesky(a @ a.mT).sum()

    slope = bs.jit(bs.grad(all_of))
    a = MATRIX[:3, :3] + 3 * np.eye(3)
    assert "interpreted" not in str(slope.explain(bs.asarray(a)))
    found = slope(bs.asarray(a)).numpy()
    for place in np.ndindex(3, 3):
        change = np.zeros((3, 3))
        change[place] = 1e-6
        up, down = [all_of(bs.asarray(a + way * change)).item() for way in (1, -1)]
        assert found[place] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)
