"""Fourier transforms of real numbers, and those whose results are real, in half the work.

Comes in: real nodes, or the first half of Hermitian ones. Goes out: the first half of the
transform, or real nodes, unscaled. Of a stage's short transforms half are conjugates of the others,
in reverse order, and are not computed; nor are parts that are zero, or that nobody reads.
Never: a length that `dft.py` makes a convolution of in any other way than there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.payloads import payload
from ..node import Node, record
from .dft import as_complex, constant, known_rotations, rotated, stages_of, transform
from .manipulation import part, permuted, reshaped
from .products import contract


def half_of_transform(node: Node, inverse: bool) -> Node:
    """The first n // 2 + 1 elements of the transform of n real numbers."""
    *batch, length = node.type.shape
    last, half, stages = len(batch), length // 2 + 1, stages_of(length)
    if length == 1 or not stages:
        return part(transform(as_complex(node), inverse), last, 0, half)
    if len(stages) == 1:
        return _of_reals(node, length, half, inverse)
    rows, columns = stages[0], length // stages[0]
    grid = permuted(reshaped(node, (*batch, rows, columns)), (*range(last), last + 1, last))
    short = _of_reals(grid, rows, rows // 2 + 1, inverse)
    turned = rotated(short, rows * columns, inverse)
    long = transform(permuted(turned, (*range(last), last + 1, last)), inverse)
    # long[c, d] is element c + rows * d; element rows - c + rows * d is its conjugate, of columns
    # in reverse order.
    others = part(long, last, 1, (rows - 1) // 2)
    mirrored = record(ops.Conjugate, (record(ops.Flip, (others,), ((last, last + 1),)),))
    needed = (half - 1) // rows + 1
    both = [part(each, last + 1, 0, needed) for each in (long, mirrored)]
    whole = permuted(record(ops.Concat, tuple(both), (last,)), (*range(last), last + 1, last))
    return part(reshaped(whole, (*batch, needed * rows)), last, 0, half)


def real_transform(node: Node, length: int, inverse: bool) -> Node:
    """The transform of n Hermitian numbers, whose first n // 2 + 1 are given. Imaginary parts of
    the first and of the middle one make imaginary parts of the result, which nobody reads."""
    *batch, _ = node.type.shape
    last, stages = len(batch), stages_of(length)
    if len(stages) == 1:
        return _to_reals(node, length, inverse)
    others = part(node, last, 1, (length - 1) // 2)
    mirrored = record(ops.Conjugate, (record(ops.Flip, (others,), ((last,),)),))
    whole = record(ops.Concat, (node, mirrored), (last,))
    if not stages:
        return record(ops.Real, (transform(whole, inverse),))
    rows, columns = stages[0], length // stages[0]
    grid = part(reshaped(whole, (*batch, columns, rows)), last + 1, 0, rows // 2 + 1)
    exchanged = (*range(last), last + 1, last)
    long = permuted(transform(permuted(grid, exchanged), inverse), exchanged)
    made = _to_reals(rotated(long, rows * columns, inverse), rows, inverse)
    return reshaped(permuted(made, exchanged), (*batch, length))


def _of_reals(node: Node, length: int, half: int, inverse: bool) -> Node:
    """Short transforms of real numbers along the last axis, of which so many elements are made."""
    matrices = _matrices_of_reals(length, half, inverse, node.type.dtype)
    return record(ops.Complex, tuple([_product(node, each) for each in matrices]))


@cache
def _matrices_of_reals(length: int, half: int, inverse: bool, dtype: ir.DType) -> tuple[Any, Any]:
    """What makes real and imaginary parts of real numbers."""
    turned = known_rotations(length, half, length, inverse)
    return _in_dtype(turned.real, dtype), _in_dtype(turned.imag, dtype)


def _to_reals(node: Node, length: int, inverse: bool) -> Node:
    """Short transforms of Hermitian numbers, whose first half lies along the last axis."""
    parts = [record(op, (node,)) for op in (ops.Real, ops.Imaginary)]
    matrices = _matrices_to_reals(length, inverse, parts[0].type.dtype)
    products = [_product(*each) for each in zip(parts, matrices, strict=True)]
    return record(ops.Add, tuple(products))


@cache
def _matrices_to_reals(length: int, inverse: bool, dtype: ir.DType) -> tuple[Any, Any]:
    """What makes real numbers of real and imaginary parts; most stand for their conjugates, too."""
    half = length // 2 + 1
    weights = np.full((half, 1), 2.0)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    turned = weights * known_rotations(half, length, length, inverse)
    return _in_dtype(turned.real, dtype), _in_dtype(-turned.imag, dtype)


def _in_dtype(matrix: Any, dtype: ir.DType) -> Any:
    """A matrix of numpy's as a constant's value."""
    return payload(np.ascontiguousarray(matrix, dtype.storage), dtype)


def _product(node: Node, matrix: Any) -> Node:
    """Each line along the last axis, times a matrix that the program carries along."""
    last = (len(node.type.shape) - 1,)
    return contract(node, constant(matrix), ((), ()), (last, (0,)))
