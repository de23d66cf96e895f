"""The vocabulary of mathematical functions: arithmetic on terms, which writes loop ops.

Comes in: a builder, and whether the machine multiplies and adds with one rounding. Goes out:
`Term`s, scalars or vectors of any lanes, on which `x * y + 1.0` means what it says.
Never: a branch, but for `branch`; nor a dtype that is not asked for: a Python number takes the
type of the term beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...ir import loop
from ...ir.builder import Builder
from ...ir.dtypes import DType, Kind, i64
from ...ir.func import Yield
from ...ir.loop import BinaryKind, CompareKind, ReduceKind, UnaryKind
from ...ir.payloads import Number
from ...ir.types import Scalar, Vec
from ...ir.values import AnyValue


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where ops are written, and whether there is an instruction for x * y + z."""

    builder: Builder
    fused: bool

    def term(self, value: AnyValue) -> "Term":
        """A value of the program, to compute with."""
        return Term(self, value)


class Term:
    """A value to compute with."""

    __slots__ = ("sheet", "value")

    def __init__(self, sheet: Sheet, value: AnyValue) -> None:
        self.sheet, self.value = sheet, value

    @property
    def dtype(self) -> DType:
        """The dtype of every lane."""
        return self.value.type.dtype

    def __add__(self, other: "Term | float") -> "Term":
        return self.binary(BinaryKind.ADD, other)

    def __radd__(self, other: float) -> "Term":
        return self.like(other) + self

    def __sub__(self, other: "Term | float") -> "Term":
        return self.binary(BinaryKind.SUBTRACT, other)

    def __rsub__(self, other: float) -> "Term":
        return self.like(other) - self

    def __mul__(self, other: "Term | float") -> "Term":
        return self.binary(BinaryKind.MULTIPLY, other)

    def __rmul__(self, other: float) -> "Term":
        return self.like(other) * self

    def __truediv__(self, other: "Term | float") -> "Term":
        return self.binary(BinaryKind.DIVIDE, other)

    def __rtruediv__(self, other: float) -> "Term":
        return self.like(other) / self

    def __neg__(self) -> "Term":
        return self.unary(UnaryKind.NEGATE)

    def __abs__(self) -> "Term":
        return self.unary(UnaryKind.ABSOLUTE)

    def __and__(self, other: "Term | int") -> "Term":
        return self.binary(BinaryKind.BIT_AND, other)

    def __or__(self, other: "Term | int") -> "Term":
        return self.binary(BinaryKind.BIT_OR, other)

    def __xor__(self, other: "Term | int") -> "Term":
        return self.binary(BinaryKind.BIT_XOR, other)

    def __invert__(self) -> "Term":
        return self.unary(UnaryKind.BIT_NOT)

    def __lshift__(self, count: "Term | int") -> "Term":
        return self.binary(BinaryKind.SHIFT_LEFT, count)

    def __rshift__(self, count: "Term | int") -> "Term":
        return self.binary(BinaryKind.SHIFT_RIGHT, count)

    def __lt__(self, other: "Term | float") -> "Term":
        return self.compare(CompareKind.LESS, other)

    def __le__(self, other: "Term | float") -> "Term":
        return self.compare(CompareKind.LESS_EQUAL, other)

    def __gt__(self, other: "Term | float") -> "Term":
        return self.like(other) < self

    def __ge__(self, other: "Term | float") -> "Term":
        return self.like(other) <= self

    def equals(self, other: "Term | float") -> "Term":
        """Whether both are the same number."""
        return self.compare(CompareKind.EQUAL, other)

    def differs(self, other: "Term | float") -> "Term":
        """Whether both are not the same number; NaN differs from itself."""
        return self.compare(CompareKind.NOT_EQUAL, other)

    def like(self, number: "Term | float") -> "Term":
        """A number in every lane, in the type of this term; a term as it is."""
        if isinstance(number, Term):
            return number
        builder, type_ = self.sheet.builder, self.value.type
        stated = float(number) if type_.dtype.kind is Kind.FLOAT else number
        value = builder.emit(loop.Constant, Number(stated, type_.dtype))
        if isinstance(type_, Vec):
            value = builder.emit(loop.Splat, value, lanes=type_.lanes)
        return Term(self.sheet, value)

    def unary(self, kind: UnaryKind) -> "Term":
        """kind(self)"""
        return self.emit(loop.Unary, self, kind=kind)

    def binary(self, kind: BinaryKind, other: "Term | float") -> "Term":
        """kind(self, other)"""
        return self.emit(loop.Binary, self, self.like(other), kind=kind)

    def compare(self, kind: CompareKind, other: "Term | float") -> "Term":
        """Whether kind(self, other)"""
        return self.emit(loop.Compare, self, self.like(other), kind=kind)

    def cast(self, dtype: DType) -> "Term":
        """The number in another dtype."""
        return self if dtype is self.dtype else self.emit(loop.Cast, self, dtype=dtype)

    def bits(self, dtype: DType) -> "Term":
        """The same bits, read as another dtype."""
        return self if dtype is self.dtype else self.emit(loop.Bitcast, self, dtype=dtype)

    def emit(self, cls: type[Any], *terms: "Term", **named: Any) -> "Term":
        """An op of class `cls` on these terms, of which this is one."""
        values = [term.value for term in terms]
        return Term(self.sheet, self.sheet.builder.emit(cls, *values, **named))


