"""What derivative rules are written with: formulas of values, and small recipes of several ops.

Comes in: values, and the builder of the func being made. Goes out: values, or formulas (`Term`s),
in which `2 * x / y` emits the ops that compute it.
Never: a rule of one op; those stand in the ops' classes. Ops are found by name, when a rule runs:
views need sums for their rules, and sums need views.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Self

from ..attributes import Shape
from ..builder import Builder
from ..declare import REGISTRY, Op
from ..dtypes import DType, boolean
from ..errors import Unmet
from ..payloads import Number, PythonNumber
from ..values import AnyValue
from .axes import moved, other_axes
from .base import Tangents, Values


def no_tangent(self: Op, builder: Builder, tangents: Tangents) -> Tangents:
    """The `jvp` of ops whose results stand still, or jump: their derivative is zero."""
    return (None,) * len(self.results)


def same_op(self: Op, builder: Builder, tangents: Tangents) -> Tangents:
    """The `jvp` of ops of one operand that are linear: what they do, they do to its tangent."""
    return (again(self, builder, tangents[0]),)


def again(op: Op, builder: Builder, operand: Any) -> AnyValue:
    """The same op of another operand, its only one."""
    cls = op.__class__
    return cls.build(builder, operand, *op.attributes)[0]


def emit(builder: Builder, name: str, *operands: Any, **attributes: Any) -> AnyValue:
    """The first result of the op `tensor.name`."""
    return builder.emit(REGISTRY["tensor." + name], *operands, **attributes)


def emit_all(builder: Builder, name: str, *operands: Any, **attributes: Any) -> Values:
    """All results of the op `tensor.name`."""
    return builder.emit_all(REGISTRY["tensor." + name], *operands, **attributes)


class Term:
    """A value in a formula; numbers in the formula are of its type."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Builder, value: AnyValue) -> None:
        self.builder = builder
        self.value = value

    def apply(self, name: str, *others: "Term", **attributes: Any) -> Self:
        """The first result of the op `tensor.name` of this value and others."""
        operands = [other.value for other in others]
        made = emit(self.builder, name, self.value, *operands, **attributes)
        return self.__class__(self.builder, made)

    def number(self, value: PythonNumber) -> Self:
        """One number everywhere, of this value's type."""
        return self.__class__(self.builder, filled(self.builder, value, self.value.type))

    def cast(self, dtype: DType) -> Self:
        """This value as `dtype`."""
        return self if self.value.dtype is dtype else self.apply("cast", dtype=dtype)

    def where(self, predicate: "Term", other: "Term | float") -> Self:
        """This value where the predicate holds, the other elsewhere."""
        return self.__class__(
            self.builder, predicate.apply("select", self, self._term(other)).value
        )

    def _term(self, other: "Term | float") -> "Term":
        return other if isinstance(other, Term) else self.number(other)

    def __add__(self, other: "Term | float") -> Self:
        return self.apply("add", self._term(other))

    def __sub__(self, other: "Term | float") -> Self:
        return self.apply("subtract", self._term(other))

    def __mul__(self, other: "Term | float") -> Self:
        return self.apply("multiply", self._term(other))

    def __truediv__(self, other: "Term | float") -> Self:
        return self.apply("divide", self._term(other))

    def __rsub__(self, other: float) -> Self:
        return self.number(other).apply("subtract", self)

    def __rtruediv__(self, other: float) -> Self:
        return self.number(other).apply("divide", self)

    def __neg__(self) -> Self:
        return self.apply("negate")

    __radd__ = __add__
    __rmul__ = __mul__


def terms(builder: Builder, *values: Any) -> list[Any]:
    """Values as parts of a formula; None stays None."""
    return [value if value is None else Term(builder, value) for value in values]


def total(builder: Builder, parts: Iterable[AnyValue | None]) -> AnyValue | None:
    """The sum of the parts that are not None."""
    counted = [part for part in parts if part is not None]
    if not counted:
        return None
    return reduce(lambda left, right: emit(builder, "add", left, right), counted)


def filled(builder: Builder, value: PythonNumber, type_: Any) -> AnyValue:
    """One number everywhere, of this type.

    Of constants that stand in the block already, no more lines are noted: they have too many.
    """
    number = _noted_once(builder, "constant", (), (Number(value, type_.dtype),))
    if not type_.shape:
        return number
    return _noted_once(builder, "broadcast", (number,), (type_.shape, ()))


def _noted_once(builder: Builder, name: str, operands: Values, attributes: Any) -> AnyValue:
    cls = REGISTRY["tensor." + name]
    found = builder.block.numbering.get((cls, operands, attributes))
    if found is None or builder.before is not None:
        return builder.emit(cls, *operands, *attributes)
    return found.results[0]


def zeros(builder: Builder, type_: Any) -> AnyValue:
    """Zeros of this type."""
    return filled(builder, False if type_.dtype is boolean else 0, type_)


def present(builder: Builder, tangent: AnyValue | None, like: AnyValue) -> AnyValue:
    """A tangent of `like`, which is zeros if it is None."""
    return zeros(builder, like.type) if tangent is None else tangent


def broadcast_along(builder: Builder, y: Any, shape: Shape, axes: Sequence[int]) -> AnyValue:
    """A reduction's result repeated along the `axes` that it has lost, up to `shape`."""
    return emit(builder, "broadcast", y, shape=shape, axes=other_axes(len(shape), axes))


def with_axis(builder: Builder, x: Any, source: int, target: int) -> AnyValue:
    """x with its axis `source` as axis `target`, the others in order."""
    if source == target:
        return x
    return emit(builder, "permute", x, axes=moved(len(x.shape), source, target))


def take_along(builder: Builder, x: Any, places: AnyValue, axis: int) -> AnyValue:
    """On each line of x along an axis, the elements at the `places` of the same line."""
    last = len(x.shape) - 1
    lines, along = with_axis(builder, x, axis, last), with_axis(builder, places, axis, last)
    indices = emit(builder, "reshape", along, shape=(*along.shape, 1))
    taken = emit(builder, "gather", lines, indices, axes=(last,), batch=last)
    return with_axis(builder, taken, last, axis)


def require_linear_in_one(operands: Tangents) -> None:
    """Refuse an op that is linear in each operand, but not in both."""
    if all(operand is None for operand in operands):
        raise Unmet("is linear in each operand, but not in several at once")
