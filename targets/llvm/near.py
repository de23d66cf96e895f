"""Sizes near those that a step is first run at: of a batch that is twice as large, or half.

Comes in: the func of a step, and its sizes. Goes out: others, which the next call may have, as when
a user tries what fits, or data end in a smaller batch.
Never: another size of what is learned; that belongs to another model.
"""

from collections.abc import Iterator, Sequence

from ...ir.dims import Size, Symbol, symbols
from ...ir.func import Func
from ...ir.types import Shaped
from ...ir.values import AnyValue


def near(main: Func, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All batches twice as large, and half; each only if the step is for such, too."""
    batches = _batches(main)
    pairs = [*zip(main.symbols, sizes, strict=True)]
    for change in (_twice, _half):
        found = tuple([change(size) if symbol in batches else size for symbol, size in pairs])
        if found != tuple(sizes) and all(map(Symbol.admits, main.symbols, found)):
            yield found


def _twice(size: int) -> int:
    return size * 2


def _half(size: int) -> int:
    return size // 2


def _batches(main: Func) -> set[Symbol]:
    """Sizes of first axes alone. What a step gives back with such a size may be what it was given,
    and has learned: if it does not give all of them back, a batch is one that it does not."""
    first, others, made = set[Symbol](), set[Symbol](), set[Symbol]()
    for value in (*main.arguments, *main.results):
        for axis, size in enumerate(_shape(value)):
            alone = axis == 0 and isinstance(size, Symbol)
            (first if alone else others).update(symbols(size))
    for value in main.results:
        for size in _shape(value):
            made.update(symbols(size))
    found = first - others
    return found - made or found


def _shape(value: AnyValue) -> Sequence[Size]:
    return value.type.shape if isinstance(value.type, Shaped) else ()
