"""What fusing is worth: the whole model, with its numbers.

Comes in: shapes, dtypes and ops. Goes out: estimates in units of one byte moved to or from memory.
Never: a size that decides: an open size counts as `TYPICAL`, within its bounds, so that a func is
fused in the same way whatever it is called with.
"""

from functools import cache

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Size, Symbol, evaluate, symbols
from ...ir.dtypes import DType
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.elementwise import Elementwise, Remainder
from ...ir.tensor.reduce import Reduction
from ...ir.values import AnyValue, Op

TYPICAL = 1024
"""What a size that is open counts as."""

LAUNCH = 32768.0
"""What one launch costs: as much as moving so many bytes."""

PLAIN, DIVIDING, COSTLY = 0.125, 2.0, 6.0
"""What one element costs of an op of one instruction, of a division or root, of a function."""

CACHED = 0.5
"""What it costs to read a byte again, of an array that is repeated along further axes."""

MOST_ARRAYS = 40
"""How many arrays a kernel reads and writes, beyond which values would not stay in registers."""

MOST_BESIDE = 6
"""How many of them may be as large as the result of a contraction, if there is one, itself counted:
for each the code has a vector more for every register of a tile, in each version of it."""

MOST_OPS = 400
"""How many ops a kernel has, so that it is compiled in reasonable time."""

RANDOM, ONE_OF_ROW = 40, 20
"""How many ops of other kinds have as much code as one that makes random words; and as a read of
one element of each row, which vectors do not do."""

MOST_LEVELS = 8
"""How many reductions of a kernel wait for each other. For each of them, what the ones before are
subtracted from, or multiplied with, is computed again: the code grows with the square."""

MOST_RECOMPUTED = 24
"""How many ops are computed again for one value."""

MOST_VISITED = 256
"""How many kernels are looked at to see whether joining two makes a circle."""

_DIVIDING = (
    tensor.Divide, tensor.SquareRoot, tensor.ReciprocalSquareRoot, Remainder, tensor.Hypot,
)  # fmt: skip
_PLAIN = (
    tensor.Add, tensor.Subtract, tensor.Multiply, tensor.Negate, tensor.Absolute, tensor.Maximum,
    tensor.Minimum, tensor.Equal, tensor.NotEqual, tensor.Less, tensor.LessEqual, tensor.IsNan,
    tensor.IsFinite, tensor.BitAnd, tensor.BitOr, tensor.BitXor, tensor.BitNot, tensor.ShiftLeft,
    tensor.ShiftRight, tensor.Floor, tensor.Ceil, tensor.Truncate, tensor.RoundEven, tensor.Sign,
    tensor.CopySign,
)  # fmt: skip


@cache
def amount(size: Size) -> float:
    """A size as a number, for comparisons of costs."""
    if isinstance(size, int):
        return float(size)
    return float(max(evaluate(size, {each: _typical(each) for each in symbols(size)}), 0))


def count(shape: Shape) -> float:
    """About how many elements a shape has."""
    found = 1.0
    for size in shape:
        found *= amount(size)
    return found


def moved(shape: Shape, dtype: DType) -> float:
    """About how many bytes are moved to read or write an array once."""
    return count(shape) * dtype.itemsize


@cache
def effort(cls: type | None) -> float:
    """What an op costs for each of its elements; None is a copy, which costs nothing."""
    if cls is None or issubclass(cls, _PLAIN):
        return PLAIN
    if issubclass(cls, (tensor.Cast, tensor.Bitcast, tensor.Select, Reduction, ArgReduction)):
        return PLAIN
    if issubclass(cls, _DIVIDING):
        return DIVIDING
    return COSTLY if issubclass(cls, Elementwise) else 0.0


def length(op: Op | None) -> int:
    """About how many ops an op, or a copy, has as much code as."""
    if op is None:
        return 1
    if isinstance(op, tensor.RandomBits):
        return RANDOM
    return 1 + ONE_OF_ROW * sum([_is_one_of_row(each) for each in op.operands])


def _is_one_of_row(value: AnyValue) -> bool:
    """Whether a value is one element of each row of another one, as half of a wide word is."""
    while isinstance(value.owner, tensor.Reshape):
        value = value.owner.x
    part = value.owner
    return isinstance(part, tensor.Slice) and part.size[-1:] == (1,) != part.x.shape[-1:]


def _typical(symbol: Symbol) -> int:
    within = min(max(TYPICAL, symbol.low), symbol.high)
    return within - within % symbol.multiple
