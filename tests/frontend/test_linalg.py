"""`bs.linalg` against numpy, its gradients against differences, and what it refuses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import linalg

Array = np.ndarray[Any, np.dtype[Any]]
DTYPES = ("float32", "float64", "complex64", "complex128")
SQUARES = ((3, 3), (2, 4, 4), (1, 1), (0, 0), (2, 0, 3, 3))
OBLONGS = ((4, 2), (2, 3, 5), (3, 3), (3, 0), (0, 2))


def random(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def square(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Array:
    """Matrices far from singular."""
    return (random(shape, dtype, seed) + 4 * np.eye(shape[-1])).astype(dtype)


def hermitian(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Array:
    x = square(shape, dtype, seed)
    return x @ np.conj(np.swapaxes(x, -1, -2))


def close(found: bs.Tensor, expected: Any, dtype: str | None = None) -> None:
    array, wanted = found.numpy(), np.asarray(expected)
    assert str(array.dtype) == (dtype or str(wanted.dtype))
    assert array.shape == wanted.shape
    single = array.dtype in (np.float32, np.complex64)
    assert np.allclose(array, wanted, rtol=1e-3 if single else 1e-9, atol=1e-3 if single else 1e-9)


@pytest.mark.parametrize("shape", SQUARES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_square_matrices(dtype: str, shape: tuple[int, ...]) -> None:
    x = square(shape, dtype)
    tensor = bs.asarray(x)
    close(linalg.inv(tensor), np.linalg.inv(x))
    close(linalg.det(tensor), np.linalg.det(x))
    sign, logarithm = linalg.slogdet(tensor)
    close(sign, np.linalg.slogdet(x).sign)
    close(logarithm, np.linalg.slogdet(x).logabsdet)
    close(linalg.solve(tensor, tensor), np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape))
    for power in (-2, -1, 0, 1, 2, 5):
        scaled = x / 4
        close(linalg.matrix_power(tensor / 4, power), np.linalg.matrix_power(scaled, power))
    values, vectors = linalg.eig(tensor)
    close(tensor @ vectors if "c" in dtype else tensor.astype(vectors.dtype) @ vectors,
          vectors.numpy() * values.numpy()[..., None, :])  # fmt: skip
    close(linalg.eigvals(tensor), values.numpy())


@pytest.mark.parametrize("shape", SQUARES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_hermitian_matrices(dtype: str, shape: tuple[int, ...]) -> None:
    x = hermitian(shape, dtype)
    tensor = bs.asarray(x)
    close(linalg.cholesky(tensor), np.linalg.cholesky(x))
    close(linalg.cholesky(tensor, upper=True), np.linalg.cholesky(x, upper=True))
    close(linalg.eigvalsh(tensor), np.linalg.eigvalsh(x))
    values, vectors = linalg.eigh(tensor)
    close(values, np.linalg.eigvalsh(x))
    close(tensor @ vectors, vectors.numpy() * values.numpy()[..., None, :].astype(dtype))


@pytest.mark.parametrize("shape", OBLONGS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_matrices(dtype: str, shape: tuple[int, ...]) -> None:
    x = random(shape, dtype)
    tensor = bs.asarray(x)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(tensor, mode=mode)
        assert q.shape == np.linalg.qr(x, mode).Q.shape
        close(q @ r, x)
    for full in (False, True):
        left, values, right = linalg.svd(tensor, full_matrices=full)
        wanted = np.linalg.svd(x, full_matrices=full)
        assert (left.shape, right.shape) == (wanted.U.shape, wanted.Vh.shape)
        close(values, wanted.S)
    close(linalg.svdvals(tensor), np.linalg.svdvals(x))
    p, lower, upper = linalg.lu(tensor)
    close(p @ lower @ upper, x)
    assert np.array_equal(np.tril(lower.numpy()), lower.numpy())
    assert np.array_equal(np.triu(upper.numpy()), upper.numpy())
    close(linalg.pinv(tensor), np.linalg.pinv(x) if x.size else np.zeros(shape[::-1], dtype))
    assert np.array_equal(linalg.matrix_rank(tensor).numpy(), [min(shape[-2:])] * len(x)
                          if len(shape) == 3 else min(shape))  # fmt: skip


def test_what_counts_as_zero() -> None:
    x = np.diag([1.0, 1e-3, 1e-20])
    tensor = bs.asarray(x)
    assert int(linalg.matrix_rank(tensor)) == 2
    assert int(linalg.matrix_rank(tensor, rtol=1e-2)) == 1
    assert np.allclose(linalg.pinv(tensor).numpy(), np.diag([1, 1e3, 0]))
    assert np.allclose(linalg.pinv(tensor, rtol=0.01).numpy(), np.diag([1, 0, 0]))
    stack = bs.asarray(np.stack([x, x]))
    assert linalg.matrix_rank(stack, rtol=bs.asarray([1e-2, 1e-30])).numpy().tolist() == [1, 3]
    ones = linalg.slogdet(bs.ones((2, 2)))
    assert (float(ones.sign), float(ones.logabsdet)) == (0, -np.inf)
    zero = linalg.slogdet(bs.zeros((2, 2), dtype=bs.complex64))
    assert (complex(zero.sign), float(zero.logabsdet)) == (0, -np.inf)
    assert float(linalg.det(bs.ones((2, 2)))) == 0


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_triangular(dtype: str, upper: bool, unit: bool, left: bool) -> None:
    x, right = square((2, 3, 3), dtype), random((3, 3), dtype, 1)
    triangle = np.triu(x) if upper else np.tril(x)
    if unit:
        triangle = np.where(np.eye(3, dtype=np.bool_), 1, triangle)
    found = linalg.solve_triangular(
        bs.asarray(x), bs.asarray(right), upper=upper, left=left, unit_diagonal=unit
    )
    product = triangle @ found.numpy() if left else found.numpy() @ triangle
    assert np.allclose(product, right, atol=1e-4)


RIGHT_SIDES = [
    ((3, 3), (3,)), ((2, 3, 3), (3,)), ((3, 3), (2, 3, 1)), ((2, 1, 3, 3), (4, 3, 2)),
    ((0, 0), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", RIGHT_SIDES, ids=str)
def test_right_sides(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, right = square(shapes[0]), random(shapes[1])
    found = linalg.solve(bs.asarray(x), bs.asarray(right))
    close(found, np.linalg.solve(x, right))


ORDERS = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_matrix_norm(dtype: str, order: Any, keepdims: bool) -> None:
    x = random((2, 3, 4), dtype)
    wanted = np.linalg.matrix_norm(x, ord=order, keepdims=keepdims)
    close(linalg.matrix_norm(bs.asarray(x), ord=order, keepdims=keepdims), wanted)
    close(linalg.norm(bs.asarray(x), order, (0, 2)), np.linalg.norm(x, order, (0, 2)))


@pytest.mark.parametrize("axis", [None, 0, (0, 2), (1, 0, 2)], ids=str)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, -1, -2.5, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_vector_norm(dtype: str, order: float, axis: Any) -> None:
    x = random((2, 3, 4), dtype)
    for keepdims in (False, True):
        wanted = np.linalg.vector_norm(x, axis=axis, ord=order, keepdims=keepdims)
        close(linalg.vector_norm(bs.asarray(x), axis=axis, ord=order, keepdims=keepdims), wanted)


def test_norm() -> None:
    x = random((3, 4))
    tensor = bs.asarray(x)
    close(linalg.norm(tensor), np.linalg.norm(x))
    close(linalg.norm(tensor, 1), np.linalg.norm(x, 1))
    close(linalg.norm(tensor[0], 3), np.linalg.norm(x[0], 3))
    close(linalg.norm(tensor, np.inf, 1, True), np.linalg.norm(x, np.inf, 1, keepdims=True))
    close(linalg.norm(tensor, "nuc", keepdim=True), np.linalg.norm(x, "nuc", (0, 1), keepdims=True))
    close(linalg.norm(tensor, dim=(1, 0), ord=1), np.linalg.norm(x, 1, (1, 0)))
    close(linalg.cond(tensor), np.linalg.cond(x))
    close(linalg.cond(bs.asarray(square((3, 3))), ord=1), np.linalg.cond(square((3, 3)), 1))


def test_narrow_floats_are_widened() -> None:
    x = bs.asarray(hermitian((3, 3), "float32")).astype(bs.bfloat16)
    wide = x.astype(bs.float32)
    pairs = [
        (linalg.inv(x), linalg.inv(wide)),
        (linalg.eigh(x).eigenvalues, linalg.eigh(wide).eigenvalues),
        (linalg.cholesky(x), linalg.cholesky(wide)),
        (linalg.svd(x).U, linalg.svd(wide).U),
        (linalg.qr(x).R, linalg.qr(wide).R),
        (linalg.det(x), linalg.det(wide)),
        (linalg.norm(x), linalg.norm(wide)),
        (linalg.pinv(x, rtol=0.0), linalg.pinv(wide, rtol=0.0)),
        (linalg.solve_triangular(x, x, upper=True, left=False),
         linalg.solve_triangular(wide, wide, upper=True, left=False)),
    ]  # fmt: skip
    for narrow, exact in pairs:
        assert narrow.dtype is bs.bfloat16
        assert bs.array_equal(narrow, exact.astype(bs.bfloat16))


def test_integers_become_floats() -> None:
    x = bs.asarray(np.array([[2, 0], [0, 4]]))
    assert linalg.inv(x).dtype is bs.float32
    assert linalg.inv(x).numpy().tolist() == [[0.5, 0], [0, 0.25]]
    assert linalg.matrix_power(x, 3).numpy().tolist() == [[8, 0], [0, 64]]


def apart(x: bs.Tensor) -> bs.Tensor:
    """A number that depends on every element in another way."""
    weights = bs.asarray(np.cos(np.arange(x.size, dtype=np.float64)).reshape(x.shape))
    return bs.sum(x * weights)


def spectrum(x: bs.Tensor) -> bs.Tensor:
    values, vectors = linalg.eigh(x)
    return apart(values) + apart(vectors * vectors)


def singular(x: bs.Tensor) -> bs.Tensor:
    left, values, right = linalg.svd(x, full_matrices=False)
    return apart(values) + apart(left * left) + apart(right * right)


SMOOTH: dict[str, tuple[Callable[..., bs.Tensor], tuple[int, ...]]] = {
    "inv": (lambda x: apart(linalg.inv(x)), (2, 3, 3)),
    "det": (lambda x: apart(linalg.det(x)), (2, 3, 3)),
    "slogdet": (lambda x: linalg.slogdet(x).logabsdet, (3, 3)),
    "solve": (lambda x: apart(linalg.solve(x, x[0])), (3, 3)),
    "triangular": (lambda x: apart(linalg.solve_triangular(x, x, upper=True, left=False)), (3, 3)),
    "cholesky": (lambda x: apart(linalg.cholesky(x @ x.mT)), (2, 3, 3)),
    "eigh": (lambda x: spectrum(x + x.mT), (3, 3)),
    "eigvalsh": (lambda x: apart(linalg.eigvalsh(x)), (3, 3)),
    "qr": (lambda x: apart(linalg.qr(x).Q) + apart(linalg.qr(x).R), (4, 3)),
    "svd": (singular, (4, 3)),
    "lu": (lambda x: apart(linalg.lu(x).L) + apart(linalg.lu(x).U), (3, 3)),
    "pinv": (lambda x: apart(linalg.pinv(x)), (4, 3)),
    "power": (lambda x: apart(linalg.matrix_power(x, -3)), (2, 2)),
    "nuc": (lambda x: linalg.matrix_norm(x, ord="nuc"), (4, 3)),
    "norm": (lambda x: linalg.norm(x) + linalg.vector_norm(x, ord=3), (4, 3)),
    "cond": (linalg.cond, (3, 3)),
}  # fmt: skip


def difference(function: Callable[..., bs.Tensor], x: Array, step: float = 1e-6) -> Array:
    """The gradient, by central differences."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        ends = []
        for way in (step, -step):
            moved = x.copy()
            moved[place] += way
            ends.append(float(bs.sum(function(bs.asarray(moved)))))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name: str) -> None:
    function, shape = SMOOTH[name]
    x = random(shape) + 3 * np.eye(shape[-2], shape[-1])
    found = bs.grad(lambda each: bs.sum(function(each)))(bs.asarray(x))
    assert np.allclose(found.numpy(), difference(function, x), atol=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_under_jit_and_vmap(name: str) -> None:
    function, shape = SMOOTH[name]
    x = random((3, *shape), seed=2) + 3 * np.eye(shape[-2], shape[-1])
    tensor = bs.asarray(x)
    plain = [function(each).numpy() for each in tensor]
    assert np.allclose(bs.jit(function)(tensor[0]).numpy(), plain[0])
    assert np.allclose(bs.vmap(function)(tensor).numpy(), plain)


def test_a_length_of_zero_has_a_gradient() -> None:
    x = bs.zeros((3,))
    assert bs.grad(linalg.vector_norm)(x).numpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "function",
    [lambda: linalg.inv(bs.ones((2, 2))), lambda: linalg.cholesky(-bs.ones((2, 2))),
     lambda: linalg.eigh(bs.full((2, 2), np.nan)).eigenvalues],
)  # fmt: skip
def test_failures_name_the_line(function: Callable[[], bs.Tensor]) -> None:
    found = function()
    with pytest.raises(bs.OperationFailed, match=r"test_linalg\.py"):
        found.numpy()