def multiply_add(x: Term, y: Term | float, z: Term | float) -> Term:
    """x * y + z, rounded once where the machine can, else twice."""
    if not x.sheet.fused:
        return x * y + z
    return x.emit(loop.FusedMultiplyAdd, x, x.like(y), x.like(z))


def select(condition: Term, on_true: Term | float, on_false: Term | float) -> Term:
    """One or the other; at least one of the two is a term."""
    if isinstance(on_true, Term):
        yes, no = on_true, on_true.like(on_false)
    else:
        assert isinstance(on_false, Term)
        yes, no = on_false.like(on_true), on_false
    return condition.emit(loop.Select, condition, yes, no)


def at_least(x: Term, low: float) -> Term:
    """x, or `low` where it is less; NaN stays. One instruction, unlike `maximum`."""
    return select(x < low, low, x)


def at_most(x: Term, high: float) -> Term:
    """x, or `high` where it is more; NaN stays."""
    return select(x > high, high, x)


def copy_sign(x: Term, sign: Term) -> Term:
    """The size of x with the sign of another."""
    return x.binary(BinaryKind.COPY_SIGN, sign)


def round_even(x: Term) -> Term:
    """The nearest whole number."""
    return x.unary(UnaryKind.ROUND_EVEN)


def truncate(x: Term) -> Term:
    """The whole part."""
    return x.unary(UnaryKind.TRUNCATE)


def square_root(x: Term) -> Term:
    """The square root, rightly rounded."""
    return x.unary(UnaryKind.SQUARE_ROOT)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """c0 + c1 x + c2 x² + …, by Horner's scheme."""
    *lower, last = coefficients
    total = x.like(last)
    for coefficient in reversed(lower):
        total = multiply_add(total, x, coefficient)
    return total


def stated(x: Term) -> float | None:
    """The number that the program states for every lane, if it does."""
    owner = x.value.owner
    if isinstance(owner, loop.Splat):
        owner = owner.x.owner
    if not isinstance(owner, loop.Constant):
        return None
    numbers = owner.value.array.reshape(-1)
    return float(numbers[0]) if (numbers == numbers[0]).all() else None


def any_lane(condition: Term) -> Term:
    """Whether it holds in one lane at least: a scalar."""
    if isinstance(condition.value.type, Scalar):
        return condition
    return condition.emit(loop.Reduce, condition, kind=ReduceKind.BIT_OR)


Branch = Callable[[Sheet], Sequence[Term]]


def branch(condition: Term, on_true: Branch, on_false: Branch) -> list[Term]:
    """What one function or the other computes, of which only one is run; each writes on a sheet of
    its own, and reads terms of this one by `moved`."""
    sheet = condition.sheet
    regions = [_region(sheet, on_true), _region(sheet, on_false)]
    values = sheet.builder.emit_all(loop.If, condition.value, (), *regions)
    return [Term(sheet, value) for value in values]


def moved(term: Term, sheet: Sheet) -> Term:
    """The same value, to compute with on another sheet."""
    return Term(sheet, term.value)


Round = Callable[[Sheet, list[Term]], Sequence[Term]]


def turns(count: int, step: Round, carries: Sequence[Term]) -> list[Term]:
    """`step` applied so many times; it writes on a sheet of its own."""
    sheet = carries[0].sheet
    builder, index = sheet.builder, Scalar(i64)
    inner = builder.nest([index, *[term.value.type for term in carries]])
    own = Sheet(inner, sheet.fused)
    results = step(own, [own.term(value) for value in inner.block.arguments[1:]])
    inner.emit_all(Yield, [term.value for term in results])
    low, high, one = [builder.emit(loop.Constant, Number(n, i64)) for n in (0, count, 1)]
    values = builder.emit_all(
        loop.For, low, high, one, [term.value for term in carries], inner.block
    )
    return [Term(sheet, value) for value in values]


def repeat(
    condition: Callable[[list[Term]], Term], step: Round, carries: Sequence[Term]
) -> list[Term]:
    """`step` applied as long as the condition, a scalar, holds; both write on their own sheets."""

    def question(sheet: Sheet, terms: list[Term]) -> list[Term]:
        return [condition(terms)]

    sheet = carries[0].sheet
    types = [term.value.type for term in carries]
    regions: list[Any] = []
    for function in (question, step):
        inner = sheet.builder.nest(types)
        own = Sheet(inner, sheet.fused)
        results = function(own, [own.term(value) for value in inner.block.arguments])
        inner.emit_all(Yield, [term.value for term in results])
        regions.append(inner.block)
    values = sheet.builder.emit_all(loop.While, [term.value for term in carries], *regions)
    return [Term(sheet, value) for value in values]


def _region(sheet: Sheet, function: Branch) -> Any:
    inner = sheet.builder.nest()
    results = function(Sheet(inner, sheet.fused))
    inner.emit_all(Yield, [term.value for term in results])
    return inner.block
