"""Sums of cotangents that need not wait for each other.

Comes in: a broadcast, of which the backward sweep asks the cotangent: the sum of that of its
result. Goes out: the sum. Where numbers of whole rows are factors in it, and are themselves sums
along the rows, it is taken of what is left without them: a layer norm's gradient then goes through
its rows twice, and not three times. And where it is one of quotients by such numbers, each row is
divided once, and not each element of it.
Never: a sum that is pulled apart for another reason; one would become several. Nor one of narrow
floats: without its factors it may be larger than they can be.
"""

from collections.abc import Mapping
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.tensor.axes import other_axes
from ...ir.tensor.base import Tangents
from ...ir.tensor.reduce import Reduction
from ...ir.values import AnyValue, Op
from .backward import Backward, Rule

MOST_VALUES = 64
"""So many values are asked at most whether they are sums, or made of one."""
TERMS = (tensor.Negate, tensor.Add, tensor.Subtract)
ARITHMETIC = (*TERMS, tensor.Multiply, tensor.Divide)


def broadcast(backward: Backward, op: tensor.Broadcast, given: Tangents) -> None:
    """A broadcast, of whatever."""
    (cotangent,) = given
    assert cotangent is not None
    sums = _Sums(backward.builder, op.repeated)
    is_wide = cotangent.dtype.accumulator is cotangent.dtype
    if op.repeated and is_wide and (sums.wait(cotangent) or sums.divisor(cotangent)):
        backward.add(op.operands, (op.once(backward.builder, sums.of(cotangent)),))
    else:
        backward.add(op.operands, op.transpose(backward.builder, (None,), given))


SUMS: Mapping[type[Op], Rule] = {tensor.Broadcast: broadcast}


class _Sums:
    """Sums along certain axes."""

    def __init__(self, builder: Builder, axes: tuple[int, ...]) -> None:
        self.builder, self.axes = builder, axes
        self.waiting: dict[AnyValue, bool] = {}
        self.made: dict[AnyValue, AnyValue] = {}
        self.divisors: dict[AnyValue, AnyValue | None] = {}

    def wait(self, x: AnyValue) -> bool:
        """Whether a factor that may be pulled out of the sum of x is made of such a sum."""
        if x not in self.waiting and len(self.waiting) < MOST_VALUES:
            self.waiting[x] = False
            self.waiting[x] = self._waits(x)
        return self.waiting.get(x, False)

    def _waits(self, x: AnyValue) -> bool:
        op = x.op
        if isinstance(op, TERMS):
            return any([self.wait(each) for each in op.operands])
        if isinstance(op, tensor.Multiply):
            factor, rest = self._factor(op)
            return factor is not None and (self._is_of_sums(factor) or self.wait(rest))
        return False

    def of(self, x: AnyValue) -> AnyValue:
        """The sum of x, in which nothing waits."""
        if x not in self.made:
            self.made[x] = self._of(x)
        return self.made[x]

    def _of(self, x: AnyValue) -> AnyValue:
        """Σ -x -> -Σ x, Σ (x + y) -> Σ x + Σ y, Σ (x * factor) -> Σ x * factor, where it waits;
        else Σ (x / divisor) -> Σ x / divisor"""
        op = x.op
        if self.wait(x) and isinstance(op, TERMS):
            return self.builder.emit(op.__class__, *[self.of(each) for each in op.operands])
        if self.wait(x) and isinstance(op, tensor.Multiply):
            factor, rest = self._factor(op)
            if factor is not None:
                return self.builder.emit(tensor.Multiply, self.of(rest), self._once(factor))
        divisor = self.divisor(x)
        total = self.builder.emit(tensor.ReduceSum, self._undivided(x), axes=self.axes)
        if divisor is None:
            return total
        return self.builder.emit(tensor.Divide, total, self._once(divisor))

    def divisor(self, x: AnyValue) -> AnyValue | None:
        """What x is divided by, if that is the same along the axes. Of a product of two quotients
        one may be taken without its divisor: what is left is about as large as its numerator. The
        product of two numerators could be larger, or smaller, than any number."""
        if x not in self.divisors and len(self.divisors) < MOST_VALUES:
            self.divisors[x] = None
            self.divisors[x] = self._divisor(x)
        return self.divisors.get(x)

    def _divisor(self, x: AnyValue) -> AnyValue | None:
        op = x.op
        if isinstance(op, tensor.Divide) and self._is_same(op.right):
            return op.right
        if isinstance(op, tensor.Negate):
            return self.divisor(op.x)
        if isinstance(op, tensor.Multiply) and self.divisor(op.right) is not None:
            return self.divisor(op.left)
        return None

    def _undivided(self, x: AnyValue) -> AnyValue:
        """What is left of x without its divisor."""
        op = x.op
        if self.divisor(x) is None:
            return x
        if isinstance(op, tensor.Divide):
            return op.left
        assert isinstance(op, tensor.Negate | tensor.Multiply)
        first, *others = op.operands
        return self.builder.emit(op.__class__, self._undivided(first), *others)

    def _factor(self, op: tensor.Multiply) -> tuple[AnyValue | None, AnyValue]:
        """An operand that is the same along the axes, and the other one."""
        for factor, rest in (op.operands, op.operands[::-1]):
            if self._is_same(factor):
                return factor, rest
        return None, op.left

    def _is_same(self, x: AnyValue) -> bool:
        """Whether x is repeated along the axes, or computed of a few that are."""
        pending, asked = [x], 0
        while pending and asked < MOST_VALUES:
            op, asked = pending.pop().op, asked + 1
            if isinstance(op, ARITHMETIC):
                pending += dict.fromkeys(op.operands)
            elif not isinstance(op, tensor.Broadcast) or not {*self.axes}.isdisjoint(op.kept):
                return False
        return not pending

    def _once(self, x: AnyValue) -> AnyValue:
        """What is the same along the axes, without them."""
        op = x.op
        if not isinstance(op, tensor.Broadcast):
            assert isinstance(op, ARITHMETIC)
            parts = {each: self._once(each) for each in dict.fromkeys(op.operands)}
            return self.builder.emit(op.__class__, *[parts[each] for each in op.operands])
        rest = other_axes(len(op.shape), self.axes)
        sizes = dict(zip(op.axes, op.x.shape, strict=True))
        left = [axis for axis in op.axes if axis in rest]
        once: Any = op.x
        if len(left) < len(sizes):
            once = self.builder.emit(tensor.Reshape, once, shape=[sizes[axis] for axis in left])
        shape = tuple([op.shape[axis] for axis in rest])
        if once.shape == shape and left == sorted(left):
            return once
        places = [rest.index(axis) for axis in left]
        return self.builder.emit(tensor.Broadcast, once, shape=shape, axes=places)

    def _is_of_sums(self, factor: AnyValue) -> bool:
        """Whether what is the same along the axes was made of a reduction along them."""
        shape, pending, seen = factor.type.shape, [factor], {factor}
        while pending and len(seen) < MOST_VALUES:
            op: Any = pending.pop().op
            if isinstance(op, Reduction) and op.axes == self.axes and op.x.shape == shape:
                return True
            for each in () if op is None else op.operands:
                if each not in seen and (each.type.shape != shape or self._is_same(each)):
                    pending.append(each)
                    seen.add(each)
        return False
