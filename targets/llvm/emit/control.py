"""Loops and branches as blocks, and the place of a program in the grid.

Comes in: structured ops. Goes out: blocks that are named after what they are, values by phis.
Never: a jump that the structure does not have.
"""

from collections.abc import Callable, Sequence

from ....ir.dtypes import i64
from ....ir.loop import For, If, LaneCount, LaneId, ProgramCount, ProgramId, While
from ....ir.types import Scalar
from ....ir.values import AnyValue, Block
from .. import types
from ..writer import Printers, Writer

WIDE = Scalar(i64)


def print_for(writer: Writer, op: For, block: Callable[[Writer, Block], None]) -> None:
    """Counted in i64, so that the last step past a narrow upper bound does not wrap."""
    header, body, after = _labels(writer, "for", "header", "body", "exit")
    narrow = op.lower.type is not WIDE
    lower, upper, step = [_wide(writer, value) for value in op.operands[:3]]
    index, *carried = op.body.arguments
    initial = [writer.operand(value) for value in op.carries]
    before = writer.label
    writer.jump(header)
    writer.open(header)
    place = len(writer.lines)
    counter = writer.unique("counter") if narrow else writer.name(index)
    names = [writer.name(value) for value in carried]
    more = writer.temporary("more", f"icmp slt i64 {counter}, {upper}")
    writer.branch(more, body, after)
    writer.open(body)
    if narrow:
        writer.define(index, f"trunc i64 {counter} to {types.text(index.type)}")
    block(writer, op.body)
    following = writer.temporary("next", f"add nsw i64 {counter}, {step}")
    writer.jump(header, _unrolled(writer, op.unroll))
    latch = writer.label
    yielded = [writer.operand(value) for value in op.body.terminator.operands]
    _insert_phis(
        writer,
        place,
        [counter, *names],
        ["i64", *[types.text(value.type) for value in carried]],
        [([lower, *initial], before), ([following, *yielded], latch)],
    )
    writer.open(after)
    for value, name in zip(op.finals, names, strict=True):
        writer.equate(value, name)


def print_while(writer: Writer, op: While, block: Callable[[Writer, Block], None]) -> None:
    header, body, after = _labels(writer, "while", "header", "body", "exit")
    initial = [writer.operand(value) for value in op.carries]
    before = writer.label
    writer.jump(header)
    writer.open(header)
    place = len(writer.lines)
    names = [writer.name(value) for value in op.condition.arguments]
    for value, name in zip(op.body.arguments, names, strict=True):
        writer.equate(value, name)
    block(writer, op.condition)
    writer.branch(writer.operand(op.condition.terminator.operands[0]), body, after)
    writer.open(body)
    block(writer, op.body)
    writer.jump(header)
    yielded = [writer.operand(value) for value in op.body.terminator.operands]
    kinds = [types.text(value.type) for value in op.carries]
    _insert_phis(writer, place, names, kinds, [(initial, before), (yielded, writer.label)])
    writer.open(after)
    for value, name in zip(op.finals, names, strict=True):
        writer.equate(value, name)


def print_if(writer: Writer, op: If, block: Callable[[Writer, Block], None]) -> None:
    then, otherwise, after = _labels(writer, "if", "then", "else", "end")
    carried = [writer.operand(value) for value in op.carries]
    writer.branch(writer.operand(op.predicate), then, otherwise)
    ends: list[tuple[list[str], str]] = []
    for label, region in ((then, op.on_true), (otherwise, op.on_false)):
        writer.open(label)
        for value, text in zip(region.arguments, carried, strict=True):
            writer.equate(value, text)
        block(writer, region)
        ends.append(([writer.operand(each) for each in region.terminator.operands], writer.label))
        writer.jump(after)
    writer.open(after)
    for number, value in enumerate(op.finals):
        entries = [(texts[number], label) for texts, label in ends]
        writer.phi(writer.name(value), types.text(value.type), entries)


def print_program_id(writer: Writer, op: ProgramId) -> None:
    writer.equate(op.result, writer.program_ids[op.axis])


def print_program_count(writer: Writer, op: ProgramCount) -> None:
    writer.equate(op.result, writer.program_counts[op.axis])


def print_lane_id(writer: Writer, op: LaneId) -> None:
    writer.equate(op.result, "0")  # a program is one lane


def print_lane_count(writer: Writer, op: LaneCount) -> None:
    writer.equate(op.result, "1")


def _labels(writer: Writer, kind: str, *parts: str) -> list[str]:
    """Names for the blocks of one op that belong together: `%for.2.header`, `%for.2.body`, …"""
    prefix = writer.unique(kind)[1:]
    return [writer.unique(f"{prefix}.{part}") for part in parts]


def _wide(writer: Writer, value: AnyValue) -> str:
    text = writer.operand(value)
    if value.type is WIDE or not text.startswith("%"):
        return text
    return writer.temporary("wide", f"sext {writer.typed(value)} to i64")


def _unrolled(writer: Writer, rounds: int) -> str:
    if rounds == 1:
        return ""
    count = writer.metadata.note(f'!{{!"llvm.loop.unroll.count", i32 {rounds}}}')
    return f", !llvm.loop {writer.metadata.distinct(count)}"


def _insert_phis(
    writer: Writer,
    place: int,
    names: Sequence[str],
    kinds: Sequence[str],
    entries: Sequence[tuple[Sequence[str], str]],
) -> None:
    """Put phis where a block began, now that all that comes in is known."""
    kept = writer.lines[place:]
    del writer.lines[place:]
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        writer.phi(name, kind, [(texts[number], label) for texts, label in entries])
    writer.lines += kept


REGIONS: Printers = {For: print_for, While: print_while, If: print_if}
TABLE: Printers = {
    ProgramId: print_program_id,
    ProgramCount: print_program_count,
    LaneId: print_lane_id,
    LaneCount: print_lane_count,
}
