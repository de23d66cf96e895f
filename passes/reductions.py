"""The ways in which a module can be made smaller, one small change at a time.

Comes in: a module. Goes out: for each kind of reduction, `Change`s: functions that return a smaller
module than the one they get, which must equal the one they were made for.
Never: a promise that the smaller module is valid or still fails; `reduce` finds out.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..ir.attributes import Frozen, Ref
from ..ir.builder import Builder
from ..ir.declare import declared_class
from ..ir.dims import Dim, Size, Symbol, substitute
from ..ir.errors import require
from ..ir.func import Func, Module
from ..ir.payloads import Payload, payload
from ..ir.types import Shaped
from ..ir.values import AnyValue, Op, replace
from .admitted import admitted
from .copying import copy_module, inline
from .dead import removable

Change = Callable[[Module], Module]
StandIn = Callable[[Func, Op, AnyValue], AnyValue]

SMALL_SIZES = (1, 2, 3)
ZERO_ELEMENTS_AT_MOST = 4096


def drop_funcs(module: Module) -> Iterator[Change]:
    """Leave out a func that no op names; if it is the first, the next one becomes it."""
    named = {ref for func in module for op in func.walk() for ref in op.attributes}
    for func in module if len(module) > 1 else ():
        if Ref(func.name) not in named:
            yield _without_func(func.name)


def drop_results(module: Module) -> Iterator[Change]:
    """Return one of the values only; then, return all but one of them."""
    for func in module:
        places = range(len(func.results))
        choices = [(place,) for place in places] if len(places) > 2 else []
        choices += [tuple(each for each in places if each != place) for place in places]
        for kept in choices:
            yield _edit(func, _keep_results, kept)


def bypass_chunks(module: Module) -> Iterator[Change]:
    """Put something else in the place of many neighbouring ops at once, halves first."""
    for func, start, size in _chunks(module):
        for stand_in in (fresh_argument, operand_from(0)):
            yield _edit(func, _bypass, start, size, stand_in)


def bypass_ops(module: Module) -> Iterator[Change]:
    """Put a new argument, an operand or zeros in the place of one op's results."""
    for func, place, op in _places(module):
        for stand_in in _stand_ins(op):
            yield _edit(func, _bypass, place, 1, stand_in)


def return_operands(module: Module) -> Iterator[Change]:
    """Return what an op reads, and what a region of it yields, instead of what it makes."""
    for func, place, op in _places(module):
        if any(result in func.results for result in op.results):
            for number in range(len(op.regions)) if op.regions else (None,):
                yield _edit(func, _return_operands, place, number)


def inline_regions(module: Module) -> Iterator[Change]:
    """Put the ops of a region in the place of the op that holds it, as if it ran once."""
    for func, place, op in _places(module):
        for number in range(len(op.regions)):
            yield _edit(func, _inline, place, number)


def empty_regions(module: Module) -> Iterator[Change]:
    """Yield a region's arguments instead of what it computes: all of them, or one."""
    for func, place, op in _places(module):
        for number, which in _yields(op):
            yield _edit(func, _hand_on, place, number, which)


def drop_arguments(module: Module) -> Iterator[Change]:
    """Leave out the arguments that nobody reads; then, read one argument instead of another."""
    for func in module:
        if any(not argument.uses for argument in func.arguments):
            yield _edit(func, _drop_unread_arguments)
        for place, argument in enumerate(func.arguments):
            earlier = [other.type for other in func.arguments[:place]]
            if argument.type in earlier:
                yield _edit(func, _unite_arguments, place, earlier.index(argument.type))


