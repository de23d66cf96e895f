"""The general func: the ops of a recording with symbols in the place of sizes and of numbers.

Comes in: a func, and the parts of its sizes. Goes out: a func that does the same at the sizes of
the recording, or a `Misfit`: an op that cannot have these sizes.
Never: a symbol's name that depends on a size; they are n0, n1, … as they are met.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...ir import tensor
from ...ir.attributes import SIZES, Shape
from ...ir.declare import Op as DeclaredOp
from ...ir.declare import declared_class
from ...ir.dims import Dim, DimError, Size, Symbol, substitute
from ...ir.errors import Unmet
from ...ir.func import Func
from ...ir.payloads import Array, Number, Payload
from ...ir.tensor.elementwise import Elementwise
from ...ir.types import Tensor, Type
from ...ir.values import AnyValue, Block, Op
from .classes import Classes, DimClass, Part, Parts
from .numbers import becomes_argument, number_everywhere
from .recording import Recording, size_places

ARGUMENT_NAME = "number"
ALIKE = (Elementwise, tensor.Select, tensor.Cast)


class Rebuilt(NamedTuple):
    """A general func, the sizes of its symbols, and what its further arguments were, or the sizes
    that they count."""

    func: Func
    sizes: dict[str, int]
    scalars: tuple[Array | Dim, ...]


class Misfit(Exception):
    """Sizes that do not go together, though no relation said so; `op` is the one that minds."""

    def __init__(self, op: Op | None, parts: Iterable[Part], problem: str) -> None:
        super().__init__(problem)
        self.op, self.parts = op, tuple(parts)


def rebuild(func: Func, recording: Recording) -> Rebuilt:
    """The func with the parts that a recording has for its sizes."""
    rebuilding = _Rebuilding(func, recording)
    op: Op | None = None
    try:
        rebuilding.enter(func.body, rebuilding.made.body)
        for op in func.walk():
            rebuilding.op(op)
        for made in rebuilding.made_of:
            op = rebuilding.made_of[made]
            if not _is_alike(made):
                made.__class__.verify(made)
    except (Unmet, DimError) as problem:
        raise Misfit(op, _involved(func, op, recording), str(problem)) from None
    made, values = rebuilding.made, rebuilding.names.values
    made.symbols = (*func.symbols, *values)
    sizes = {symbol.name: value for symbol, value in values.items()}
    return Rebuilt(made, sizes, tuple(rebuilding.scalars))


def _is_alike(op: DeclaredOp) -> bool:
    """Whether an op asks of sizes only that all of its tensors have the same, and they do: all else
    that is asked of it, the op of the recording has."""
    if not isinstance(op, ALIKE):
        return False
    return len({value.type.shape for value in (*op.operands, *op.results)}) == 1


def _involved(func: Func, op: Op | None, recording: Recording) -> Iterable[Part]:
    """The parts that an op, or where there is none yet the func's arguments, have to do with."""
    if op is not None:
        return recording.parts_of(op)
    return [part for argument in func.arguments for part in recording.parts[argument]]


class _Names:
    """Parts as sizes: a class gets its symbol when it is first asked for."""

    def __init__(self, classes: Classes, taken: Iterable[Symbol]) -> None:
        self.values: dict[Symbol, int] = {}
        self._classes = classes
        self._taken = {symbol.name for symbol in taken}
        self._count = 0
        self._symbols: dict[DimClass, Symbol] = {}
        self._shapes: dict[Parts, Shape] = {}

    def size(self, part: Part) -> Size:
        """The size that a part is in the general func."""
        found = self._classes.find(part)
        if isinstance(found, DimClass):
            return self._symbols.get(found) or self._name(found)
        if not isinstance(found, Dim):
            return found
        inside = self._classes.inside(found)
        return substitute(found, {each.symbol: self.size(each) for each in inside if each.symbol})

    def shape(self, parts: Parts) -> Shape:
        """The shape that some parts are."""
        shape = self._shapes.get(parts)
        if shape is None:
            shape = self._shapes[parts] = SIZES.normalise(tuple(map(self.size, parts)))
        return shape

    def recorded(self, shape: Shape) -> Shape:
        """What a shape of the general func is at the sizes of the recording."""
        return tuple([substitute(size, self.values) for size in shape])

    def _name(self, each: DimClass) -> Symbol:
        while (name := f"n{self._count}") in self._taken:
            self._count += 1
        self._count += 1
        symbol = self._symbols[each] = Symbol(name, *each.bounds)
        self.values[symbol] = each.value
        return symbol


