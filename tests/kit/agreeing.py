"""Random programs whose results can be held against each other on any target.

Comes in: a seed, and the dtype of the floats. Goes out: a func, the same for each dtype but for its
types, with the terms whose sizes say how much rounding may matter.
Never: a function that jumps of what is rounded, or one that makes small differences large: the
operands of the first are multiples of 1/4 that every dtype holds, and the others are guarded.
"""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Size, Symbol
from brimstone.ir.dtypes import DType, boolean, i32, u32
from brimstone.ir.func import Func, Return
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.indexing import Outside
from brimstone.ir.tensor.rules import Term
from brimstone.ir.types import Tensor

LARGEST = 64
SIZES = (0, 1, 2, 5, 7, 13, 17, 33, 37, 64)
INPUT_QUARTERS = 32
MOST_QUARTERS = 255
"""Multiples of 1/4 up to so many fit in the eight bits of bf16."""
MOST_STEPS = 10


class Known(NamedTuple):
    """A float, and of how many quarters at most, if it is made of quarters."""

    term: Term
    quarters: int | None = None


class Sketch:
    """A func in the making: floats, integers and truths of shape [rows, columns]."""

    def __init__(self, seed: int, dtype: DType) -> None:
        self.random, self.dtype = Random(seed), dtype
        open_sizes = (Symbol("n", 0, LARGEST), Symbol("m", 0, LARGEST))
        pinned = [self.random.random() < 0.2 for _ in open_sizes]
        self.shape: tuple[Size, ...] = tuple(
            self.random.choice(SIZES) if pin else size
            for pin, size in zip(pinned, open_sizes, strict=True)
        )
        symbols = tuple(size for size in self.shape if isinstance(size, Symbol))
        types = [dtype, dtype, i32, i32, boolean]
        self.func = Func("main", [Tensor(self.shape, each) for each in types], symbols)
        self.builder = Builder(self.func.body)
        x, y, i, j, flag = (Term(self.builder, each) for each in self.func.arguments)
        self.floats = [Known(x, INPUT_QUARTERS), Known(y, INPUT_QUARTERS)]
        self.whole, self.flags = [i, j], [flag]
        self.terms = [x.apply("absolute"), y.apply("absolute")]

    # What is there to choose from.

    def any_float(self) -> Term:
        """Any of the floats, of the later ones more often."""
        return self.random.choice([*self.floats, *self.floats[-3:]]).term

    def quarters(self) -> Known:
        """A float that is exact."""
        return self.random.choice([each for each in self.floats if each.quarters is not None])

    def integer(self) -> Term:
        """Any of the integers."""
        return self.random.choice([*self.whole, *self.whole[-2:]])

    def flag(self) -> Term:
        """Any of the truths."""
        return self.random.choice(self.flags)

    def axis(self) -> int:
        """One of the two axes."""
        return self.random.randrange(2)

    # What is made.

    def rounded(self, term: Term) -> None:
        """A float of which the last bits are open."""
        self.floats.append(Known(term))
        self.terms.append(term.apply("absolute"))

    def exact(self, term: Term, quarters: int) -> None:
        """A float of quarters; too many of them are rounded."""
        self.floats.append(Known(term, quarters if quarters <= MOST_QUARTERS else None))
        self.terms.append(term.apply("absolute"))

    def summed(self, term: Term) -> None:
        """Note that the elements of a term are added up."""
        self.terms.append(_size(term).apply("reduce_sum", axes=(0, 1)))

    def spread(self, reduced: Term, axis: int) -> Term:
        """What was reduced along an axis, along it again."""
        return reduced.apply("broadcast", shape=self.shape, axes=(1 - axis,))

    def results(self, every_term: bool) -> list[Any]:
        """The last of each kind, and a sum; or those and all terms."""
        last = [self.floats[-1].term, self.floats[-2].term, self.whole[-1], self.flags[-1]]
        axis = self.axis()
        self.summed(last[0])
        last.append(last[0].apply("reduce_sum", axes=(axis,)))
        return [each.value for each in [*last, *(self.terms if every_term else ())]]


def _size(term: Term) -> Term:
    """How large the elements are, those that are finite: beside a sum that is not, others are."""
    return term.apply("absolute").where(term.apply("is_finite"), 0.0)


Step = Callable[[Sketch], None]
RESULTS = 5


def program(seed: int, dtype: DType, every_term: bool = False) -> Func:
    """The program of a seed, which returns `RESULTS` results, and then perhaps all terms."""
    sketch = Sketch(seed, dtype)
    for _ in range(sketch.random.randint(2, MOST_STEPS)):
        sketch.random.choice(STEPS)(sketch)
    sketch.builder.emit_all(Return, sketch.results(every_term))
    return sketch.func


