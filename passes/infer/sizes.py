"""Puts simpler sizes where they are proved equal: ints for symbols that have one value, and less
for a minimum, maximum or quotient that facts decide.

Comes in: a func, and the module whose funcs call it or are called by it. Goes out: the func with
the simpler sizes in its types, attributes and header, all at once.
Never: a func that breaks a rule of its ops, or that a call does not fit any more. The new sizes are
tried on a copy, which takes the func's place if it verifies; else all stays as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from math import prod
from typing import Any, cast

from ...ir.declare import Op
from ...ir.dims import Atom, Dim, Size, Symbol, interval, maximum, minimum
from ...ir.errors import IRError, Unmet
from ...ir.func import Func, Module
from ...ir.types import Shaped
from ...ir.values import Op as BareOp
from ...ir.verifier import verify
from ..context import Context
from ..copying import copy_func
from .bounds import FACTS

Simpler = Mapping[Atom, Size]


def settle_sizes(func: Func, context: Context) -> None:
    """Make the sizes of a func simpler, and those of funcs that share a symbol's one value."""
    if any(map(has_one_value, func.symbols)):
        _settle_symbols([func, *(each for each in context.module if each is not func)], context)
    if func.symbols and not context.spent:
        found = {atom: op for atom, op in _atoms(func) if simpler(atom) is not atom}
        _change(func, {atom: simpler(atom) for atom in found}, "settle_size", found, context)


def has_one_value(symbol: Symbol) -> bool:
    """Whether the bounds and the multiple leave a symbol one value."""
    return symbol.low == symbol.high


def _settle_symbols(funcs: list[Func], context: Context) -> None:
    """Settle the symbols of all funcs; one that is called may have to wait for its callers."""
    waiting = [func for func in funcs if any(map(has_one_value, func.symbols))]
    while waiting:
        settled = [func for func in waiting if _settle_own(func, context)]
        if not settled:
            return
        waiting = [func for func in waiting if func not in settled]


def _settle_own(func: Func, context: Context) -> bool:
    known: dict[Atom, Size] = {each: each.low for each in func.symbols if has_one_value(each)}
    first = func.body.first
    assert first is not None
    return _change(func, known, "settle_symbol", dict.fromkeys(known, first), context)


@cache
def simpler(atom: Atom) -> Size:
    """The simplest size that is proved equal to an atom: an int, fewer parts, or the atom."""
    low, high = interval(atom)
    if low == high:
        return low
    if atom.recipe[0] is minimum:
        return minimum(*_kept(atom.parts, _at_least))
    if atom.recipe[0] is maximum:
        return maximum(*_kept(atom.parts, FACTS.at_most))
    return atom


def _at_least(large: Size, small: Size) -> bool:
    return FACTS.at_most(small, large)


def _kept(parts: tuple[Size, ...], is_beaten: Callable[[Size, Size], bool]) -> list[Size]:
    """The parts that no other certainly beats; of two that are always equal, the later one."""
    kept = list(parts)
    for part in parts:
        if any(is_beaten(part, other) for other in kept if other is not part):
            kept.remove(part)
    return kept


def _atoms(func: Func) -> Iterator[tuple[Atom, BareOp]]:
    """Every minimum, maximum and quotient of the func's sizes, with an op that speaks of it."""
    seen: set[Any] = set()
    first = func.body.first
    assert first is not None
    pending: list[tuple[Any, BareOp]] = [(value.type, first) for value in func.arguments]
    for op in func.walk():
        pending += [(result.type, op) for result in op.results]
        pending += [(value, op) for value in op.attributes if isinstance(value, tuple | Dim)]
        while pending:
            part, speaker = pending.pop()
            if part in seen:
                continue
            seen.add(part)
            if isinstance(part, Atom) and not isinstance(part, Symbol):
                yield part, speaker
            pending += [(inner, speaker) for inner in _parts(part)]


def _parts(part: Any) -> Iterable[Any]:
    """What may hold sizes inside a type, a list or a size."""
    if isinstance(part, Shaped):
        return part.shape
    if isinstance(part, Dim):
        return () if isinstance(part, Symbol) else part.parts
    return cast(tuple[Any, ...], part) if isinstance(part, tuple) else ()


def _change(
    func: Func, known: Simpler, rule: str, ops: Mapping[Atom, BareOp], context: Context
) -> bool:
    """Put simpler sizes into a func, as many as the fuel allows, if all still fits."""
    left = context.left
    allowed = dict(list(known.items())[:left])
    changed = _resized(func, allowed, context.module) if allowed else None
    if changed is None:
        return False
    for atom in allowed:
        context.allow(rule, ops[atom])
    func.symbols, func.attributes, func.body = changed.symbols, changed.attributes, changed.body
    func.body.parent = func
    return True


def _resized(func: Func, known: Simpler, module: Module) -> Func | None:
    """A copy of the func with simpler sizes; None where it breaks a rule or a call."""

    def resize(size: Size) -> Size:
        return _replaced(size, known)

    try:
        copy = copy_func(func, resize)
        verify(copy)
        _check_calls(copy, Module(copy if each is func else each for each in module or (func,)))
    except (IRError, Unmet, ValueError):
        return None
    return copy


def _check_calls(func: Func, module: Module) -> None:
    """Refuse a func that does not fit what it calls, or what calls it."""
    for each in module:
        for op in each.walk():
            if isinstance(op, Op) and (each is func or func.name in op.attributes):
                op.check_in(module)


def _replaced(size: Size, known: Simpler) -> Size:
    """`size` with each known atom replaced, inside others too."""
    if isinstance(size, int):
        return size
    if isinstance(size, Atom):
        if size in known:
            return _replaced(known[size], known)
        return size if isinstance(size, Symbol) else _rebuilt(size, known)
    total: Size = 0
    for monomial, by in size.terms.items():
        total = total + by * prod(_replaced(atom, known) for atom in monomial)
    return total


def _rebuilt(atom: Atom, known: Simpler) -> Size:
    return atom.recipe[0](*[_replaced(part, known) for part in atom.parts])
