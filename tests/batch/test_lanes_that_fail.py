"""Lanes that do not take a branch do not fail in it, where a matrix is singular or not positive."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.both_devices import on_both_devices

device = on_both_devices()
MATRICES = np.array(
    [[[2.0, 1], [1, 3]], [[1.0, 1], [1, 1]], [[0.0, 0], [0, 0]], [[1.0, 2], [2, 1]]]
)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "inv": bs.linalg.inv,
    "solve": lambda a: bs.linalg.solve(a, a + 1),
    "triangular": lambda a: bs.linalg.solve_triangular(a, a + 1, upper=True),
    "cholesky": bs.linalg.cholesky,
    "slope of det": bs.grad(bs.linalg.det),
    "slope of inv": bs.grad(lambda a: bs.linalg.inv(a).sum()),
}


CASES = [(name, "float64") for name in FUNCTIONS]
CASES += [(name, "complex128") for name in FUNCTIONS if "slope" not in name]


FACTORED: dict[str, Callable[[Any], Any]] = {
    "qr": lambda a: bs.linalg.qr(a)[1].sum(),
    "slogdet": lambda a: bs.linalg.slogdet(a)[1],
    "det": bs.linalg.det,
}


@pytest.mark.parametrize("name", FACTORED)
def test_slopes_of_factors_come_from_lanes_whose_matrix_is_regular(name: str) -> None:
    """Factors are there of any matrix, and their slopes only of regular ones."""
    shared, by = bs.asarray(MATRICES[0]), bs.asarray([1.0, 0.0, 2.0])

    def safe(x: Any, a: Any) -> Any:
        return bs.cond(x > 0, lambda a: FACTORED[name](a * x), lambda a: a.sum(), a)

    found = bs.grad(lambda a: bs.vmap(safe, in_axes=(0, None))(by, a).sum())(shared)
    expected = sum(bs.grad(safe, argnums=1)(x, shared).numpy() for x in by)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_singular_lanes_do_not_notice(name: str, dtype: Any) -> None:
    function, matrices = FUNCTIONS[name], bs.asarray(MATRICES).astype(dtype)

    def safe(wanted: Any, a: Any) -> Any:
        return bs.cond(wanted, function, lambda a: a * 0, a)

    found = bs.vmap(safe)(bs.asarray([True, False, False, False]), matrices).numpy()
    np.testing.assert_allclose(found[0], function(matrices[0]).numpy(), rtol=1e-12)
    assert not found[1:].any()