MAPS: tuple[Callable[[Term], Term], ...] = (
    lambda x: x.apply("tanh"),
    lambda x: x.apply("sin"),
    lambda x: x.apply("cos"),
    lambda x: x.apply("erf"),
    lambda x: x.apply("arctan"),
    lambda x: (-(x * x)).apply("exp"),
    lambda x: (x * x + 1.0).apply("log"),
    lambda x: (x * x).apply("log1p"),
    lambda x: x.apply("tanh").apply("expm1"),
    lambda x: (x * x + 0.5).apply("square_root"),
    lambda x: (x * x + 0.5).apply("reciprocal_square_root"),
    lambda x: 1.0 / ((-x).apply("exp") + 1.0),
    lambda x: x * 0.5 - 0.25,
)
PAIRS: tuple[Callable[[Term, Term], Term], ...] = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y * 0.25,
    lambda x, y: x / (y * y + 1.5),
    lambda x, y: x.apply("maximum", y),
    lambda x, y: x.apply("minimum", y),
    lambda x, y: x.apply("hypot", y),
    lambda x, y: (x * x + 1.0).apply("power", y.apply("tanh")),
)
INTEGER_OPS = (
    "add", "subtract", "multiply", "divide", "remainder", "minimum", "maximum", "bit_and",
    "bit_or", "bit_xor", "shift_left", "shift_right",
)  # fmt: skip
ORDERS = ("less", "less_equal", "equal", "not_equal")


def _map(sketch: Sketch) -> None:
    sketch.rounded(sketch.random.choice(MAPS)(sketch.any_float()))


def _pair(sketch: Sketch) -> None:
    sketch.rounded(sketch.random.choice(PAIRS)(sketch.any_float(), sketch.any_float()))


def _exact_sum(sketch: Sketch) -> None:
    left, right = sketch.quarters(), sketch.quarters()
    total = (left.quarters or 0) + (right.quarters or 0)
    sketch.exact(left.term + right.term, total)


def _jump(sketch: Sketch) -> None:
    x = sketch.quarters()
    name = sketch.random.choice(["floor", "ceil", "round_even", "truncate", "sign"])
    sketch.exact(x.term.apply(name), (x.quarters or 0) + 4)


def _to_integer(sketch: Sketch) -> None:
    sketch.whole.append(sketch.quarters().term.cast(i32))


def _from_integer(sketch: Sketch) -> None:
    few = sketch.integer()
    few = few.apply("bit_and", few.number(15))
    sketch.exact(few.cast(sketch.dtype), 60)


def _integers(sketch: Sketch) -> None:
    name = sketch.random.choice(INTEGER_OPS)
    sketch.whole.append(sketch.integer().apply(name, sketch.integer()))


def _compare(sketch: Sketch) -> None:
    name = sketch.random.choice(ORDERS)
    if sketch.random.random() < 0.5:
        left, right = sketch.integer(), sketch.integer()
    else:
        left, right = sketch.quarters().term, sketch.quarters().term
    sketch.flags.append(left.apply(name, right))


def _truths(sketch: Sketch) -> None:
    name = sketch.random.choice(["bit_and", "bit_or", "bit_xor"])
    sketch.flags.append(sketch.flag().apply(name, sketch.flag()))


def _where(sketch: Sketch) -> None:
    if sketch.random.random() < 0.3:
        sketch.whole.append(sketch.integer().where(sketch.flag(), sketch.integer()))
    else:
        sketch.rounded(sketch.any_float().where(sketch.flag(), sketch.any_float()))


def _softmax(sketch: Sketch) -> None:
    x, axis = sketch.any_float(), sketch.axis()
    above = (x - sketch.spread(x.apply("reduce_maximum", axes=(axis,)), axis)).apply("exp")
    sketch.summed(above)
    sketch.rounded(above / sketch.spread(above.apply("reduce_sum", axes=(axis,)), axis))


def _norm(sketch: Sketch) -> None:
    x, axis = sketch.any_float(), sketch.axis()
    squares = x * x
    sketch.summed(squares)
    sums = squares.apply("reduce_sum", axes=(axis,))
    inverse = (sums + 0.5).apply("reciprocal_square_root")
    sketch.rounded(x * sketch.spread(inverse, axis))


def _centred(sketch: Sketch) -> None:
    x, axis = sketch.any_float(), sketch.axis()
    sketch.summed(x)
    sums = x.apply("reduce_sum", axes=(axis,)) * 0.125
    sketch.rounded(x - sketch.spread(sums, axis))


def _extreme(sketch: Sketch) -> None:
    axis, name = sketch.axis(), sketch.random.choice(["reduce_maximum", "reduce_minimum"])
    x = sketch.any_float()
    sketch.rounded(x - sketch.spread(x.apply(name, axes=(axis,)), axis))


def _counted(sketch: Sketch) -> None:
    axis, name = sketch.axis(), sketch.random.choice(["reduce_sum", "reduce_or", "reduce_maximum"])
    sums = sketch.integer().apply(name, axes=(axis,))
    sketch.whole.append(sketch.spread(sums, axis))


def _all_of(sketch: Sketch) -> None:
    axis, name = sketch.axis(), sketch.random.choice(["reduce_and", "reduce_or"])
    sketch.flags.append(sketch.spread(sketch.flag().apply(name, axes=(axis,)), axis))


def _place(sketch: Sketch) -> None:
    axis = sketch.axis()
    if sketch.shape[axis] == 0 or isinstance(sketch.shape[axis], Symbol):
        return  # nothing may stand first
    name = sketch.random.choice(["arg_maximum", "arg_minimum"])
    found = sketch.quarters().term.apply(name, axis=axis, dtype=i32)
    sketch.whole.append(sketch.spread(found, axis))


