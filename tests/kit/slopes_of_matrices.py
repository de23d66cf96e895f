"""The cases of `slopes` for ops that solve and factor matrices.

Comes in: a class of op. Goes out: cases far from matrices that are singular, or have two equal
values. Vectors are real: which phases complex ones get, no derivative says (`test_matrices`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from kit.slopes import Array, Case, between, complexes, makes, one_op

SQUARES = ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2))
OBLONGS = ((4, 2), (2, 4, 3), (3, 3), (3, 0), (0, 2))


def spread(rng: Any, shape: tuple[int, ...]) -> Array:
    """Random matrices with a diagonal that outweighs the rest, and falls."""
    rows, columns = shape[-2:]
    steps = 7.0 - 2 * np.arange(max(rows, columns))
    diagonal = np.where(np.eye(rows, columns, dtype=np.bool_), steps[:columns], 0)
    return between(rng, -0.4, 0.4, shape) + diagonal


def turned(rng: Any, shape: tuple[int, ...]) -> Array:
    """The same with complex numbers."""
    return spread(rng, shape) + 1j * between(rng, -0.4, 0.4, shape)


def positive(x: Array) -> Array:
    """Hermitian matrices whose eigenvalues are positive and apart."""
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


@makes(tensor.Solve)
def solve(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in SQUARES:
        right = (*shape[:-1], 2)
        yield one_op(cls, spread(rng, shape), between(rng, -2, 2, right))
    yield one_op(cls, spread(rng, (2, 2)), between(rng, -2, 2, (2, 0)))
    yield one_op(cls, turned(rng, (3, 3)), complexes(rng, (3, 1)))


@makes(tensor.TriangularSolve)
def triangular_solve(cls: type[Op], rng: Any) -> Iterator[Case]:
    for lower in (False, True):
        for unit in (False, True):
            named = {"lower": lower, "unit": unit}
            yield one_op(cls, spread(rng, (3, 3)), between(rng, -2, 2, (3, 2)), **named)
            yield one_op(cls, spread(rng, (0, 0)), between(rng, -2, 2, (0, 2)), **named)
            yield one_op(cls, turned(rng, (2, 2, 2)), complexes(rng, (2, 2, 1)), **named)


@makes(tensor.Cholesky)
def cholesky(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in SQUARES:
        yield one_op(cls, positive(spread(rng, shape)))
    yield one_op(cls, positive(turned(rng, (2, 3, 3))))


@makes(tensor.Qr)
def qr(cls: type[Op], rng: Any) -> Iterator[Case]:
    """A q with more columns than x has no derivative."""
    for shape in OBLONGS:
        yield one_op(cls, spread(rng, shape), full=shape[-2] <= shape[-1])
    yield one_op(cls, turned(rng, (2, 3, 3)))
    yield one_op(cls, turned(rng, (4, 2)))
    yield one_op(cls, turned(rng, (2, 3)))


@makes(tensor.Lu)
def lu(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in OBLONGS:
        yield one_op(cls, np.flip(spread(rng, shape), -2))
    yield one_op(cls, turned(rng, (2, 3, 3)))


@makes(tensor.Eigh)
def eigh(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in SQUARES:
        yield one_op(cls, positive(spread(rng, shape)))


@makes(tensor.Eig)
def eig(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in SQUARES:
        yield one_op(cls, spread(rng, shape))


@makes(tensor.Svd)
def svd(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in OBLONGS:
        yield one_op(cls, spread(rng, shape))
    yield one_op(cls, spread(rng, (3, 3)), full=True)
