"""The symbols of a kernel: each must be the size of an axis of something that is handed over.

Comes in: kernels in which sizes are still those of the func. Goes out: kernels in which sizes are
counted from one that an array has, n and n + 1 where only n + 4 and n + 5 occurred, and a size that
only occurs whole, such as the n*m of a flat array, is one symbol of its own: so that kernels of the
same ops have the same text; and where that cannot be, empty arrays whose axes tell the sizes.
Never: a size that is not known from the launch.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from ...ir import tensor
from ...ir.attributes import MAPPING, SIZE, SIZES, Frozen
from ...ir.declare import Op, declared_class
from ...ir.dims import MAX_SIZE, Dim, Size, Symbol, interval, substitute, symbols
from ...ir.errors import IRError
from ...ir.func import Func, Module
from ...ir.tensor.reduce import Reduction
from ...ir.types import Shaped
from ...ir.verifier import verify
from ..copying import copy_func
from ..witness import witness
from .graph import MAPS
from .kernels import Kernel

RIGID = (
    *MAPS, Reduction, tensor.Broadcast, tensor.Permute, tensor.Flip, tensor.Constant, tensor.Iota,
)  # fmt: skip
"""Ops that ask of sizes only that they are equal."""


def bind_symbols(kernel: Kernel, places: Mapping[Symbol, int]) -> None:
    """Give the kernel's func its symbols: first those that are known, by their places."""
    shapes, others = _sizes(kernel.func)
    missing = _missing(kernel.func, shapes, others)
    known = dict[Symbol, int]()
    if missing:
        absent = _in_order(missing, places)
        moved = _moved(absent, _handed(kernel.func), (*shapes, *others))
        if moved:
            kernel.func = copy_func(kernel.func, lambda size: substitute(size, moved))
            known = {symbols(size)[0]: places[symbol] for symbol, size in moved.items()}
            shapes, others = _sizes(kernel.func)
            missing -= moved.keys()
    renamed = _renamed(kernel.func, shapes, others, missing) if missing else None
    if renamed is not None:
        kernel.func = renamed
        shapes, others = _sizes(renamed)
        missing.clear()
    for symbol in _in_order(missing, places):
        type_ = witness(symbol)
        kernel.func.body.add_argument(type_)
        kernel.witnesses.append(type_)
    used = {each for size in (*shapes, *others) for each in symbols(size)}
    known |= {each: places[each] for each in used if each in places and each not in known}
    new = sorted(used.difference(known), key=str)
    kernel.func.symbols = (*_in_order(used, known), *new)


def _in_order(found: Iterable[Symbol], places: Mapping[Symbol, int]) -> list[Symbol]:
    """Those that have a place, in that order."""
    return sorted([each for each in found if each in places], key=places.__getitem__)


def _missing(func: Func, shapes: Iterable[Dim], others: Iterable[Dim]) -> set[Symbol]:
    """The symbols that sizes need, and of which no array has an axis."""
    used = {each for size in (*shapes, *others) for each in symbols(size)}
    return used.difference(_handed(func))


def _handed(func: Func) -> set[Size]:
    """The sizes of axes of arrays."""
    return {size for each in (*func.arguments, *func.results) for size in each.type.shape}


def _moved(
    absent: Sequence[Symbol], handed: set[Size], sizes: Iterable[Size]
) -> dict[Symbol, Size]:
    """What stands for symbols that no axis tells, where one tells a size so much more or less."""
    moved: dict[Symbol, Size] = {}
    for symbol in absent:
        mine = [size for size in sizes if symbol in symbols(size)]
        more = [size - symbol for size in handed.intersection(mine)]
        gaps = [gap for gap in more if isinstance(gap, int) and gap % symbol.multiple == 0]
        if gaps:
            moved[symbol] = _counted_from(symbol, min(gaps), mine)
            sizes = [substitute(size, {symbol: moved[symbol]}) for size in sizes]
    return moved if _come_back(handed, moved) else {}