X, SQUARE, LINE = bs.ones((2, 3)), bs.ones((2, 2)), bs.ones((2,))
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: linalg.inv(X), bs.ShapeError, "inv: the matrix is not square: 2 rows, 3 columns"),
    (lambda: linalg.cholesky(LINE), bs.ShapeError, "cholesky: a matrix has two axes"),
    (lambda: linalg.solve(SQUARE, bs.ones((3,))), bs.ShapeError, "there are 2 equations, and axis"),
    (lambda: linalg.solve(SQUARE, bs.ones(())), bs.ShapeError, "a right side is a vector"),
    (lambda: linalg.solve(bs.ones((4, 2, 2)), bs.ones((3, 2, 1))), bs.ShapeError, "broadcast"),
    (lambda: linalg.qr(X, mode="raw"), bs.ArgumentError, "mode is"),
    (lambda: linalg.matrix_power(X, 2), bs.ShapeError, "only square matrices have powers"),
    (lambda: linalg.matrix_power(SQUARE, 2.0), bs.DTypeError, "the power is an integer"),
    (lambda: linalg.matrix_power(bs.eye(2, dtype=bs.int32), -1), bs.ArgumentError, "the inverse"),
    (lambda: linalg.matrix_norm(X, ord=3), bs.ArgumentError, "there is no norm 3"),
    (lambda: linalg.vector_norm(X, ord="fro"), bs.ArgumentError, "ord is a number"),
    (lambda: linalg.vector_norm(X, axis=0, dim=0), bs.ArgumentError, "not both"),
    (lambda: linalg.vector_norm(X[:0], ord=-np.inf), bs.ShapeError, "none is the least"),
    (lambda: linalg.norm(LINE, "fro"), bs.ArgumentError, "is a norm of matrices"),
    (lambda: linalg.norm(bs.ones((2, 2, 2)), 2), bs.ShapeError, "along one axis or two, not 3"),
    (lambda: linalg.multi_dot([X]), bs.ShapeError, "takes two matrices or more"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_refusals(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


DYNAMIC: dict[str, Callable[..., bs.Tensor]] = {
    "qr": lambda x: linalg.qr(x).R,
    "svd": linalg.svdvals,
    "inv": lambda x: linalg.inv(x.mT @ x),
    "det": lambda x: linalg.det(x @ x.mT),
    "square": lambda x: linalg.inv(x @ x.mT + linalg.matrix_power(x @ x.mT, 0)),
    "norm": lambda x: linalg.matrix_norm(x, ord=1),
    "lu": lambda x: linalg.lu(x @ x.mT).P,
    "upper": lambda x: linalg.lu(x).U,
    "pinv": linalg.pinv,
    "rank": linalg.matrix_rank,
    "trace": linalg.trace,
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_sizes(name: str) -> None:
    function = DYNAMIC[name]
    compiled = bs.jit(function, dynamic={"x": {0: bs.dim("rows", 1, 64)}})
    for count in (3, 5, 7):
        x = bs.asarray(random((count, 3), seed=count))
        assert np.allclose(compiled(x).numpy(), function(x).numpy())


@pytest.mark.parametrize("name", ["qr", "svd", "upper", "det", "square"])
def test_gradients_at_dynamic_sizes(name: str) -> None:
    """One derivative for matrices that are tall and wide."""

    def gradient(x: bs.Tensor) -> bs.Tensor:
        return bs.grad(lambda each: bs.sum(bs.sin(DYNAMIC[name](each))))(x)

    compiled = bs.jit(gradient, dynamic={"x": {0: bs.dim("rows", 1, 64)}})
    for count in (2, 3, 5) if name in ("qr", "svd") else (2, 3):
        x = bs.asarray(random((count, 3), seed=count))
        assert np.allclose(compiled(x).numpy(), gradient(x).numpy(), rtol=1e-4)


def test_an_outer_product_keeps_the_sign_of_zero() -> None:
    made = np.asarray(bs.linalg.outer(bs.asarray([-1.0, 2.0]), bs.asarray([0.0, -0.0])))
    assert np.signbit(made).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("shape", [(65, 65), (2, 40, 33), (31, 97), (1, 100), (100, 1)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_factors_of_matrices_that_are_eliminated_in_blocks(
    dtype: str, shape: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype[0] == "c" else 0)
    rows, lower, upper = [each.numpy() for each in bs.linalg.lu(bs.asarray(x))]
    np.testing.assert_allclose(rows @ lower @ upper, x, atol=1e-12)
    assert np.abs(lower).max() <= 1 + 1e-15
    if shape[-1] == shape[-2]:
        sign, size = np.linalg.slogdet(x)
        found = bs.linalg.slogdet(bs.asarray(x))
        np.testing.assert_allclose(found.sign.numpy(), sign, rtol=1e-10)
        np.testing.assert_allclose(found.logabsdet.numpy(), size, rtol=1e-10)


def test_second_derivatives_of_pseudo_inverses_for_each_matrix() -> None:
    """A value that kernels compute again is written again later, by another one."""
    first = bs.grad(lambda x: bs.linalg.pinv(x).sum())
    second = bs.grad(lambda x: (first(x) ** 2).sum())
    x = np.random.default_rng(0).standard_normal((2, 4, 3))
    with bs.device("cpu"):
        found = bs.vmap(second)(bs.asarray(x)).numpy()
    for each, one in zip(found, x, strict=True):
        np.testing.assert_allclose(each, second(bs.asarray(one)).numpy(), rtol=1e-7)
