"""The discrete Fourier transform along the last axis, of any length, made of tensor ops alone.

Comes in: complex nodes. Goes out: complex nodes, unscaled. A length splits into few factors, one
stage each (Cooley and Tukey): a small transform, which is a product with a matrix, then rotations.
What has a large factor becomes a convolution of a length that has none (Bluestein).
Never: a kernel of its own, so transforms are differentiated, batched and fused like other ops; nor
angles rounded before their sine is taken: they are reduced as integers, and computed in f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isqrt, prod
from typing import Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.payloads import payload
from ..node import Node, record
from .common import cast_node, filled
from .manipulation import part, permuted, reshaped
from .products import contract

# Longer stages take more time than they save, and are less accurate; but a prime length up to
# LARGEST is one stage, too.
USUAL, LARGEST = 64, 128
STAGE = 32
"""What a stage takes beside its length: three of 16 are as quick as two of 64, two of 32 quicker
than three of 10."""
# More rotations than these are computed by the program instead of being carried along in it.
MOST_CARRIED = 1 << 16


def as_complex(node: Node) -> Node:
    """Complex numbers as they are, and real ones with parts of their own width."""
    if node.type.dtype in ir.COMPLEXES:
        return node
    return cast_node(node, ir.c128 if node.type.dtype is ir.f64 else ir.c64)


def transform(node: Node, inverse: bool) -> Node:
    """sum over j of x[j] * exp(∓2πi * j * k / n), for each k; + for the inverse."""
    length = node.type.shape[-1]
    stages = stages_of(length)
    if not stages:
        return _convolved(node, inverse)
    if len(stages) == 1:
        return _product(node, inverse)
    return _split(node, stages[0], length // stages[0], inverse)


@cache
def stages_of(length: int) -> tuple[int, ...]:
    """The lengths of the stages, the longest first, that take the least time; none are suitable if
    a factor is too large."""
    if length <= USUAL or (length <= LARGEST and _is_prime(length)):
        return (length,)
    firsts = [each for each in range(2, LARGEST + 1) if each <= USUAL or _is_prime(each)]
    found = [(each, *stages_of(length // each)) for each in firsts if length % each == 0]
    whole = [tuple(sorted(each, reverse=True)) for each in found if prod(each) == length]
    return min(whole, key=lambda stages: (_time(stages), len(stages)), default=())


def _time(stages: Sequence[int]) -> int:
    """About how long stages take for each element; those of less than 24 are no quicker."""
    return sum([STAGE + max(each, 24) for each in stages])


def _is_prime(number: int) -> bool:
    return all([number % each for each in range(2, isqrt(number) + 1)])


def _product(node: Node, inverse: bool) -> Node:
    """A short transform: the product with its matrix, which is symmetric."""
    length = node.type.shape[-1]
    if length == 1:
        return node
    last = (len(node.type.shape) - 1,)
    matrix = _rotations(length, length, length, inverse, node.type.dtype)
    return contract(node, matrix, ((), ()), (last, (0,)))


def _split(node: Node, rows: int, columns: int, inverse: bool) -> Node:
    """Short transforms of every `columns`-th element, rotated, then transforms of these.

    With j = columns * a + b and k = c + rows * d, exp(jk / n) is exp(ac / rows) * exp(bc / n) *
    exp(bd / columns), where exp(t) stands for exp(∓2πi * t).
    """
    batch, rank = node.type.shape[:-1], len(node.type.shape)
    grid = reshaped(node, (*batch, rows, columns))
    matrix = _rotations(rows, rows, rows, inverse, node.type.dtype)
    # The axis summed over goes to the end: (…, b, c).
    short = contract(grid, matrix, ((), ()), ((rank - 1,), (0,)))
    turned = rotated(short, rows * columns, inverse)
    exchanged = (*range(rank - 1), rank, rank - 1)
    long = transform(permuted(turned, exchanged), inverse)
    return reshaped(permuted(long, exchanged), (*batch, rows * columns))


def rotated(node: Node, length: int, inverse: bool) -> Node:
    """Each element (…, b, c), times exp(∓2πi * b * c / length)."""
    *_, rows, columns = node.type.shape
    rank = len(node.type.shape)
    angles = _rotations(rows, columns, length, inverse, node.type.dtype)
    spread = record(ops.Broadcast, (angles,), (node.type.shape, (rank - 2, rank - 1)))
    return record(ops.Multiply, (node, spread))


def _rotations(rows: int, columns: int, length: int, inverse: bool, dtype: ir.DType) -> Node:
    """exp(∓2πi * row * column / length)."""
    if rows * columns <= MOST_CARRIED:
        return constant(_carried(rows, columns, length, inverse, dtype))
    shape = (rows, columns)
    places = [record(ops.Iota, (), (shape, axis, ir.i64)) for axis in (0, 1)]
    turns = record(ops.Remainder, (record(ops.Multiply, tuple(places)), _all(length, shape)))
    step = (2 if inverse else -2) * np.pi / length
    angles = record(ops.Multiply, (cast_node(turns, ir.f64), filled(step, shape, ir.f64)))
    parts = [record(op, (angles,)) for op in (ops.Cos, ops.Sin)]
    return cast_node(record(ops.Complex, tuple(parts)), dtype)


def _all(value: int, shape: tuple[int, ...]) -> Node:
    return filled(value, shape, ir.i64)


def constant(value: Any) -> Node:
    """What the program carries along."""
    return record(ops.Constant, (), (value,))


@cache
def _carried(rows: int, columns: int, length: int, inverse: bool, dtype: ir.DType) -> Any:
    """The same as a constant's value."""
    return payload(known_rotations(rows, columns, length, inverse).astype(dtype.storage), dtype)


