"""A program in the making: where ops are put, and where they find their operands.

Comes in: a source of randomness, symbolic sizes, and whether the builder may merge and fold.
Goes out: a func that grows; every value in sight, so that later ops read what earlier ones made.
Never: a choice of which op comes next; `programs` makes those.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import prod
from random import Random
from typing import Any, NamedTuple

import numpy as np

from brimstone.ir import tensor
from brimstone.ir.attributes import Shape
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dims import Size, Symbol, evaluate, interval, symbols
from brimstone.ir.dtypes import ALL, COMPLEXES, INEXACT, NUMBERS, DType
from brimstone.ir.func import Func, Module
from brimstone.ir.payloads import payload
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue, Block
from kit import special

MOST_ELEMENTS = 4096
LARGEST_SIZE = 33
RANKS = (0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8)
SIZES = (0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 8, 16)
DEEPEST = 3


class Unsuitable(Exception):
    """An op cannot be drawn here, such as a loop in a loop in a loop; another is drawn instead."""


class Seen(NamedTuple):
    """A value in sight: by what class of op it was drawn, and in which block, by number.

    The builder may have merged or folded its op, so the value itself cannot say.
    """

    value: AnyValue
    drawn_as: type[Op] | None
    block: int


class Draft:
    """One func in the making; `values` are those in sight besides its arguments."""

    def __init__(self, module: Module, func: Func, random: Random, built: bool) -> None:
        self.module = module
        self.func = func
        self.random = random
        self.built = built
        self.builder = Builder(func.body)
        self.seen: list[Seen] = []
        self.depth = 0
        self.count = 0
        self.block = self.blocks = 0
        self.drawing: type[Op] | None = None
        self.grow: Callable[[Draft, int], None]

    @property
    def values(self) -> list[AnyValue]:
        """The values in sight, but for the arguments of the func."""
        return [seen.value for seen in self.seen]

    # Operands: what stands in sight, or something new.

    def find(self, fits: Callable[[Tensor], bool]) -> AnyValue | None:
        """Any value in sight whose type fits. At times one that an op of the class being drawn
        made, since rewrites are about ops that read their like; or one of the same block, else
        regions would seldom read their arguments."""
        arguments = [Seen(value, None, 0) for value in self.func.arguments]
        fitting = [seen for seen in (*arguments, *self.seen) if fits(seen.value.type)]
        alike = [seen for seen in fitting if seen.drawn_as is self.drawing]
        near = [seen for seen in fitting if seen.block == self.block]
        for chosen, chance in ((alike, 0.2), (near, 0.4)):
            if chosen and self.chance(chance):
                return self.random.choice(chosen).value
        return self.random.choice(fitting).value if fitting else None

    def operand(
        self, dtypes: Iterable[DType] = ALL, ranks: Sequence[int] = RANKS, least: int = 0
    ) -> AnyValue:
        """A value of one of the dtypes and ranks, each size at least `least`; mostly found."""
        wanted = frozenset(dtypes)
        found = None
        if self.chance(0.8):
            found = self.find(
                lambda type_: (
                    type_.dtype in wanted
                    and len(type_.shape) in ranks
                    and all(interval(size)[0] >= least for size in type_.shape)
                )
            )
        return found or self.fresh(self.shape(ranks, least), self.dtype(wanted))

    def like(self, shape: Shape, dtype: DType) -> AnyValue:
        """A value of exactly this type, found or made."""
        type_ = Tensor(shape, dtype)
        found = self.find(lambda each: each is type_) if self.chance(0.85) else None
        return found or self.fresh(shape, dtype)

    def fresh(self, shape: Shape, dtype: DType) -> AnyValue:
        """A new value: an argument of the func, a constant, a count, or one number everywhere."""
        sizes = static_sizes(shape)
        way = self.random.randrange(8)
        if way == 0 and shape and dtype in NUMBERS:
            axis = self.random.randrange(len(shape))
            return self.emit(tensor.Iota, shape, axis, dtype)[0]
        if way in (1, 2) and sizes is not None and volume(sizes) <= 32:
            return self.constant(sizes, dtype)
        if way == 3 and shape:
            number = self.constant((), dtype)
            return self.emit(tensor.Broadcast, number, shape=shape)[0]
        return self.func.body.add_argument(Tensor(shape, dtype))

    def constant(self, shape: tuple[int, ...], dtype: DType) -> AnyValue:
        """A constant with special numbers in it."""
        array = special.array(self.random, dtype, shape)
        return self.emit(tensor.Constant, payload(array, dtype))[0]

    def number(self, value: Any, dtype: DType) -> AnyValue:
        """A constant of rank 0."""
        return self.emit(tensor.Constant, payload(np.asarray(value, dtype.storage), dtype))[0]

    def stated(self, x: AnyValue) -> AnyValue:
        """x, or x without NaNs, for ops that see which NaN a NaN is: of computed ones no meaning
        is stated, so a pass may change them."""
        given = x.owner is self.func.body and self.func is self.module.main
        if given or x.dtype not in INEXACT:
            return x
        if x.dtype in COMPLEXES:
            parts = [self.emit(part, x)[0] for part in (tensor.Real, tensor.Imaginary)]
            return self.emit(tensor.Complex, *[self.stated(part) for part in parts])[0]
        number = self.number(-1.5, x.dtype)
        other = self.emit(tensor.Broadcast, number, shape=x.shape)[0]
        return self.emit(tensor.Select, self.emit(tensor.IsNan, x)[0], other, x)[0]

    # Types.

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def dtype(self, dtypes: Iterable[DType]) -> DType:
        """One of the dtypes."""
        return self.random.choice(ordered(frozenset(dtypes)))

    def size(self, least: int = 0) -> Size:
        """A size, symbolic or not."""
        symbols = [symbol for symbol in self.func.symbols if symbol.low >= least]
        if symbols and self.chance(0.3):
            return self.random.choice(symbols)
        return max(least, self.random.choice(SIZES))

    def shape(self, ranks: Sequence[int] = RANKS, least: int = 0) -> Shape:
        """A shape whose tensors stay small at the largest sizes that tests run."""
        rank = self.random.choice(ranks)
        shape = [self.size(least) for _ in range(rank)]
        while volume(shape) > MOST_ELEMENTS:
            largest = max(range(rank), key=lambda axis: largest_of(shape[axis]))
            shape[largest] = max(1, least)
        return tuple(shape)

    # Ops.

    def emit(self, cls: type[Op], *arguments: Any, **named: Any) -> tuple[AnyValue, ...]:
        """The results of a new op, which later ops may read."""
        make = self.builder.emit_all if self.built else self._emit_apart
        results = make(cls, *arguments, **named)
        for result in results:
            if volume(result.type.shape) > MOST_ELEMENTS:
                raise AssertionError(f"the draft of {cls.name} is too large: {result.type}")
        self._see(results, cls)
        return results

    def repeat(self) -> None:
        """Emit once more an op that is in sight; the builder would see that nothing is new."""
        plain = [seen for seen in self.seen if seen.drawn_as and not seen.drawn_as.region_fields]
        if not plain:
            return
        seen = self.random.choice(plain)
        value, op = seen.value, seen.value.owner
        if not self.built and isinstance(op, Op):
            here = self.builder.location
            types = [result.type for result in op.results]
            copy = op.__class__(op.operands, op.attributes, types, (), here)
            self.builder.insert(copy)
            value = copy.results[value.index]
        self._see([value], seen.drawn_as)

    def _see(self, values: Iterable[AnyValue], drawn_as: type[Op] | None) -> None:
        """Values that later ops may read."""
        self.seen += [Seen(value, drawn_as, self.block) for value in values]
        self.count += drawn_as is not None

    @contextmanager
    def region(self, types: Iterable[Tensor]) -> Iterator["Draft"]:
        """Draft into the block of a region-to-be, `self.builder.block`, which sees all above."""
        if self.depth >= DEEPEST:
            raise Unsuitable("regions are deep enough")
        outer, block, seen = self.builder, self.block, len(self.seen)
        self.builder, self.depth = outer.nest(types), self.depth + 1
        self.blocks += 1
        self.block = self.blocks
        self._see(self.builder.block.arguments, None)
        try:
            yield self
        finally:
            self.builder, self.block, self.depth = outer, block, self.depth - 1
            del self.seen[seen:]

    def _emit_apart(self, cls: type[Op], *arguments: Any, **named: Any) -> tuple[AnyValue, ...]:
        """Build as the text would say it: nothing is merged or folded.

        It is built once on arguments of an empty block, which equal nothing and are not constant,
        so that its attributes and types are known; then it is made as stated.
        """
        stand_ins = Block()
        operands: list[AnyValue] = []

        def replaced(given: Any) -> Any:
            if isinstance(given, list | tuple):
                return [replaced(part) for part in given]
            operands.append(given)
            return stand_ins.add_argument(given.type)

        given = [replaced(each) if _is_operand(each) else each for each in arguments]
        for name, each in named.items():
            named[name] = replaced(each) if _is_operand(each) else each
        aside = Block()
        Builder(aside, location=self.builder.location).emit_all(cls, *given, **named)
        built = aside.terminator
        types = [result.type for result in built.results]
        op = cls(tuple(operands), built.attributes, types, built.regions, built.location)
        self.builder.insert(op)
        return op.results


def require_small(*shapes: Iterable[Size]) -> None:
    """Give up on an op whose results would be too large."""
    if any(volume(shape) > MOST_ELEMENTS for shape in shapes):
        raise Unsuitable("a result is too large")


def _is_operand(given: Any) -> bool:
    part = given[0] if isinstance(given, list | tuple) and given else given
    return hasattr(part, "uses")


def static_sizes(shape: Shape) -> tuple[int, ...] | None:
    """The sizes of a shape, if none is symbolic."""
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


def largest_of(size: Size) -> int:
    """How large a size may be in a test."""
    if isinstance(size, int):
        return size
    return _largest(size)


@cache
def _largest(size: Any) -> int:
    return evaluate(size, {each: largest_multiple(each) for each in symbols(size)})


def largest_multiple(symbol: Symbol) -> int:
    """The largest size that tests give a symbol."""
    return min(symbol.maximum, LARGEST_SIZE) // symbol.multiple * symbol.multiple


def volume(shape: Iterable[Size]) -> int:
    """How many elements a tensor has at the largest sizes that tests run; empty axes count as 1,
    since the next op may take them away."""
    return prod([max(largest_of(size), 1) for size in shape])


@cache
def ordered(dtypes: frozenset[DType]) -> tuple[DType, ...]:
    """The dtypes in an order that is the same in every run."""
    return tuple(sorted(dtypes, key=lambda dtype: dtype.name))
