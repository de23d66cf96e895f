"""Contractions: sums of products over pairs of axes, of which a matrix product is one.

Comes in: two tensors of one dtype. Goes out: a tensor of `dtype`, each element accumulated in
the wider of the two dtypes, or in f32 if that is wider, and rounded once. Integers wrap.
Never: a change of kind, such as integers to floats; that is a cast's.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among
from ..dims import Size
from ..dtypes import INTEGERS, NUMBERS, DType
from ..errors import require
from ..payloads import Array, rounded
from ..types import Tensor
from ..values import AnyValue
from .axes import check_distinct, other_axes, shifted
from .base import Tangents, TensorOp, Values, rebuilt
from .rules import emit, require_linear_in_one, total, with_axis


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

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        left, right = tangents
        by_left = None if left is None else self._of(builder, left, self.right)
        by_right = None if right is None else self._of(builder, self.left, right)
        return (total(builder, (by_left, by_right)),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        require_linear_in_one(operands)
        side = 0 if operands[0] is None else 1
        made = self._against(builder, cotangents[0], operands[1 - side], side)
        return (None, made) if side else (made, None)

    def _against(self, builder: Builder, cotangent: Any, other: Any, side: int) -> AnyValue:
        """The cotangent of one operand: that of the result, contracted with the other operand."""
        sides = (self.left_batch, self.left_contract), (self.right_batch, self.right_contract)
        (batch, summed), (their_batch, their_summed) = sides[side], sides[1 - side]
        operand = self.operands[side]
        free = other_axes(len(operand.shape), batch, summed)
        their_free = other_axes(len(other.shape), their_batch, their_summed)
        start = len(batch) + (0 if side else len(free))
        axes = tuple(range(start, start + len(their_free)))
        both = alike(builder, cotangent, other)
        batches = tuple(range(len(batch))), their_batch
        made = emit(builder, "contract", *both, *batches, axes, their_free, operand.dtype)
        # Last come the axes of `other` that were summed, in order: partners of those of `operand`.
        partners = [axis for _, axis in sorted(zip(their_summed, summed, strict=True))]
        order = (*batch, *free, *partners)
        back = tuple(order.index(axis) for axis in range(len(order)))
        return made if back == tuple(range(len(back))) else emit(builder, "permute", made, back)

    def _of(self, builder: Builder, left: AnyValue, right: AnyValue) -> AnyValue:
        """The same contraction of other operands."""
        return emit(builder, "contract", left, right, *self.attributes)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """Lanes are one more batch axis where both have them, else one more free axis."""
        ours, theirs = batched
        both = (0,) if ours and theirs else ()
        made = rebuilt(
            self,
            builder,
            operands,
            left_batch=(*both, *shifted(self.left_batch, ours)),
            right_batch=(*both, *shifted(self.right_batch, theirs)),
            left_contract=shifted(self.left_contract, ours),
            right_contract=shifted(self.right_contract, theirs),
        )
        lanes = 0 if both else len(self.left_batch)
        if not ours:  # behind the free axes of left
            lanes = self.left.type.rank - len(self.left_contract)
        return (with_axis(builder, made[0], lanes, 0),)

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


def alike(builder: Builder, left: Any, right: Any) -> list[AnyValue]:
    """Both operands in one dtype, which holds the numbers of either."""
    if left.dtype is right.dtype:
        return [left, right]
    wide = wider(left.dtype, right.dtype)
    both = left, right
    return [each if each.dtype is wide else emit(builder, "cast", each, wide) for each in both]


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