def known_rotations(rows: int, columns: int, length: int, inverse: bool) -> Any:
    """The same as numpy has them, in f64."""
    turns = np.outer(np.arange(rows), np.arange(columns)) % length
    return _unit(turns, length, inverse)


def _unit(turns: Any, length: int, inverse: bool) -> Any:
    """exp(∓2πi * turns / length) in f64, exact at the quarters of a turn."""
    found = np.exp((2j if inverse else -2j) * np.pi * turns / length)
    quarters, rest = np.divmod(4 * turns, length)
    axes = np.array([1, 1j, -1, -1j])[quarters % 4]
    return np.where(rest == 0, axes if inverse else axes.conj(), found)


def _convolved(node: Node, inverse: bool) -> Node:
    """jk = (j² + k² - (k - j)²) / 2: rotate, convolve with the chirp, rotate."""
    *batch, length = node.type.shape
    padded, chirp, filter_ = _chirps(length, inverse, node.type.dtype)
    rotation = _stretched(chirp, node.type.shape)
    turned = record(ops.Multiply, (node, rotation))
    rank = len(node.type.shape)
    none = (0,) * rank
    high = (*none[1:], padded - length)
    options = (none, high, none, filled(0, (), node.type.dtype).attributes[0])
    spectrum = transform(record(ops.Pad, (turned,), options), inverse=False)
    response = _stretched(filter_, (*batch, padded))
    found = transform(record(ops.Multiply, (spectrum, response)), inverse=True)
    return record(ops.Multiply, (part(found, rank - 1, 0, length), rotation))


def _stretched(value: Any, shape: tuple[Any, ...]) -> Node:
    return record(ops.Broadcast, (constant(value),), (shape, (len(shape) - 1,)))


@cache
def _chirps(length: int, inverse: bool, dtype: ir.DType) -> tuple[int, Any, Any]:
    """The length of the convolution; exp(∓πi * j²/n); the scaled spectrum of its conjugate."""
    padded = _length_of_convolution(2 * length - 1)
    chirp = _unit(np.arange(length) ** 2 % (2 * length), 2 * length, inverse)
    line = np.zeros(padded, np.complex128)
    line[:length] = chirp.conj()
    line[padded - length + 1 :] = chirp.conj()[:0:-1]
    values = [chirp, np.fft.fft(line) / padded]
    return padded, *[payload(each.astype(dtype.storage), dtype) for each in values]


def _length_of_convolution(least: int) -> int:
    """The length from `least` on whose transforms take the least time."""
    twice = 1 << (least - 1).bit_length()
    threes = [3**each for each in range(least.bit_length())]
    fives = [5**each for each in range(least.bit_length())]
    odd = [three * five for three in threes for five in fives if three * five <= twice]
    lengths = [each << (-(-least // each) - 1).bit_length() for each in odd]
    return min(lengths, key=lambda each: each * _time(stages_of(each)))