def shrink_sizes(module: Module) -> Iterator[Change]:
    """Give a symbol a small size, or put a small size in the place of a larger one everywhere."""
    seen: dict[Size, None] = {}

    def note(size: Size) -> Size:
        seen[size] = None
        return size

    copy_module(module, note)
    for size in seen:
        if isinstance(size, Symbol):
            choices = dict.fromkeys(admitted(size, small) for small in SMALL_SIZES)
        elif isinstance(size, Dim):
            continue
        else:
            choices = dict.fromkeys(each for each in (*SMALL_SIZES, size // 2) if 0 < each < size)
        for small in choices:
            yield partial(_resized, old=size, new=small)


def simplify_constants(module: Module) -> Iterator[Change]:
    """Make a constant all zeros, or all ones."""
    for func, place, op in _places(module):
        simpler = min(complexity(op.attributes[0]), 2) if op.is_constant else 0
        for number in range(simpler):
            yield _edit(func, _fill, place, number)


def drop_settings(module: Module) -> Iterator[Change]:
    """Leave out a func's settings, and the name of a size that it may not need."""
    for func in module:
        if func.attributes:
            yield _edit(func, _drop_attributes)
        for symbol in func.symbols:
            yield _edit(func, _drop_symbol, symbol)


KINDS: tuple[Callable[[Module], Iterable[Change]], ...] = (
    drop_funcs,
    drop_results,
    bypass_chunks,
    bypass_ops,
    return_operands,
    inline_regions,
    empty_regions,
    drop_arguments,
    shrink_sizes,
    simplify_constants,
    drop_settings,
)


def fresh_argument(func: Func, op: Op, result: AnyValue) -> AnyValue:
    """A new argument of the func."""
    return func.body.add_argument(result.type)


def operand_from(start: int) -> StandIn:
    """The op's first operand, from one on, that has the result's type; else a new argument."""

    def stand_in(func: Func, op: Op, result: AnyValue) -> AnyValue:
        for operand in op.operands[start + result.index :] + op.operands[start:]:
            if operand.type is result.type:
                return operand
        return fresh_argument(func, op, result)

    return stand_in


def zero(func: Func, op: Op, result: AnyValue) -> AnyValue:
    """A constant, all zeros."""
    type_ = result.type
    cls = declared_class(op)
    require(isinstance(type_, Shaped) and cls.constant_class, "there is no such constant")
    shape = [size for size in type_.shape if isinstance(size, int)]
    small = len(shape) == type_.rank and int(np.prod(shape)) <= ZERO_ELEMENTS_AT_MOST
    require(small, "a constant has a small static shape")
    assert op.block is not None
    value = payload(np.zeros(shape, type_.dtype.storage), type_.dtype)
    (made,) = Builder(op.block, op, op.location).constants(cls, [value])
    require(made.type is type_, "the constant has another type")
    return made


def complexity(value: Payload) -> int:
    """How hard a constant is to read: 0 for zeros, 1 for ones, 2 for all else."""
    if not np.any(value.array):
        return 0 if not np.signbit(np.real(value.array).astype(np.float64)).any() else 2
    return 1 if np.all(value.array == 1) else 2


def _edit(func: Func, action: Callable[..., object], *arguments: Any) -> Change:
    """The change that lets `action` work on the copy of one func."""

    def change(module: Module) -> Module:
        copy = copy_module(module)
        action(copy[func.name], *arguments)
        return copy

    return change


def _ops(func: Func) -> list[Op]:
    """The ops that may go: all but terminators, in program order."""
    return [op for op in func.walk() if not op.terminator]


def _places(module: Module) -> Iterator[tuple[Func, int, Op]]:
    """Each op that may go, with its func and its place among those of the func."""
    return ((func, place, op) for func in module for place, op in enumerate(_ops(func)))


def _chunks(module: Module) -> Iterator[tuple[Func, int, int]]:
    """Where chunks of ops begin and how long they are: halves of each func, quarters, … pairs."""
    for func in module:
        count = len(_ops(func))
        size = count // 2
        while size > 1:
            yield from ((func, start, size) for start in range(0, count, size))
            size //= 2


def _stand_ins(op: Op) -> Iterator[StandIn]:
    """What may take the place of an op's results."""
    yield fresh_argument
    types = {result.type for result in op.results}
    for start, operand in enumerate(op.operands):
        if operand.type in types and operand not in op.operands[:start]:
            yield operand_from(start)
    if not op.is_constant:
        yield zero


def _yields(op: Op) -> Iterator[tuple[int, tuple[int, ...]]]:
    """For each region, all that it yields, and then each single value."""
    for number, region in enumerate(op.regions):
        places = range(len(region.terminator.operands))
        yield number, tuple(places)
        if len(places) > 1:
            yield from ((number, (place,)) for place in places)


def _without_func(name: str) -> Change:
    return lambda module: Module(func for func in copy_module(module) if func.name != name)


def _keep_results(func: Func, kept: tuple[int, ...]) -> None:
    results = func.results
    func.body.terminator.set_operands(tuple(results[place] for place in kept))


def _bypass(func: Func, start: int, count: int, stand_in: StandIn) -> None:
    """Take out ops, the last one first, with other values for what is read of them."""
    for op in reversed(_ops(func)[start : start + count]):
        if op.block is None:
            continue
        for result in op.results:
            if result.uses:
                replace(result, stand_in(func, op, result))
        op.detach()


def _return_operands(func: Func, place: int, number: int | None) -> None:
    """The more is returned, the less has to survive until the end to be seen."""
    op = _ops(func)[place]
    seen = op.operands
    if number is not None:
        seen += _inline(func, place, number)
    kept = [value for value in func.results if value not in op.results]
    func.body.terminator.set_operands(tuple(dict.fromkeys((*kept, *seen))))
    if number is None:
        _bypass(func, place, 1, fresh_argument)


def _inline(func: Func, place: int, number: int) -> tuple[AnyValue, ...]:
    """As if the region ran once, on the op's operands in order, as far as their types fit; return
    what it yields."""
    op = _ops(func)[place]
    region = op.regions[number]
    left = list(op.operands)
    arguments: list[AnyValue] = []
    for argument in region.arguments:
        same = next((operand for operand in left if operand.type is argument.type), None)
        if same is not None:
            left.remove(same)
        arguments.append(same or fresh_argument(func, op, argument))
    assert op.block is not None
    yielded = inline(region, arguments, Builder(op.block, op))
    for result in op.results:
        fitting = [each for each in yielded[result.index :] + yielded if each.type is result.type]
        replace(result, fitting[0] if fitting else fresh_argument(func, op, result))
    op.detach()
    return yielded


def _hand_on(func: Func, place: int, number: int, which: tuple[int, ...]) -> None:
    """Let a region yield arguments of its own, and take out what it computed in vain."""
    region = _ops(func)[place].regions[number]
    yielded = list(region.terminator.operands)
    left = list(region.arguments)
    for index in which:
        same = next((each for each in left if each.type is yielded[index].type), None)
        if same is not None:
            yielded[index] = same
            left.remove(same)
    region.terminator.set_operands(tuple(yielded))
    for op in reversed(list(region)):
        if removable(op):
            op.detach()


def _drop_unread_arguments(func: Func) -> None:
    kept = tuple(argument for argument in func.arguments if argument.uses)
    for index, argument in enumerate(kept):
        argument.index = index
    func.body.arguments = kept


def _drop_attributes(func: Func) -> None:
    func.attributes = Frozen({})


def _drop_symbol(func: Func, unneeded: Symbol) -> None:
    func.symbols = tuple(symbol for symbol in func.symbols if symbol is not unneeded)


def _unite_arguments(func: Func, place: int, earlier: int) -> None:
    replace(func.arguments[place], func.arguments[earlier])
    _drop_unread_arguments(func)


def _resized(module: Module, old: Size, new: int) -> Module:
    def resize(size: Size) -> Size:
        if isinstance(old, Symbol):
            return substitute(size, {old: new})
        return new if size == old else size

    return copy_module(module, resize)


def _fill(func: Func, place: int, number: int) -> None:
    op = _ops(func)[place]
    value: Payload = op.attributes[0]
    filled = np.full(value.shape, number, value.dtype.storage)
    attributes = (payload(filled, value.dtype), *op.attributes[1:])
    made = op.__class__((), attributes, [result.type for result in op.results], (), op.location)
    assert op.block is not None
    op.block.insert(made, op)
    made.results[0].name = op.results[0].name
    replace(op.results[0], made.results[0])
    op.detach()