class _Rebuilding:
    """Makes the ops one by one; `values` and `blocks` say what stands for each of the func."""

    def __init__(self, func: Func, recording: Recording) -> None:
        self.recording = recording
        self.names = _Names(recording.classes, func.symbols)
        self.made = Func(func.name, (), (), func.attributes, func.location)
        self.scalars: list[Array | Dim] = []
        self.values: dict[AnyValue, AnyValue] = {}
        self.blocks: dict[Block, Block] = {}
        self.made_of: dict[DeclaredOp, Op] = {}
        self._body = func.body
        self._before: Op | None = None  # the op of the body in whose regions ops are made
        self._constants: dict[Payload, AnyValue] = {}
        self._counts: dict[Dim, AnyValue] = {}
        self._types: dict[tuple[Parts, Type], Type] = {}

    def enter(self, block: Block, made: Block) -> None:
        """Give a block that stands for another one its arguments."""
        self.blocks[block] = made
        like = [(self.type_of(each), each.name) for each in block.arguments]
        self.values |= zip(block.arguments, made.add_arguments(like), strict=True)

    def op(self, op: Op) -> None:
        """What stands for one op: its like, for one number everywhere a broadcast, for a size that
        may change a further argument.

        Other constants wait until they are read: where they stand says only what could be folded.
        """
        if op.block is self._body:
            self._before = None
        if isinstance(op, tensor.Constant):
            number = number_everywhere(op.value)
            if number is not None:
                shape = self.names.shape(self.recording.parts[op.result])
                self.put(op, tensor.Broadcast, (self.constant(op, number),), (shape, ()))
                return
            if isinstance(op.value, Number) or becomes_argument(op.value):
                return
        if isinstance(op, tensor.Dim):
            size = self.names.size(self.recording.parts[op.x][op.axis])
            if isinstance(size, Dim):
                self.values[op.result] = self.count(op, size)
                return
        values = self.values
        operands = tuple([values.get(each) or self.read(each) for each in op.operands])
        self.put(op, declared_class(op), operands, self.attributes(op))

    def put(
        self,
        op: Op,
        cls: type[DeclaredOp],
        operands: tuple[AnyValue, ...],
        attributes: tuple[Any, ...],
    ) -> None:
        """Put an op in the place of another one."""
        assert op.block is not None
        types = [self.type_of(result) for result in op.results]
        regions = tuple([Block() for _ in op.regions])
        made = cls(operands, attributes, types, regions, op.location)
        self.blocks[op.block].insert(made)
        self.made_of[made] = op
        if regions and op.block is self._body:
            self._before = made
        for result, copy in zip(op.results, made.results, strict=True):
            copy.name = result.name
            self.values[result] = copy
        for region, block in zip(op.regions, regions, strict=True):
            self.enter(region, block)

    def attributes(self, op: Op) -> tuple[Any, ...]:
        """The attributes of an op, with its sizes as they are in the general func."""
        settings = self.recording.settings.get(op)
        if settings is None:
            return op.attributes
        changed, names = list(op.attributes), self.names
        for place, setting in zip(size_places(declared_class(op)), settings, strict=True):
            is_list = isinstance(setting, tuple)
            changed[place] = names.shape(setting) if is_list else names.size(setting)
        return tuple(changed)

    def read(self, operand: AnyValue) -> AnyValue:
        """What stands for a constant that is read for the first time."""
        constant = operand.op
        assert isinstance(constant, tensor.Constant)
        value = self.values[operand] = self.constant(constant, constant.value)
        return value

    def count(self, op: tensor.Dim, size: Dim) -> AnyValue:
        """A further argument for a size, which is known before the step runs."""
        value = self._counts.get(size)
        if value is None:
            self.scalars.append(size)
            value = self.made.body.add_argument(op.result.type, ARGUMENT_NAME)
            self._counts[size] = value
        return value

    def constant(self, op: tensor.Constant, payload: Payload) -> AnyValue:
        """A further argument for what may change, or a constant for a fact: one for each value."""
        value = self._constants.get(payload)
        if value is not None:
            if value.op is not None:
                value.op.location = value.op.location.union(op.location)
            return value
        body = self.made.body
        is_array = not isinstance(payload, Number)
        type_ = self.type_of(op.result) if is_array else Tensor((), payload.dtype)
        if becomes_argument(payload):
            self.scalars.append(payload.array)
            value = body.add_argument(type_, ARGUMENT_NAME)
        else:
            made = tensor.Constant((), (payload,), [type_], (), op.location)
            body.insert(made, self._before)
            value = made.results[0]
        self._constants[payload] = value
        return value

    def type_of(self, value: AnyValue) -> Type:
        """The type of what stands for a value, which must be its own at the recorded sizes."""
        type_ = value.type
        if not isinstance(type_, Tensor):
            return type_
        parts = self.recording.parts[value]
        made = self._types.get((parts, type_))
        if made is None:
            made = type_.with_shape(self.names.shape(parts))
            if self.names.recorded(made.shape) != type_.shape:
                raise Unmet(f"{made} is not {type_} at the sizes of the recording")
            self._types[parts, type_] = made
        return made
