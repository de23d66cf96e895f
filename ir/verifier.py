"""Checks that IR is IR: every rule that building keeps, checked on what stands there now.

Comes in: a module, a func or an op. Goes out: nothing, or a `VerifyError` that names the op, its
operands, the types and the user's line.
Never: a change to the IR.
"""

from collections.abc import Iterator
from typing import Any, cast

from .attributes import Frozen, Ref
from .declare import Op
from .dims import Dim, Symbol
from .dims import symbols as symbols_of
from .errors import Unmet, VerifyError
from .func import Func, Module
from .printer import print_op
from .types import Shaped
from .values import AnyValue, Block, Parent
from .values import Op as BareOp


def verify(module: Module | Func) -> None:
    """Check every func, and that calls reach funcs of the module."""
    funcs = (module,) if isinstance(module, Func) else tuple(module)
    for func in funcs:
        _verify_func(func)
    if isinstance(module, Module):
        for func in funcs:
            _verify_references(func, module)


def blame(op: BareOp, problem: str) -> VerifyError:
    """The error for an op: what is wrong, the op as it stands, its operands' types, its line."""
    types = ", ".join(operand.type.text for operand in op.operands)
    operands = f"\n  operands: {types}" if types else ""
    return VerifyError(
        f"{op.name}: {problem}\n  in: {print_op(op)[:400]}{operands[:400]}", op.location
    )


def _verify_func(func: Func) -> None:
    named = set(func.symbols)
    if len({symbol.name for symbol in named}) != len(func.symbols):
        raise VerifyError(f"@{func.name} names a size twice", func.location)
    visible: dict[AnyValue, None] = {}
    seen: set[Any] = set()
    op: Any = None
    try:
        for op in _walk(func, visible, seen):
            _verify_placed(op, visible)
            op.__class__.verify(op)
            for result in op.results:
                visible[result] = None
                seen.add(result.type)
            if op.attributes:
                seen.update(op.attributes)
    except (Unmet, ValueError) as problem:
        raise blame(op, str(problem)) from None
    for part in seen:
        _verify_symbols(func, part, named)
    if func.body.terminator.name != "return":
        raise blame(func.body.terminator, "a func ends in return")


def _walk(func: Func, visible: dict[AnyValue, None], seen: set[Any]) -> Iterator[BareOp]:
    """Ops in program order; the values of a region are visible only while it is walked."""
    stack: list[tuple[Iterator[BareOp], int, Parent, tuple[Block, ...]]] = []

    def enter(parent: Parent, blocks: tuple[Block, ...]) -> None:
        block = blocks[0]
        if block in blocks[1:]:
            raise VerifyError(f"a block of {parent} stands in it twice")
        stack.append((iter(block), len(visible), parent, blocks[1:]))
        _verify_block(block, parent)
        for argument in block.arguments:
            visible[argument] = None
            seen.add(argument.type)

    enter(func, (func.body,))
    while stack:
        ops, size, parent, rest = stack[-1]
        for op in ops:
            yield op
            if op.regions:
                enter(op, op.regions)
                break
        else:
            stack.pop()
            while len(visible) > size:
                visible.popitem()
            if rest:
                enter(parent, rest)


def _verify_block(block: Block, parent: Parent) -> None:
    """A block knows its parent, owns its arguments and ends in its only terminator."""
    if block.parent is not parent:
        raise VerifyError(f"a block of {parent} says that it belongs to {block.parent}")
    if block.last is None or not block.last.terminator or block.last.block is not block:
        raise VerifyError(f"a block of {parent} does not end in return or yield")
    for index, argument in enumerate(block.arguments):
        if argument.owner is not block or argument.index != index:
            raise VerifyError(f"argument {index} of a block of {parent} belongs elsewhere")


def _verify_placed(op: BareOp, visible: dict[AnyValue, None]) -> None:
    """An op knows its place, reads values that stand above it, and is known to read them."""
    following = op.next
    linked = following is None or (following.previous is op and following.block is op.block)
    if not linked or (following is not None and following.order <= op.order):
        raise Unmet("is out of order in its block")
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
    if op.terminator and op.next is not None:
        raise Unmet("stands before the end of its block")


def _verify_symbols(func: Func, part: Any, named: set[Symbol]) -> None:
    """A type or an attribute speaks only of sizes that the func names."""
    inner = part.shape if isinstance(part, Shaped) else part
    if isinstance(inner, Frozen):
        inner = tuple(inner.values())
    for each in cast(tuple[Any, ...], inner) if isinstance(inner, tuple) else (inner,):
        if isinstance(each, tuple | Frozen):
            _verify_symbols(func, each, named)
        for symbol in symbols_of(each) if isinstance(each, Dim) else ():
            if symbol not in named:
                what = f"{part} speaks of {symbol}, a size that the func does not name"
                raise VerifyError(f"@{func.name}: {what}", func.location)


def _verify_references(func: Func, module: Module) -> None:
    """A func that an op names stands in the module; the op checks how it is called."""
    for op in func.walk():
        for attribute in op.attributes:
            if isinstance(attribute, Ref) and attribute not in module.funcs:
                raise blame(op, f"there is no func @{attribute} in the module")
        if isinstance(op, Op):
            try:
                op.check_in(module)
            except (Unmet, ValueError) as problem:
                raise blame(op, str(problem)) from None
