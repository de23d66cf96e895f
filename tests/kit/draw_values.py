"""Recipes for ops on single elements, and for those that make tensors from nothing."""

from typing import Any

import numpy as np

from brimstone.ir import dtypes, tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import ALL, COMPLEXES, FLOATS, INEXACT, NUMBERS, DType, Kind
from brimstone.ir.values import AnyValue
from kit.draft import Draft, static_sizes
from kit.recipes import recipe

# Numbers for which algebra has rules, right ones and wrong ones.
TEMPTING: dict[type[Op], tuple[float, ...]] = {
    tensor.Add: (0.0, -0.0), tensor.Subtract: (0.0, -0.0), tensor.Multiply: (0.0, 1.0, -1.0, 2.0),
    tensor.Divide: (1.0, -1.0, 2.0), tensor.Power: (0.0, 1.0, 2.0), tensor.Remainder: (1.0, 0.0),
    tensor.Maximum: (0.0, -0.0), tensor.Minimum: (0.0, -0.0), tensor.BitXor: (0.0, -1.0),
    tensor.BitAnd: (0.0, -1.0), tensor.BitOr: (0.0, -1.0),
}  # fmt: skip


@recipe(tensor.Constant)
def draw_constant(draft: Draft, cls: type[Op]) -> object:
    sizes = static_sizes(draft.shape()) or ()
    return draft.constant(tuple(min(size, 4) for size in sizes[:3]), draft.dtype(ALL))


@recipe(tensor.Iota)
def draw_iota(draft: Draft, cls: type[Op]) -> object:
    shape = draft.shape(ranks=(1, 1, 2, 2, 3, 4))
    axis = draft.random.randrange(len(shape))
    return draft.emit(cls, shape=shape, axis=axis, dtype=draft.dtype(NUMBERS))


@recipe(tensor.RandomBits)
def draw_random_bits(draft: Draft, cls: type[Op]) -> object:
    key = draft.like((2,), dtypes.u32)
    return draft.emit(cls, key, shape=draft.shape(), offset=draft.size())


@recipe(tensor.elementwise.Unary, tensor.elementwise.Binary)
def draw_elementwise(draft: Draft, cls: type[Op]) -> object:
    """The first operand of any dtype that the declaration takes, the others of its type."""
    first, *others = cls.operand_fields
    x = draft.operand(first.rule.dtypes or ALL)
    operands = [x, *(_partner(draft, cls, x) for _ in others)]
    draft.random.shuffle(operands)
    return draft.emit(cls, *operands)


@recipe(tensor.CopySign)
def draw_copy_sign(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand(FLOATS)
    return draft.emit(cls, x, draft.stated(draft.like(x.shape, x.dtype)))


def _partner(draft: Draft, cls: type[Op], x: AnyValue) -> AnyValue:
    """A value of x's type; at times one tempting number, everywhere."""
    if cls not in TEMPTING or not draft.chance(0.4):
        return draft.like(x.shape, x.dtype)
    number = draft.number(_as(x.dtype, draft.random.choice(TEMPTING[cls])), x.dtype)
    return draft.emit(tensor.Broadcast, number, shape=x.shape)[0] if x.shape else number


def _as(dtype: DType, number: float) -> Any:
    """The number as a dtype may hold it: for -1, all bits set."""
    if dtype.kind is Kind.UNSIGNED and number < 0:
        return np.iinfo(dtype.storage).max
    return number if dtype in INEXACT else bool(number) if dtype is dtypes.boolean else int(number)


@recipe(tensor.Select)
def draw_select(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand()
    other = draft.like(x.shape, x.dtype)
    return draft.emit(cls, draft.like(x.shape, dtypes.boolean), x, other)


@recipe(tensor.Cast)
def draw_cast(draft: Draft, cls: type[Op]) -> object:
    return draft.emit(cls, draft.operand(), dtype=draft.dtype(ALL))


@recipe(tensor.Bitcast)
def draw_bitcast(draft: Draft, cls: type[Op]) -> object:
    x = draft.stated(draft.operand(ALL - {dtypes.boolean}))
    same_width = [each for each in ALL if each.bits == x.dtype.bits]
    return draft.emit(cls, x, dtype=draft.dtype(same_width))


@recipe(tensor.Real, tensor.Imaginary, tensor.Conjugate)
def draw_of_complex(draft: Draft, cls: type[Op]) -> object:
    return draft.emit(cls, draft.operand(COMPLEXES))


@recipe(tensor.Complex)
def draw_complex(draft: Draft, cls: type[Op]) -> object:
    real = draft.operand({dtypes.f32, dtypes.f64})
    return draft.emit(cls, real, draft.like(real.shape, real.dtype))


@recipe(tensor.Dim)
def draw_dim(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand(ranks=(1, 1, 2, 2, 3, 4))
    return draft.emit(cls, x, axis=draft.random.randrange(len(x.shape)))
