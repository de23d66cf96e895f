"""Whether a call fits a func, whose sizes stand for sizes of the caller.

Comes in: a func, and the types that a call hands over and wants back. Goes out: what each size of
the func is in the caller, or the reason why the call does not fit.
Never: a change to the func or to the call.
"""

from collections.abc import Iterable, Mapping, Sequence

from ..attributes import Ref, Shape
from ..dims import MAX_SIZE, DimError, Size, Symbol, interval, substitute
from ..errors import Unmet, require
from ..facts import Facts
from ..func import Func, Module
from ..types import Shaped, Type

Sizes = Mapping[Symbol, Size]


def match(
    func: Func, given: Sequence[Type], wanted: Sequence[Type], *, through_results: bool = False
) -> dict[Symbol, Size]:
    """What each size of `func` is in a call that hands over `given` and gets back `wanted`.

    A size is known from the axis of an argument that it is the size of; `through_results`, of a
    result too, where the caller provides the memory for it.
    """
    takes = [argument.type for argument in func.arguments]
    gives = [result.type for result in func.results]
    _check_count(func, "arguments", takes, given)
    _check_count(func, "results", gives, wanted)
    pairs = [*zip(takes, given, strict=True)]
    if through_results:
        pairs += zip(gives, wanted, strict=True)
    sizes = _bind(func, pairs)
    for place, (type_, found) in enumerate(zip(takes, given, strict=True)):
        _check_type(f"argument {place} of @{func.name}", type_, found, sizes)
    for place, (type_, found) in enumerate(zip(gives, wanted, strict=True)):
        _check_type(f"result {place} of @{func.name}", type_, found, sizes)
    return sizes


def check_not_recursive(caller: Func, callee: Func, module: Module) -> None:
    """Refuse a call of `callee` from `caller` if that leads back to `caller`."""
    pending, reached = [callee], {callee.name}
    while pending:
        func = pending.pop()
        require(func.name != caller.name, f"@{caller.name} would call itself; a func may not")
        for name in _named_by(func):
            if name in module.funcs and name not in reached:
                reached.add(name)
                pending.append(module[name])


def _named_by(func: Func) -> Iterable[str]:
    """The funcs that ops of `func` name."""
    return (value for op in func.walk() for value in op.attributes if isinstance(value, Ref))


def _check_count(func: Func, what: str, types: Sequence[Type], found: Sequence[Type]) -> None:
    require(
        len(types) == len(found), f"@{func.name} has {len(types)} {what}, the call {len(found)}"
    )


def _bind(func: Func, pairs: Iterable[tuple[Type, Type]]) -> dict[Symbol, Size]:
    """Each size of the func from the first axis that it is the size of, within its bounds."""
    sizes: dict[Symbol, Size] = {}
    for type_, found in pairs:
        for symbol, size in zip(_shape(type_), _shape(found), strict=False):
            if isinstance(symbol, Symbol):
                sizes.setdefault(symbol, size)
    for symbol in func.symbols:
        require(
            symbol in sizes,
            f"no axis that the call hands over says what {symbol.name} of @{func.name} is",
        )
        if sizes[symbol] is not symbol:
            _check_bounds(func, symbol, sizes[symbol])
    return sizes


def _check_bounds(func: Func, symbol: Symbol, size: Size) -> None:
    facts = Facts()
    # Whatever its expression admits, the size of an axis is at least 0 and at most MAX_SIZE.
    inside = (symbol.minimum == 0 or facts.at_most(symbol.minimum, size)) and (
        symbol.maximum == MAX_SIZE or facts.at_most(size, symbol.maximum)
    )
    low, high = interval(size)
    require(
        inside,
        f"{symbol.name} of @{func.name} lies in {symbol.minimum}..{symbol.maximum}, "
        f"and {size} in {low}..{high}",
    )
    require(
        facts.divides(symbol.multiple, size),
        f"{symbol.name} of @{func.name} is a multiple of {symbol.multiple}, and {size} need not be",
    )


def _check_type(what: str, type_: Type, found: Type, sizes: Sizes) -> None:
    expected = _substituted(what, type_, sizes)
    if found is not expected:
        raise Unmet(f"{what} has type {expected} in this call, not {found}")


def _substituted(what: str, type_: Type, sizes: Sizes) -> Type:
    """The type with the caller's sizes in the place of the func's."""
    if not isinstance(type_, Shaped):
        return type_
    shape = type_.shape
    if all([_is_same(size, sizes) for size in shape]):
        return type_
    try:
        return type_.with_shape(tuple([substitute(size, sizes) for size in shape]))
    except DimError as problem:
        raise Unmet(f"{what} has no size in this call: {problem}") from None


def _is_same(size: Size, sizes: Sizes) -> bool:
    """Whether a size is what the caller calls it, too."""
    return isinstance(size, int) or (isinstance(size, Symbol) and sizes.get(size) is size)


def _shape(type_: Type) -> Shape:
    return type_.shape if isinstance(type_, Shaped) else ()
