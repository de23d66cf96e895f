"""Equations and factors of matrices: that they solve and multiply back, and what is refused."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import DType, c64, c128, f32, f64
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.interpreter import interpret
from brimstone.passes.differentiate import jvp
from brimstone.passes.differentiate.errors import NotDifferentiable
from kit.derivatives import check_derivatives
from kit.evaluate import Array, evaluate, evaluate_shaped, folded, same
from kit.slopes import one_op
from kit.slopes_of_matrices import OBLONGS, SQUARES, positive, spread, turned

DTYPES = (f32, f64, c64, c128)


def matrices(dtype: DType, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(len(shape))
    make = turned if dtype in (c64, c128) else spread
    return make(rng, shape).astype(dtype.storage)


def close(found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    few = 100 * float(np.finfo(found.dtype).eps)
    assert np.allclose(found, expected, rtol=few, atol=few * 30)


def adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("shape", SQUARES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
class TestSquares:
    def test_solve(self, dtype: DType, shape: tuple[int, ...]) -> None:
        x = matrices(dtype, shape)
        for count in (0, 1, 3):
            right = matrices(dtype, (*shape[:-1], count))
            close(x @ evaluate(tensor.Solve, x, right), right)

    @pytest.mark.parametrize("lower", [False, True])
    @pytest.mark.parametrize("unit", [False, True])
    def test_triangular_solve(
        self, dtype: DType, shape: tuple[int, ...], lower: bool, unit: bool
    ) -> None:
        """What is not read may even be NaN."""
        x, right = matrices(dtype, shape), matrices(dtype, (*shape[:-1], 2))
        one = np.eye(shape[-1], dtype=np.bool_)
        triangle = np.where(one, 1, x) if unit else x
        triangle = np.tril(triangle) if lower else np.triu(triangle)
        read = np.tril(np.ones_like(one), -unit)
        hidden = np.where(read if lower else read.T, x, np.nan).astype(x.dtype)
        named = {"lower": lower, "unit": unit}
        close(triangle @ evaluate(tensor.TriangularSolve, hidden, right, **named), right)

    def test_cholesky(self, dtype: DType, shape: tuple[int, ...]) -> None:
        x = positive(matrices(dtype, shape)).astype(dtype.storage)
        below = np.tril(np.ones(shape[-2:], np.bool_))
        factor = evaluate(tensor.Cholesky, np.where(below, x, np.nan).astype(x.dtype))
        assert same(factor, np.tril(factor))
        close(factor @ adjoint(factor), x)

    def test_eigh(self, dtype: DType, shape: tuple[int, ...]) -> None:
        x = positive(matrices(dtype, shape)).astype(dtype.storage)
        below = np.tril(np.ones(shape[-2:], np.bool_))
        values, vectors = evaluate(tensor.Eigh, np.where(below, x, 7).astype(x.dtype))
        assert values.dtype == dtype.real.storage
        assert (np.diff(values) >= 0).all()
        close(x @ vectors, vectors * values[..., None, :])
        close(adjoint(vectors) @ vectors, np.broadcast_to(np.eye(shape[-1]), shape).astype(x.dtype))

    def test_eig(self, dtype: DType, shape: tuple[int, ...]) -> None:
        x = matrices(dtype, shape) + np.tri(shape[-1], dtype=dtype.storage)
        values, vectors = evaluate(tensor.Eig, x)
        assert values.dtype == vectors.dtype == np.result_type(x, np.complex64)
        close(x @ vectors, vectors * values[..., None, :])
        close(np.linalg.norm(vectors, axis=-2), np.ones(shape[:-1], dtype.real.storage))


@pytest.mark.parametrize("shape", OBLONGS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
class TestOblongs:
    @pytest.mark.parametrize("full", [False, True])
    def test_qr(self, dtype: DType, shape: tuple[int, ...], full: bool) -> None:
        x = matrices(dtype, shape)
        q, r = evaluate(tensor.Qr, x, full=full)
        inner = shape[-2] if full else min(shape[-2:])
        assert q.shape == (*shape[:-1], inner)
        assert same(r, np.triu(r))
        close(q @ r, x)
        one = np.broadcast_to(np.eye(inner), (*shape[:-2], inner, inner))
        close(adjoint(q) @ q, one.astype(x.dtype))

    @pytest.mark.parametrize("full", [False, True])
    def test_svd(self, dtype: DType, shape: tuple[int, ...], full: bool) -> None:
        x, inner = matrices(dtype, shape), min(shape[-2:])
        left, values, right = evaluate(tensor.Svd, x, full=full)
        assert left.shape[-1] == (shape[-2] if full else inner)
        assert right.shape[-2] == (shape[-1] if full else inner)
        assert (values >= 0).all()
        assert (np.diff(values) <= 0).all()
        close((left[..., :inner] * values[..., None, :]) @ right[..., :inner, :], x)

    def test_lu(self, dtype: DType, shape: tuple[int, ...]) -> None:
        x = np.flip(matrices(dtype, shape), -2)
        factors, rows = evaluate(tensor.Lu, x)
        inner = min(shape[-2:])
        lower = np.tril(factors, -1)[..., :inner] + np.eye(shape[-2], inner, dtype=x.dtype)
        assert (np.abs(lower) <= 1.0001).all()
        close(lower @ np.triu(factors)[..., :inner, :], np.take_along_axis(x, rows[..., None], -2))


def test_lu_of_a_singular_matrix() -> None:
    x = np.array([[0.0, 0, 1], [0, 0, 2], [0, 0, 4]])
    factors, rows = evaluate(tensor.Lu, x)
    assert same(factors, x)
    assert rows.tolist() == [0, 1, 2]


def test_symbolic_sizes() -> None:
    m, n = Symbol("m"), Symbol("n")
    x = matrices(f64, (4, 3))
    q, r = evaluate_shaped(tensor.Qr, [(m, n)], x)
    close(q @ r, x)
    left, values, right = evaluate_shaped(tensor.Svd, [(m, n)], x)
    close((left * values) @ right, x)
    square = matrices(f64, (3, 3))
    close(square @ evaluate_shaped(tensor.Solve, [(n, n), (n, m)], square, x.T), x.T)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)], ids=str)
def test_derivatives_at_symbolic_sizes(shape: tuple[int, ...]) -> None:
    """The rules ask which side is longer only where the op does."""
    x = matrices(f64, shape)
    for cls in (tensor.Qr, tensor.Svd, tensor.Lu):
        case = one_op(cls, x)
        check_derivatives(case.func, case.arguments, case.wrt, orders=1)


def test_folding() -> None:
    x = np.array([[4.0, 0], [2, 5]])
    assert folded(tensor.Cholesky, x @ x.T)[0].tolist() == [[4, 0], [2, 5]]
    assert folded(tensor.Solve, x, x)[0].tolist() == [[1, 0], [0, 1]]


def test_phases_do_not_count() -> None:
    """Complex vectors are found up to a phase; what does not depend on it has a derivative."""
    rng = np.random.default_rng(3)
    x = turned(rng, (3, 3))
    for cls, given in ((tensor.Eigh, positive(x)), (tensor.Svd, turned(rng, (4, 3)))):
        case = one_op(cls, given)
        tangent = turned(rng, given.shape)
        made = interpret(jvp(case.func, [True]), given, tangent)
        step = 1e-6
        ends = [interpret(case.func, given + way * tangent) for way in (step, -step)]
        count = len(ends[0])
        for place in range(count):
            slope = (np.abs(ends[0][place]) ** 2 - np.abs(ends[1][place]) ** 2) / (2 * step)
            found = 2 * np.real(np.conj(made[place]) * made[count + place])
            assert np.allclose(found, slope, atol=1e-6)


SINGULAR = np.ones((2, 2))
FAILING: list[tuple[type[Op], list[Array], dict[str, Any], str]] = [
    (tensor.Solve, [SINGULAR, SINGULAR], {}, "tensor.solve: Singular matrix"),
    (tensor.TriangularSolve, [np.tri(2, k=-1), SINGULAR], {"lower": True}, "Singular matrix"),
    (tensor.Cholesky, [-SINGULAR], {}, "tensor.cholesky: Matrix is not positive definite"),
    (tensor.Eigh, [SINGULAR * np.nan], {}, "the matrix has elements that are not finite"),
    (tensor.Eig, [SINGULAR * np.inf], {}, "the matrix has elements that are not finite"),
    (tensor.Svd, [SINGULAR * np.nan], {}, "the matrix has elements that are not finite"),
]


@pytest.mark.parametrize(("cls", "arrays", "named", "message"), FAILING)
def test_failures(cls: type[Op], arrays: list[Array], named: dict[str, Any], message: str) -> None:
    with pytest.raises(ExecutionError, match=message):
        evaluate(cls, *arrays, **named)


LINE, WIDE, SQUARE = np.ones(2), np.ones((2, 3)), np.eye(2)
REFUSED: list[tuple[type[Op], list[Array], dict[str, Any], str]] = [
    (tensor.Cholesky, [WIDE], {}, r"the matrix is not square: tensor<\[2, 3\], f64>"),
    (tensor.Eigh, [LINE], {}, r"a matrix has two axes: tensor<\[2\], f64>"),
    (tensor.Eig, [WIDE], {}, "the matrix is not square"),
    (tensor.Qr, [LINE], {}, "a matrix has two axes"),
    (tensor.Lu, [LINE], {}, "a matrix has two axes"),
    (tensor.Svd, [LINE], {}, "a matrix has two axes"),
    (tensor.Solve, [WIDE, WIDE], {}, "the matrix is not square"),
    (tensor.Solve, [SQUARE, np.ones((3, 1))], {}, "one row of right sides for each row"),
    (tensor.Solve, [SQUARE, LINE], {}, "one row of right sides for each row"),
    (tensor.Solve, [SQUARE, SQUARE.astype(np.float32)], {}, "the dtypes differ"),
    (tensor.Cholesky, [SQUARE.astype(np.float16)], {}, "f16"),
    (tensor.Qr, [SQUARE.astype(np.int32)], {}, "i32"),
]


@pytest.mark.parametrize(("cls", "arrays", "named", "message"), REFUSED)
def test_wrong_operands_are_refused(
    cls: type[Op], arrays: list[Array], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(VerifyError, match=message):
        evaluate(cls, *arrays, **named)


@pytest.mark.parametrize("cls", [tensor.Qr, tensor.Svd])
def test_what_is_not_determined_has_no_derivative(cls: type[Op]) -> None:
    case = one_op(cls, matrices(f64, (3, 2)), full=True)
    with pytest.raises(NotDifferentiable, match="not determined"):
        jvp(case.func, [True])
