"""Loops and branches: carried values are names that are assigned anew.

Comes in: `tile.for`, `tile.if`, and what prints a block. Goes out: `for` and `if`.
Never: a carried number without a type, for a name keeps its type through all rounds.
"""

import re
from collections.abc import Callable

from ....ir import tile
from ....ir.values import AnyValue, Block, walk
from ..writer import Printed, Writer, shape_of
from .memory import prepare

READERS = (tile.Unary, tile.Binary, tile.Compare, tile.Select, tile.Dot, tile.Reduce)
"""Ops whose results have names of their own; others may hand on the text of an operand."""
WriteBlock = Callable[[Writer, Block], None]


def write_for(writer: Writer, op: tile.For, write_block: WriteBlock) -> None:
    """Rounds in order."""
    prepare(writer, [*walk(op.body)])
    index, *carried = op.body.arguments
    names = [writer.unique(argument.name or "carried") for argument in carried]
    for name, value, argument in zip(names, op.carries, carried, strict=True):
        writer.line(f"{name} = {writer.whole(value)}")
        writer.equate(argument, Printed(name, shape_of(argument)))
    at = writer.unique(index.name or "at")
    writer.equate(index, Printed(at))
    writer.line(f"for {at} in {_rounds(writer, op)}:")
    writer.wanted |= {
        value: name
        for name, value, argument in zip(names, op.body.terminator.operands, carried, strict=True)
        if _may_replace(value, argument)
    }
    with writer.indented():
        write_block(writer, op.body)
        _assign(writer, names, op.body.terminator.operands)
    for name, output in zip(names, op.outputs, strict=True):
        writer.equate(output, Printed(name, shape_of(output)))


def _may_replace(value: AnyValue, argument: AnyValue) -> bool:
    """Whether nobody reads the carried value any more once the next one is made."""
    maker, body = value.op, argument.block
    if maker is None or body is None or maker.block is not body or len(value.uses) > 1:
        return False
    once = body.terminator.operands.count(value) == 1
    return once and all(
        use.block is body and use.order <= maker.order and isinstance(use, READERS)
        for use in argument.uses
    )


def _rounds(writer: Writer, op: tile.For) -> str:
    """The range; where one bound needs 64 bits, another one has them too."""
    bounds = [writer.text(each) for each in op.operands[:3]]
    if not writer.widths.narrow(op.body.arguments[0]):
        bounds[1] = writer.typed(op.upper)
    if bounds[2] == "1":
        bounds.pop()
    flat = op.label is not None and op.label in labels_in(writer, "flatten")
    return f"tl.range({', '.join(bounds)}, flatten=True)" if flat else f"range({', '.join(bounds)})"


def labels_in(writer: Writer, name: str) -> tuple[str, ...]:
    """The labels of the loops for which the schedule says something."""
    return tuple(writer.func.attributes.get(name, ()))


def _assign(writer: Writer, names: list[str], values: tuple[AnyValue, ...]) -> None:
    """Carry on; at once, if one name is needed to make another."""
    pairs = [
        (name, writer.whole(value))
        for name, value in zip(names, values, strict=True)
        if writer.text(value) != name
    ]
    mixed = any(
        name != other and re.search(rf"\b{name}\b", text)
        for name, _ in pairs
        for other, text in pairs
    )
    if mixed:
        left, right = zip(*pairs, strict=True)
        writer.line(f"{', '.join(left)} = {', '.join(right)}")
    else:
        for name, text in pairs:
            writer.line(f"{name} = {text}")


def write_if(writer: Writer, op: tile.If, write_block: WriteBlock) -> None:
    """One of two branches."""
    names = [writer.unique(output.name or "chosen") for output in op.outputs]
    for header, region in (
        (f"if {writer.typed(op.predicate)}:", op.on_true),
        ("else:", op.on_false),
    ):
        if header == "else:" and region.first is region.last and not names:
            break
        writer.line(header)
        for argument, value in zip(region.arguments, op.carries, strict=True):
            writer.equate(argument, carried(writer, value))
        with writer.indented():
            write_block(writer, region)
            for name, value in zip(names, region.terminator.operands, strict=True):
                writer.line(f"{name} = {writer.whole(value)}")
    for name, output in zip(names, op.outputs, strict=True):
        writer.equate(output, Printed(name, shape_of(output)))


def carried(writer: Writer, value: AnyValue) -> Printed:
    """A value as a region takes it: of exactly its dtype."""
    printed = writer.printed(value)
    return Printed(writer.typed(value), printed.shape)


def write_assume(writer: Writer, op: tile.Assume) -> None:
    """A promise to the compiler."""
    writer.line(f"tl.assume({writer.typed(op.predicate)})")
