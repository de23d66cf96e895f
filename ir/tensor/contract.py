"""Contractions: sums of products over pairs of axes, of which a matrix product is one.

Comes in: two tensors of one dtype. Goes out: a tensor of `dtype`, each element accumulated in
the wider of the two dtypes, or in f32 if that is wider, and rounded once. Integers wrap.
Never: a change of kind, such as integers to floats; that is a cast's.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..declare import Attr, Operand, Result, among
from ..dtypes import INTEGERS, NUMBERS, DType
from ..errors import require
from ..payloads import Array, rounded
from ..types import Tensor
from .axes import check_distinct, other_axes
from .base import TensorOp


class Contract(TensorOp, name="tensor.contract"):
    """left * right summed over the contracted axes: batch axes, left's others, right's others."""

    left: Operand[Tensor] = among(NUMBERS)
    right: Operand[Tensor]
    left_batch: Attr[tuple[int, ...]]
    right_batch: Attr[tuple[int, ...]]
    left_contract: Attr[tuple[int, ...]]
    right_contract: Attr[tuple[int, ...]]
    dtype: Attr[DType]
    result: Result[Tensor]

    @staticmethod
    def infer(
        left: Tensor,
        right: Tensor,
        left_batch: tuple[int, ...],
        right_batch: tuple[int, ...],
        left_contract: tuple[int, ...],
        right_contract: tuple[int, ...],
        dtype: DType,
    ) -> Tensor:
        check_dtypes(left, right, dtype)
        check_distinct((*left_batch, *left_contract), left.rank, "left_batch + left_contract")
        check_distinct((*right_batch, *right_contract), right.rank, "right_batch + right_contract")
        _check_pairs("batch", left, left_batch, right, right_batch)
        _check_pairs("contract", left, left_contract, right, right_contract)
        ours = (*left_batch, *other_axes(left.rank, left_batch, left_contract))
        theirs = other_axes(right.rank, right_batch, right_contract)
        sizes = *[left.shape[axis] for axis in ours], *[right.shape[axis] for axis in theirs]
        return Tensor(sizes, dtype)

    def run(self, frame: Any, *operands: Array) -> Array:
        left, right = operands
        wide = wider(self.left.dtype, self.dtype).storage
        batch = self.left_batch, self.right_batch
        summed = self.left_contract, self.right_contract
        sums = contraction(left.astype(wide), right.astype(wide), batch, summed)
        return rounded(sums, self.dtype)


Pair = tuple[Sequence[int], Sequence[int]]


def contraction(left: Array, right: Array, batch: Pair, summed: Pair) -> Array:
    """The contraction of two arrays in their own dtype; `batch` and `summed` name axes of each.

    Both are first copied to one order, so that how they are laid out never changes a bit.
    """
    left_free = other_axes(left.ndim, batch[0], summed[0])
    right_free = other_axes(right.ndim, batch[1], summed[1])
    product = np.matmul(
        _grouped(left, batch[0], left_free, summed[0]),
        _grouped(right, batch[1], summed[1], right_free),
    )
    sizes = [left.shape[axis] for axis in (*batch[0], *left_free)]
    return product.reshape(sizes + [right.shape[axis] for axis in right_free])


def _grouped(array: Array, *groups: Sequence[int]) -> Array:
    """A contiguous copy with one axis for each group of axes."""
    in_order = array.transpose([axis for group in groups for axis in group])
    shape = [prod([array.shape[axis] for axis in group]) for group in groups]
    return np.ascontiguousarray(in_order).reshape(shape)


def wider(operand: DType, result: DType) -> DType:
    """What products of `operand`s are summed in when the sum is to be a `result`."""
    return max(operand.accumulator, result.accumulator, key=lambda dtype: dtype.bits)


def check_dtypes(left: Tensor, right: Tensor, dtype: DType) -> None:
    """Refuse operands of two dtypes, and a result of another kind."""
    require(left.dtype is right.dtype, f"the operands are of {left.dtype} and of {right.dtype}")
    same_kind = left.dtype.kind is dtype.kind or {left.dtype, dtype} <= INTEGERS
    require(same_kind, f"products of {left.dtype} cannot be summed to {dtype}; cast first")


def _check_pairs(
    name: str, left: Tensor, left_axes: tuple[int, ...], right: Tensor, right_axes: tuple[int, ...]
) -> None:
    """Refuse axes that do not pair off in equal sizes."""
    require(
        len(left_axes) == len(right_axes),
        f"left_{name} names {len(left_axes)} axes, right_{name} {len(right_axes)}",
    )
    for ours, theirs in zip(left_axes, right_axes, strict=True):
        require(
            left.shape[ours] == right.shape[theirs],
            f"axis {ours} of left has size {left.shape[ours]}, "
            f"axis {theirs} of right has size {right.shape[theirs]}",
        )
