"""Builds the batched func, op by op.

Comes in: a func, which of its arguments are batched, and how many lanes there are. Goes out: a func
in which those arguments, and every value that differs from lane to lane, have the lanes along a new
axis 0; and which of its results are such values. What is the same in all lanes is computed once.
Never: a change to the func that comes in; a line, name or size that is lost.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, check_size, symbols
from ...ir.errors import Unmet, VerifyError
from ...ir.func import Func, Module, Return, Yield
from ...ir.tensor.base import TensorOp, Values
from ...ir.tensor.batching import in_all_lanes, lane_by_lane
from ...ir.types import Shaped, Type
from ...ir.values import AnyValue, Block, Op
from ..copying import copy_ops
from ..inline import inlined
from . import control
from .apart import PRODUCTS, apart, factor, moves
from .collectives import between_lanes, exchanged
from .masks import FACTORED, Mask, certain, chosen, harmless
from .varying import varying_values


def batch(
    func: Func,
    batched: Sequence[bool],
    size: Size,
    axis_name: str | None = None,
    module: Module | None = None,
) -> tuple[Func, tuple[bool, ...]]:
    """`func` in `size` lanes, with which of its results are batched, as those arguments are.

    Collectives along the axis `axis_name` are between the lanes. Where the func calls others, the
    `module` of all of them has to be given.
    """
    source = func if module is None else inlined(func, module)
    batcher = Batcher(varying_values(source, batched, axis_name), size, axis_name)
    types = [batcher.type_of(value) for value in source.arguments]
    made = Func(func.name, types, tuple(_all_symbols(func, size)), func.attributes, func.location)
    builder = Builder(made.body)
    results = batcher.inline(source.body, made.arguments, builder)
    builder.location = source.body.terminator.location
    builder.emit_all(Return, results)
    return made, tuple([value in batcher.varying for value in source.results])


def _all_symbols(func: Func, size: Size) -> Iterable[Symbol]:
    """The sizes that the func is written in, and those that say how many lanes there are."""
    check_size(size)
    named = {symbol.name: symbol for symbol in (*symbols(size), *func.symbols)}
    for symbol in symbols(size):
        if named[symbol.name] is not symbol:
            problem = f"@{func.name} has a size {symbol.name} of its own, with other bounds"
            raise VerifyError(problem, func.location)
    return dict.fromkeys((*func.symbols, *symbols(size)))


class Batcher:
    """What stands for each value of the func that comes in; `mask` says which lanes are active."""

    def __init__(self, varying: set[AnyValue], size: Size, axis_name: str | None) -> None:
        self.varying = varying
        self.size = size
        self.axis_name = axis_name
        self.values: dict[AnyValue, AnyValue] = {}
        self.mask: Mask | None = None

    @contextmanager
    def masked(self, mask: Mask) -> Generator[None]:
        """Build what only some lanes are to run."""
        outer, self.mask = self.mask, mask
        try:
            yield
        finally:
            self.mask = outer

    def type_of(self, value: AnyValue) -> Type:
        """The type of what stands for a value."""
        type_: Type = value.type
        if value not in self.varying or not isinstance(type_, Shaped):
            return type_
        return type_.with_shape((self.size, *type_.shape))

    def in_lanes(self, value: AnyValue, builder: Builder) -> AnyValue:
        """What stands for a value, with an axis of lanes in any case; of one that all lanes share,
        derivatives come from the active ones."""
        made = self.values[value]
        if value in self.varying:
            return made
        lanes = in_all_lanes(builder, made, self.size)
        if self.mask is None or not moves(made):
            return lanes
        return apart(builder, self.mask.active(builder), lanes)

    def differ(self, values: Iterable[AnyValue]) -> list[bool]:
        """Which of the values differ from lane to lane."""
        return [value in self.varying for value in values]

    def given(
        self, values: Iterable[AnyValue], in_lanes: Iterable[bool], builder: Builder
    ) -> Values:
        """What stands for each value, with an axis of lanes where that is wanted."""
        pairs = zip(values, in_lanes, strict=True)
        return tuple(
            [self.in_lanes(value, builder) if each else self.values[value] for value, each in pairs]
        )

    def inline(self, block: Block, arguments: Values, builder: Builder) -> Values:
        """Put the ops of a block where the builder stands; return what it hands back."""
        here = builder.location
        for argument, given in zip(block.arguments, arguments, strict=True):
            given.name = given.name or argument.name
            self.values[argument] = given
        for op in block:
            if not op.terminator:
                self._put(op, builder)
        builder.location = here
        return tuple([self.values[value] for value in block.terminator.operands])

    def region(self, block: Block, builder: Builder, in_lanes: Sequence[bool]) -> Block:
        """A region that does what `block` does, and yields values with lanes where wanted."""
        inner = builder.nest([self.type_of(argument) for argument in block.arguments])
        self.inline(block, inner.block.arguments, inner)
        inner.location = block.terminator.location
        inner.emit_all(Yield, self.given(block.terminator.operands, in_lanes, inner))
        return inner.block

    def _put(self, op: Op, builder: Builder) -> None:
        """Emit what becomes of an op."""
        builder.location = op.location
        try:
            results = self._results(op, builder)
        except Unmet as problem:
            raise VerifyError(f"{op.name}: {problem}", op.location) from None
        for old, new in zip(op.results, results, strict=True):
            new.name = new.name or old.name
            self.values[old] = new
            if new.type is old.type and old in self.varying:  # the rule found that all are alike
                self.values[old] = in_all_lanes(builder, new, self.size)

    def _results(self, op: Op, builder: Builder) -> Values:
        """What becomes of the results of an op; some may still lack the axis of lanes."""
        rule = control.RULES.get(op.__class__)
        if rule is not None:
            return rule(self, op, builder)
        if between_lanes(op, self.axis_name):
            operands = tuple([self.in_lanes(value, builder) for value in op.operands])
            return (exchanged(op, builder, operands, self.size),)
        if not any(value in self.varying for value in (*op.operands, *op.results)):
            copy_ops([op], builder, self.values)
            return tuple([self.values[result] for result in op.results])
        if not isinstance(op, TensorOp):
            raise Unmet("has no batching rule")
        if self.mask is not None:
            return self._in_active_lanes(op, builder, self.mask)
        operands = tuple([self.values[value] for value in op.operands])
        return op.batching(builder, operands, tuple(self.differ(op.operands)), self.size)

    def _in_active_lanes(self, op: TensorOp, builder: Builder, mask: Mask) -> Values:
        """An op that lanes which are not to run it do not notice: no error, and no derivative."""
        operands = tuple([self.values[value] for value in op.operands])
        batched = tuple(self.differ(op.operands))
        pairs = [*zip(operands, batched, strict=True)]
        shared = [not own and moves(x) for x, own in pairs]
        if not any(shared):
            return self._without_errors(op, builder, operands, batched, mask)
        if not isinstance(op, PRODUCTS):
            batched = tuple([own or each for own, each in zip(batched, shared, strict=True)])
            operands = self.given(op.operands, batched, builder)
            return self._without_errors(op, builder, operands, batched, mask)
        active = mask.active(builder)
        operands = tuple([factor(builder, active, x) if own else x for x, own in pairs])
        made = self._without_errors(op, builder, operands, batched, mask)
        return tuple([apart(builder, active, each) for each in made])

    def _without_errors(
        self,
        op: TensorOp,
        builder: Builder,
        operands: Values,
        batched: tuple[bool, ...],
        mask: Mask,
    ) -> Values:
        """An op that may fail, so that no lane fails that is not to run it."""
        if certain(op) and not (isinstance(op, FACTORED) and batched[0]):
            return op.batching(builder, operands, batched, self.size)
        active = mask.active(builder)
        instead = harmless(op)
        if instead is None:
            return lane_by_lane(op, builder, operands, batched, self.size, active)
        given, flags, place = list(operands), list(batched), instead.place
        if not flags[place]:
            given[place], flags[place] = in_all_lanes(builder, given[place], self.size), True
        other = instead.make(builder, given[place].type)
        given[place] = chosen(builder, active, given[place], other)
        return op.batching(builder, tuple(given), tuple(flags), self.size)
