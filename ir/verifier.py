"""Checks that IR is IR: every rule that building keeps, checked on what stands there now.

Comes in: a module or func. Goes out: nothing, or a `VerifyError` that names the op, its operands,
the types and the user's line. Never: a change to the IR.
"""

from collections.abc import Iterator
from typing import Any, cast

from .attributes import Frozen
from .dims import Dim, Symbol, symbols
from .errors import Unmet, VerifyError
from .func import Func, Module
from .printer import Work, print_op, run_nested
from .types import Shaped
from .values import Block, Op, Parent


def verify(module: Module | Func) -> None:
    """Check every func, and that calls reach funcs of the module."""
    funcs = (module,) if isinstance(module, Func) else tuple(module)
    for func in funcs:
        _verify_func(func)
    for func in funcs if isinstance(module, Module) else ():
        for op in func.walk():
            try:
                cast(Any, op).check_in(module)
            except (Unmet, ValueError) as problem:
                raise blame(op, str(problem)) from None


def blame(op: Op, problem: str) -> VerifyError:
    """The error for an op: what is wrong, the op as it stands, its operands' types, its line."""
    types = ", ".join(operand.type.text for operand in op.operands)
    operands = f"\n  operands: {types}" if types else ""
    text = f"{op.name}: {problem}\n  in: {print_op(op)[:400]}{operands[:400]}"
    return VerifyError(text, op.location)


def _verify_func(func: Func) -> None:
    named = set(func.symbols)
    if len({symbol.name for symbol in named}) != len(func.symbols):
        raise VerifyError(f"@{func.name} names a size twice", func.location)
    seen: set[Any] = set()  # the blocks, types and attributes
    run_nested(_verify_block(func.body, func, {}, seen))
    if func.body.terminator.name != "return":
        raise blame(func.body.terminator, "a func ends in return")
    strange = ((part, each) for part in seen for each in _symbols(part) if each not in named)
    for part, symbol in strange:
        what = f"{part} speaks of {symbol}, a size that the func does not name"
        raise VerifyError(f"@{func.name}: {what}", func.location)


def _verify_block(block: Block, parent: Parent, visible: dict[Any, None], seen: set[Any]) -> Work:
    """A block knows its parent, owns its arguments, ends in a terminator, and holds ops that are
    right. Its values are visible only meanwhile; the work on each region is yielded."""
    if block.parent is not parent:
        raise VerifyError(f"a block of {parent} says that it belongs to {block.parent}")
    if block in seen:
        raise VerifyError(f"a block of {parent} stands in it twice")
    if block.last is None or not block.last.terminator or block.last.block is not block:
        raise VerifyError(f"a block of {parent} does not end in return or yield")
    seen.add(block)
    size = len(visible)
    for index, argument in enumerate(block.arguments):
        if argument.owner is not block or argument.index != index:
            raise VerifyError(f"argument {index} of a block of {parent} belongs elsewhere")
        visible[argument] = None
    for op in block:
        try:
            _verify_op(visible, seen, op)
        except (Unmet, ValueError) as problem:
            raise blame(op, str(problem)) from None
        for region in op.regions:
            yield _verify_block(region, op, visible, seen)
    while len(visible) > size:
        seen.add(visible.popitem()[0].type)


def _verify_op(visible: dict[Any, None], seen: set[Any], op: Any) -> None:
    """An op knows its place, reads values that stand above it, is known to read them, owns its
    results, and keeps the rules of its class."""
    following = op.next
    linked = following is None or (following.previous is op and following.block is op.block)
    if not linked or (following is not None and following.order <= op.order):
        raise Unmet("is out of order in its block")
    if op.terminator and following is not None:
        raise Unmet("stands before the end of its block")
    for operand in op.operands:
        if operand not in visible:
            raise Unmet("reads a value that is not defined above it")
        if op not in operand.uses:
            raise Unmet("reads a value that does not list it among its readers")
    for index, result in enumerate(op.results):
        if result.owner is not op or result.index != index:
            raise Unmet(f"result {index} belongs to another op")
        for reader in result.uses:
            if result not in reader.operands or reader.block is None:
                raise Unmet(f"lists {reader.name} as a reader, which reads something else")
        visible[result] = None
    op.__class__.verify(op)
    seen.update(op.attributes)


def _symbols(part: Any) -> Iterator[Symbol]:
    """The sizes that a type or an attribute speaks of."""
    if isinstance(part, Dim):
        yield from symbols(part)
    inner = part.shape if isinstance(part, Shaped) else part
    inner = tuple(inner.values()) if isinstance(inner, Frozen) else inner
    for each in cast(tuple[Any, ...], inner) if isinstance(inner, tuple) else ():
        yield from _symbols(each)
