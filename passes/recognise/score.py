"""The region of an attention: what a chain does with its scores, written on four axes.

Comes in: a chain and its heads. Goes out: a block that takes the scores and yields them changed,
and what it captures. Masks that are counted are counted in the region, so that whoever lowers it
sees which keys come after their query; what stands in memory is captured as small as it is.
Never: a function of what is captured; that is computed outside, once.
"""

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.dtypes import INTEGERS
from ...ir.func import Yield
from ...ir.tensor.elementwise import Binary, Elementwise
from ...ir.values import AnyValue, Block
from ..simplify.patterns import is_least, uniform
from .heads import Heads
from .softmax import CHANGES, Chain
from .views import Axes, View, arranged, seen_through

CHEAP = (Binary, tensor.BitNot, tensor.Negate, tensor.Select, tensor.Cast)
"""What is computed again for each score, rather than kept, where it counts axes."""
STEPS = 8
"""How many of these ops may stand between a mask and what it counts."""


class Score:
    """A region while it is written; `builder` stands before attention."""

    def __init__(self, chain: Chain, heads: Heads, builder: Builder) -> None:
        self.chain, self.heads, self.outside = chain, heads, builder
        self.captures: list[AnyValue] = []
        self._known: dict[tuple[AnyValue, Axes], AnyValue] = {}

    def write(self, shape: Shape) -> Block:
        """The region for scores of a shape of rank 4."""
        wide = self.chain.changed.type
        # Nothing outside is read: what the chain has spread over all scores shall go.
        self._inside = Builder(Block([wide.with_shape(shape)]), location=self.outside.location)
        self.shape = shape
        made = self._value(self.chain.changed, tuple(range(self.chain.rank)))
        self._inside.emit_all(Yield, [made])
        return self._inside.block

    def _value(self, value: AnyValue, axes: Axes) -> AnyValue:
        """What stands for a value in the region, along all four axes."""
        view = seen_through(value, axes)
        key = view.value, view.axes
        if key not in self._known:
            self._known[key] = self._made(view)
        return self._known[key]

    def _made(self, view: View) -> AnyValue:
        value, op = view.value, view.value.op
        if op is self.chain.scores:
            (scores, *_) = self._inside.block.arguments
            narrow = value.dtype is not scores.dtype
            return self._inside.emit(tensor.Cast, scores, value.dtype) if narrow else scores
        number = uniform(value)
        if number is not None:
            return self._full(self._inside.emit(tensor.Constant, number))
        if isinstance(op, tensor.Iota) and self._axis(view, op) is not None:
            return self._inside.emit(tensor.Iota, self.shape, self._axis(view, op), op.dtype)
        if isinstance(op, CHANGES) and (op in self.chain.gone or self._counts(value)):
            return self._changed(op, view.axes)
        return self._captured(view)

    def _changed(self, op: Elementwise | tensor.Select | tensor.Cast, axes: Axes) -> AnyValue:
        """A change of scores, or of what is counted."""
        if isinstance(op, tensor.Select) and is_least(op.on_true):
            predicate = seen_through(op.predicate, axes)
            less = predicate.value.op
            if isinstance(less, tensor.Less) and less.left.dtype in INTEGERS:
                return self._not_after(op, less, axes, predicate.axes)
        operands = [self._value(operand, axes) for operand in op.operands]
        return self._inside.emit(op.__class__, *operands, *op.attributes)

    def _not_after(self, op: tensor.Select, less: tensor.Less, axes: Axes, inner: Axes) -> AnyValue:
        """select(row < column, -inf, x) -> select(column <= row, x, -inf), as causal is written"""
        row, column = (self._value(each, inner) for each in less.operands)
        seen = self._inside.emit(tensor.LessEqual, column, row)
        chosen = self._value(op.on_false, axes), self._value(op.on_true, axes)
        return self._inside.emit(tensor.Select, seen, *chosen)

    def _axis(self, view: View, op: tensor.Iota) -> int | None:
        """Which of the four axes an iota counts, if it counts one."""
        axis = view.axes[op.axis]
        for place, group in enumerate(self.heads.scores):
            if group == (axis,):
                return place
        return None

    def _counts(self, value: AnyValue, steps: int = STEPS) -> bool:
        """Whether a value is counted along axes, by a few cheap ops."""
        op = seen_through(value, (0,) * len(value.shape)).value.op
        if isinstance(op, CHEAP) and steps:
            return any(self._counts(each, steps - 1) for each in op.operands)
        return isinstance(op, tensor.Iota)

    def _captured(self, view: View) -> AnyValue:
        """An argument of the region, as small as what it captures."""
        groups = self.heads.scores if view.along else ()
        spread = {axis for group in groups if view.along & {*group} for axis in group}
        axes = range(self.chain.rank)
        sizes = {axis: self.heads.sizes[axis] if axis in spread else 1 for axis in axes}
        value = arranged(self.outside, view, groups, sizes)
        self.captures.append(value)
        return self._full(self._inside.block.add_argument(value.type, value.name))

    def _full(self, value: AnyValue) -> AnyValue:
        """A value along all four axes."""
        axes = tuple(range(len(value.shape)))
        return self._inside.emit(tensor.Broadcast, value, self.shape, axes)