def _come_back(handed: set[Size], moved: Mapping[Symbol, Size]) -> bool:
    """Whether sizes of arrays are written as they were, when a launch says what the symbols are."""
    counted = {symbol: symbols(size)[0] for symbol, size in moved.items()}
    launched = {new: symbol + (new - moved[symbol]) for symbol, new in counted.items()}
    return all(substitute(substitute(each, moved), launched) is each for each in handed)


def _counted_from(symbol: Symbol, gap: int, sizes: Sequence[Size]) -> Size:
    """A symbol, less a gap that an axis has more than it. It is at least what it was, if no size
    can be less than 2 then which could not be so before: kernels are to differ in few bounds."""
    least, most = max(symbol.minimum + gap, 0), _most(symbol.maximum + gap)
    wide, exact = [
        Symbol(symbol.name, each, most, symbol.multiple) - gap
        for each in (min(symbol.minimum, least), least)
    ]
    lows = [interval(substitute(size, {symbol: wide}))[0] for size in sizes]
    allowed = all(low >= min(interval(size)[0], 2) for low, size in zip(lows, sizes, strict=True))
    return wide if allowed else exact


def _most(size: int) -> int:
    """A bound for sizes up to this one, which many have in common."""
    return min((1 << size.bit_length()) - 1, MAX_SIZE)


def _renamed(
    func: Func, shapes: Iterable[Dim], others: Iterable[Dim], missing: set[Symbol]
) -> Func | None:
    """A copy in which each size that no axis tells is one symbol, if its ops let it be."""
    whole = [size for size in shapes if missing.intersection(symbols(size))]
    partly = any(missing.intersection(symbols(size)) for size in others)
    handed = _handed(func)
    if partly or any(isinstance(size, Symbol) or size not in handed for size in whole):
        return None
    names = {str(each) for each in shapes if isinstance(each, Symbol)}
    renamed: dict[Size, Size] = {}
    for size in whole:
        name = f"size_{len(renamed)}"
        while name in names:
            name += "_"
        least = min(max(size.low, 0), 2)
        renamed[size] = Symbol(name, least, _most(size.high), max(size.multiple, 1))
    copy = copy_func(func, lambda size: renamed.get(size, size))
    copy.symbols = tuple({each: None for size in _sizes(copy)[0] for each in symbols(size)})
    rigid = all(op.terminator or isinstance(op, RIGID) for op in func.walk())
    return copy if rigid or _is_sound(copy) else None


def _is_sound(func: Func) -> bool:
    """Whether the ops of a func accept its sizes."""
    try:
        verify(Module([func]))
    except IRError:
        return False
    return True


def _sizes(func: Func) -> tuple[dict[Dim, None], dict[Dim, None]]:
    """The open sizes of shapes, and those that are in attributes with another meaning."""
    shapes: dict[Dim, None] = {}
    others: dict[Dim, None] = {}
    values = [*func.arguments]
    for op in func.walk():
        values += op.results
        values += [value for region in op.regions for value in region.arguments]
        for place, is_shape in _places(declared_class(op)):
            _note(op.attributes[place], shapes if is_shape else others)
    for type_ in dict.fromkeys([value.type for value in values]):
        if isinstance(type_, Shaped):
            _note(type_.shape, shapes)
    return shapes, others


@cache
def _places(cls: type[Op]) -> list[tuple[int, bool]]:
    """Which attributes of an op may have sizes in them, and whether each is the op's shape."""
    fields = enumerate(cls.attribute_fields)
    sized = [(place, field) for place, field in fields if field.kind in (SIZE, SIZES, MAPPING)]
    return [(place, field.name == "shape" and field.kind is SIZES) for place, field in sized]


def _note(setting: Any, found: dict[Dim, None]) -> None:
    """Note all open sizes in an attribute."""
    if isinstance(setting, Dim):
        found[setting] = None
    elif isinstance(setting, tuple):
        for each in cast(tuple[Any, ...], setting):
            _note(each, found)
    elif type(setting) is Frozen:
        _note(tuple(setting.values()), found)
