"""Recipes for ops on single elements, and for those that make tensors from nothing."""

from brimstone.ir import dtypes, tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import ALL, COMPLEXES, FLOATS, NUMBERS, DType, Kind
from brimstone.ir.values import AnyValue
from kit.draft import Draft, static_sizes
from kit.recipes import recipe

NEUTRAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 2.0)
NEUTRAL_INTEGERS = (0, 1, 2)


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
    operands = [x, *(_partner(draft, x) for _ in others)]
    draft.random.shuffle(operands)
    return draft.emit(cls, *operands)


def _partner(draft: Draft, x: AnyValue) -> AnyValue:
    """A value of x's type; at times a number, everywhere, for which algebra has a rule."""
    if x.dtype is dtypes.boolean or not draft.chance(0.15):
        return draft.like(x.shape, x.dtype)
    numbers = NEUTRAL_FLOATS if x.dtype in FLOATS else NEUTRAL_INTEGERS
    number = draft.number(draft.random.choice(numbers), x.dtype)
    return draft.emit(tensor.Broadcast, number, shape=x.shape)[0] if x.shape else number


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
    x = draft.operand(ALL - COMPLEXES - {dtypes.boolean})
    same_width = [each for each in ALL if _width(each) == _width(x.dtype)]
    return draft.emit(cls, x, dtype=draft.dtype(same_width))


def _width(dtype: DType) -> int:
    return 0 if dtype.kind in (Kind.BOOL, Kind.COMPLEX) else dtype.bits


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
