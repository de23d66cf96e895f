"""The extensions of the array API standard, linear algebra and Fourier transforms, one rule each.

Comes in: nothing. Goes out: rules, and what of a result is unique where not all of it is.
Never: matrices near singular, of which nothing exact can be said.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kit.standard import COMPLEXES, FLOATS, INEXACT, NUMBERS, Array, Call, Dtype, Inputs, call
from kit.standard_calls import Rule, any_array
from kit.standard_rules import RULES

ORDERS = (1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")
SOLVED = 512  # units of the largest number, for what is solved or decomposed


def square(inputs: Inputs) -> Array:
    """Matrices whose diagonal outweighs the rest."""
    dtype, size = inputs.one_of(INEXACT), inputs.whole(1, 4)
    batch = inputs.one_of([(), (2,), (1, 2)])
    small = inputs.array(dtype, (*batch, size, size), "finite") % 2 if dtype in FLOATS else None
    if small is None:
        parts = [inputs.array("float64", (*batch, size, size), "finite") % 2 for _ in range(2)]
        small = (parts[0] + 1j * parts[1]).astype(dtype)
    return small + (np.eye(size) * (np.arange(size) + 4 * size)).astype(dtype)


def symmetric(inputs: Inputs) -> Array:
    """Positive definite matrices."""
    matrix = square(inputs)
    return (matrix + np.conj(np.swapaxes(matrix, -1, -2))) / matrix.dtype.type(2)


def wide(inputs: Inputs) -> Array:
    """Square matrices with some columns or rows left out."""
    matrix = square(inputs)
    kept = inputs.whole(1, matrix.shape[-1])
    return matrix[..., :kept] if inputs.flag() else matrix[..., :kept, :]


def of(make: Callable[[Inputs], Array], **options: Any) -> Rule:
    """One array, and each option left out, or one of those listed."""

    def draw(inputs: Inputs) -> Call:
        given = make(inputs)
        return call(given, **{name: inputs.one_of(values) for name, values in options.items()})

    return Rule(draw, SOLVED, scaled=True)


def equations(inputs: Inputs) -> Call:
    """A matrix, and a vector or matrices to solve for."""
    matrix = square(inputs)
    columns = (*matrix.shape[:-1], 2)
    shape = inputs.one_of([columns, matrix.shape[-1:]])
    return call(matrix, inputs.array(matrix.dtype.name, shape, "finite"))


def vectors(inputs: Inputs) -> Call:
    """Vectors of three numbers."""
    dtype, axis = inputs.one_of(NUMBERS), inputs.one_of([-1, -2])
    shape = (2, 3) if axis == -1 else (3, 2)
    return call(*(inputs.array(dtype, shape, "finite") for _ in range(2)), axis=axis)


def factors(inputs: Inputs) -> Call:
    """Two vectors of any lengths."""
    dtype = inputs.one_of(NUMBERS)
    return call(*(inputs.array(dtype, (inputs.whole(0, 3),), "finite") for _ in range(2)))


def lengths(inputs: Inputs) -> Call:
    """Arrays, axes and the order of a norm."""
    array = inputs.array(inputs.one_of(INEXACT), inputs.shape(smallest=1), "finite")
    order = inputs.one_of([1, 2, np.inf, -np.inf, 0, 3])
    return call(array, axis=inputs.axes(array.ndim), keepdims=inputs.flag(), ord=order)


def traced(inputs: Inputs) -> Call:
    """Matrices and the number of a diagonal."""
    dtype = inputs.one_of(NUMBERS)
    return call(inputs.array(dtype, inputs.shape(2), "finite"), offset=inputs.whole(-2, 2))


def powered(inputs: Inputs) -> Call:
    """Matrices and a whole exponent."""
    return call(square(inputs), inputs.whole(-2, 4))


LINALG: dict[str, Rule] = {
    **{name: RULES[name] for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")},
    **{name: of(square) for name in ("det", "inv", "slogdet", "eig", "eigvals")},
    **{name: of(symmetric) for name in ("eigh", "eigvalsh")},
    "cholesky": of(symmetric, upper=[False, True]),
    "cross": Rule(vectors, 64, scaled=True),
    "diagonal": Rule(lambda inputs: call(any_array(inputs, 2), offset=inputs.whole(-2, 2))),
    "matrix_norm": of(
        wide, ord=[1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"], keepdims=[False, True]
    ),
    "matrix_power": Rule(powered, SOLVED, scaled=True),
    "matrix_rank": of(wide),
    "outer": Rule(factors, 4),
    "pinv": of(wide),
    "qr": of(wide, mode=["reduced", "complete"]),
    "solve": Rule(equations, SOLVED, scaled=True),
    "svd": of(wide, full_matrices=[False, True]),
    "svdvals": of(wide),
    "trace": Rule(traced, 64, scaled=True),
    "vector_norm": Rule(lengths, 64, scaled=True),
}


def dagger(matrix: Array) -> Array:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(matrix, -1, -2))


def of_svd(given: Array, parts: list[Array]) -> list[Array]:
    """The matrix put together again, the singular values, and that the rest are rotations."""
    left, values, right = parts
    count = values.shape[-1]
    whole = (left[..., :count] * values[..., None, :]) @ right[..., :count, :]
    return [whole, values, dagger(left) @ left, right @ dagger(right)]


def of_eig(given: Array, parts: list[Array]) -> list[Array]:
    """The values in order, and how far the vectors are from being turned into multiples."""
    values, turned = parts
    return [np.sort(values, axis=-1), given @ turned - turned * values[..., None, :]]


UNIQUE: dict[str, Callable[[Array, Any], list[Array]]] = {
    "qr": lambda given, parts: [parts[0] @ parts[1], dagger(parts[0]) @ parts[0]],
    "svd": of_svd,
    "eig": of_eig,
    "eigh": of_eig,
    "eigvals": lambda given, values: [np.sort(values, axis=-1)],
}


def transformed(dtypes: tuple[str, ...]) -> Rule:
    """An array, a number of points, an axis, and where to scale."""

    def draw(inputs: Inputs) -> Call:
        array = inputs.array(inputs.one_of(dtypes), inputs.shape(1, smallest=2), "finite")
        options = {"n": inputs.one_of([None, 2, 3, 5]), "axis": inputs.axis(array.ndim)}
        return call(array, **options, norm=inputs.one_of(["backward", "ortho", "forward"]))

    return Rule(draw, 64, scaled=True)


def transformed_all(dtypes: tuple[str, ...]) -> Rule:
    """An array, and the axes, or numbers of points."""

    def draw(inputs: Inputs) -> Call:
        array = inputs.array(inputs.one_of(dtypes), inputs.shape(2, smallest=2), "finite")
        options = inputs.one_of([{}, {"axes": (-1, 0)}, {"s": (3, 2), "axes": (0, 1)}])
        return call(array, **options, norm=inputs.one_of(["backward", "ortho", "forward"]))

    return Rule(draw, 64, scaled=True)


def frequencies(inputs: Inputs) -> Call:
    """A number of points, and how far they are apart."""
    dtype = Dtype(inputs.one_of(FLOATS))
    return call(inputs.whole(1, 7), d=inputs.one_of([1.0, 0.25]), dtype=dtype)


def shifted(inputs: Inputs) -> Call:
    """An array and axes."""
    array = inputs.array(inputs.one_of(INEXACT), inputs.shape(1))
    return call(array, axes=inputs.axes(array.ndim))


FFT: dict[str, Rule] = {
    **{name: transformed(COMPLEXES) for name in ("fft", "ifft", "irfft", "hfft")},
    **{name: transformed(FLOATS) for name in ("rfft", "ihfft")},
    **{name: transformed_all(COMPLEXES) for name in ("fftn", "ifftn", "irfftn")},
    "rfftn": transformed_all(FLOATS),
    **{name: Rule(frequencies, 2) for name in ("fftfreq", "rfftfreq")},
    **{name: Rule(shifted) for name in ("fftshift", "ifftshift")},
}
EXTENSIONS = {
    **{f"linalg.{name}": rule for name, rule in LINALG.items()},
    **{f"fft.{name}": rule for name, rule in FFT.items()},
}