def _cumulative(sketch: Sketch) -> None:
    axis, reverse = sketch.axis(), sketch.random.random() < 0.5
    if sketch.random.random() < 0.4:
        sums = sketch.integer().apply("cumulative_sum", axis=axis, reverse=reverse)
        sketch.whole.append(sums)
        return
    x = sketch.any_float()
    sketch.summed(x)
    sketch.rounded(x.apply("cumulative_sum", axis=axis, reverse=reverse) * 0.125)


def _product(sketch: Sketch) -> None:
    left, right = sketch.any_float(), sketch.any_float()
    largest = _size(right).apply("reduce_maximum", axes=(0, 1))
    sketch.terms.append(_size(left).apply("reduce_sum", axes=(0, 1)) * largest)
    options: dict[str, Any] = {"left_batch": (), "right_batch": (), "dtype": sketch.dtype}
    pairs = left.apply("contract", right, left_contract=(1,), right_contract=(1,), **options)
    squashed = (pairs * 0.0625).apply("tanh")
    sketch.summed(right)
    mixed = squashed.apply("contract", right, left_contract=(1,), right_contract=(0,), **options)
    sketch.rounded(mixed * 0.125)


def _flip(sketch: Sketch) -> None:
    x = sketch.random.choice(sketch.floats)
    flipped = x.term.apply("flip", axes=(sketch.axis(),))
    sketch.floats.append(Known(flipped, x.quarters))


def _shift(sketch: Sketch) -> None:
    """Everything moves on by one, a zero comes in, and perhaps all is turned around."""
    x, axis = sketch.random.choice(sketch.floats), sketch.axis()
    one = tuple(int(each == axis) for each in range(2))
    low, high = (one, (0, 0)) if sketch.random.random() < 0.5 else ((0, 0), one)
    zero = Number(0.0, sketch.dtype)
    padded = x.term.apply("pad", low=low, high=high, interior=(0, 0), value=zero)
    moved = padded.apply("slice", start=high, size=sketch.shape, step=(1, 1))
    if sketch.random.random() < 0.4:
        moved = moved.apply("flip", axes=(sketch.axis(),))
    sketch.floats.append(Known(moved, x.quarters))


def _flat(sketch: Sketch) -> None:
    """The same elements in one row, or in columns, and back."""
    x, (rows, columns) = sketch.any_float(), sketch.shape
    shape = sketch.random.choice([(rows * columns,), (columns, rows)])
    other = x.apply("reshape", shape=shape).apply("tanh")
    sketch.rounded(other.apply("reshape", shape=sketch.shape))


def _join(sketch: Sketch) -> None:
    left, right, axis = sketch.any_float(), sketch.any_float(), sketch.axis()
    values = [left.value, right.value]
    joined = Term(sketch.builder, sketch.builder.emit(tensor.Concat, values, axis=axis))
    second = sketch.random.random() < 0.5
    start = tuple(sketch.shape[axis] if second and each == axis else 0 for each in range(2))
    part = joined.apply("tanh").apply("slice", start=start, size=sketch.shape, step=(1, 1))
    sketch.rounded(part)


def _take(sketch: Sketch) -> None:
    """Rows by their numbers; those that there are not are zeros."""
    few = sketch.integer()
    few = few.apply("bit_and", few.number(7)).apply("reduce_maximum", axes=(1,))
    places = few.apply("reshape", shape=(sketch.shape[0], 1))
    x = sketch.any_float()
    sketch.rounded(x.apply("gather", places, axes=(0,), batch=0, outside=Outside.ZERO))


def _sort(sketch: Sketch) -> None:
    x = sketch.quarters()
    down = sketch.random.random() < 0.5
    made = sketch.builder.emit(
        tensor.Sort, [x.term.value], axis=sketch.axis(), keys=1, descending=down
    )
    sketch.floats.append(Known(Term(sketch.builder, made), x.quarters))


def _count(sketch: Sketch) -> None:
    made = sketch.builder.emit(tensor.Iota, shape=sketch.shape, axis=sketch.axis(), dtype=i32)
    sketch.whole.append(Term(sketch.builder, made))


def _random(sketch: Sketch) -> None:
    key = sketch.builder.emit(tensor.Constant, Number(sketch.random.getrandbits(16), u32))
    key = sketch.builder.emit(tensor.Broadcast, key, shape=(2,), axes=())
    made = sketch.builder.emit(tensor.RandomBits, key, shape=sketch.shape, offset=0)
    sketch.whole.append(Term(sketch.builder, made).cast(i32))


STEPS: tuple[Step, ...] = (
    _map, _map, _map, _pair, _pair, _pair, _exact_sum, _jump, _to_integer, _from_integer,
    _integers, _integers, _compare, _truths, _where, _where, _softmax, _norm, _centred, _extreme,
    _counted, _all_of, _place, _cumulative, _product, _flip, _shift, _flat, _join, _take, _sort,
    _count, _random,
)  # fmt: skip
