"""Loops and branches as blocks, and the place of a program in the grid.

Comes in: structured ops. Goes out: blocks that are named after what they are, values by phis.
Never: a jump that the structure does not have.
"""

from collections.abc import Callable, Iterable, Sequence

from ....ir.dtypes import i64
from ....ir.loop import Constant, For, If, LaneCount, LaneId, ProgramCount, ProgramId, While
from ....ir.types import Scalar
from ....ir.values import AnyValue, Op
from .. import types
from ..writer import Printers, Writer, phi

WIDE = Scalar(i64)
Inner = Callable[[Writer, Iterable[Op]], None]
"""What writes ops, such as those of a block."""


def print_for(writer: Writer, op: For, block: Inner) -> None:
    """Counted in i64, so that the last step past a narrow upper bound does not wrap."""
    header, body, after = _labels(writer, "for", "header", "body", "exit")
    narrow = op.lower.type is not WIDE
    lower, upper, step = [_wide(writer, value) for value in op.operands[:3]]
    index, *carried = op.body.arguments
    initial = [writer.operand(value) for value in op.carries]
    before = writer.label
    writer.before_loop[op] = writer.aside()
    writer.jump(header)
    writer.open(header)
    phis = writer.aside()
    counter = writer.unique("counter") if narrow else writer.name(index)
    names = [writer.name(value) for value in carried]
    more = writer.temporary("more", f"icmp slt i64 {counter}, {upper}")
    writer.branch(more, body, after)
    writer.open(body)
    if narrow:
        writer.define(index, f"trunc i64 {counter} to {types.text(index.type)}")
    times = _times(op)
    _print_rounds(writer, op, times, counter, block)
    by = len(times) * times[1] if len(times) > 1 else step
    following = writer.temporary("next", f"add nsw i64 {counter}, {by}")
    writer.jump(header)
    yielded = [writer.operand(value) for value in op.body.terminator.operands]
    kinds = ["i64", *[types.text(value.type) for value in carried]]
    entries = [([lower, *initial], before), ([following, *yielded], writer.label)]
    _put_phis(phis, [counter, *names], kinds, entries)
    writer.open(after)
    for value, name in zip(op.finals, names, strict=True):
        writer.equate(value, name)


def _times(op: For) -> list[int]:
    """How far the index is ahead of the counter each time the body is written out: once, if it is
    not certain that several rounds fit in."""
    bounds = [value.owner for value in op.operands[:3]]
    known = [int(each.value.array) for each in bounds if isinstance(each, Constant)]
    if op.lower.type is WIDE and len(known) == len(bounds):
        lower, upper, step = known
        if step > 0 and (upper - lower) % (step * op.unroll) == 0:
            return [number * step for number in range(op.unroll)]
    return [0]


def _print_rounds(writer: Writer, op: For, times: list[int], counter: str, block: Inner) -> None:
    """The body, each time with what the time before carries on."""
    index, *carried = op.body.arguments
    outside = writer.round
    for ahead in times:
        if ahead:
            yielded = [writer.operand(value) for value in op.body.terminator.operands]
            for value, text in zip(carried, yielded, strict=True):
                writer.equate(value, text)
            writer.define(index, f"add nsw i64 {counter}, {ahead}")
        writer.begin_round(op.body, ahead)
        block(writer, op.body)
    writer.round = outside


def print_while(writer: Writer, op: While, block: Inner) -> None:
    header, body, after = _labels(writer, "while", "header", "body", "exit")
    initial = [writer.operand(value) for value in op.carries]
    before = writer.label
    writer.before_loop[op] = writer.aside()
    writer.jump(header)
    writer.open(header)
    phis = writer.aside()
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
    _put_phis(phis, names, kinds, [(initial, before), (yielded, writer.label)])
    writer.open(after)
    for value, name in zip(op.finals, names, strict=True):
        writer.equate(value, name)


def print_if(writer: Writer, op: If, block: Inner) -> None:
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
        writer.lines.append(phi(writer.name(value), types.text(value.type), entries))


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


def _put_phis(
    room: list[str],
    names: Sequence[str],
    kinds: Sequence[str],
    entries: Sequence[tuple[Sequence[str], str]],
) -> None:
    """Phis where a block begins, now that all that comes in is known."""
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        room.append(phi(name, kind, [(texts[number], label) for texts, label in entries]))


REGIONS: Printers = {For: print_for, While: print_while, If: print_if}
TABLE: Printers = {
    ProgramId: print_program_id,
    ProgramCount: print_program_count,
    LaneId: print_lane_id,
    LaneCount: print_lane_count,
}
