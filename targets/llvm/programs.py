"""The loops over the programs of a launch.

Comes in: a kernel, and from where to where it runs along each axis of its grid. Goes out: a loop
for each axis, the last one innermost. Where all that a program does hangs on whether it comes
before some other one of its row, there are two loops one behind the other, and neither asks.
Never: what a program does.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ...ir.loop import Compare, CompareKind, If
from ...ir.loop.places import ProgramId
from ...ir.types import Scalar
from ...ir.values import AnyValue, Block, Op
from .writer import Writer, phi

Inner = Callable[[Writer, Iterable[Op]], None]
"""What writes ops."""
Range = tuple[str, str]
"""The first program along an axis, and the one behind the last."""


class Split(NamedTuple):
    """What a row of programs does up to the one at `end`, and from it on; ops `around` compute
    places."""

    around: list[Op]
    end: AnyValue
    regions: tuple[Block, Block]


def print_programs(writer: Writer, ranges: Sequence[Range], inner: Inner, axis: int = 0) -> None:
    """The loop along an axis, around those along the next ones."""
    if axis + 1 < len(ranges):
        further = partial(print_programs, writer, ranges, inner, axis + 1)
        _print_loop(writer, axis, ranges[axis], further)
        return
    body = writer.func.body
    split = _split(writer, axis)
    if split is None:
        _print_loop(writer, axis, ranges[axis], partial(inner, writer, body))
        return
    before = _needed(split.end, writer.begun)
    inner(writer, before)
    writer.begun.update(before)
    first, last = ranges[axis]
    end = f"call i64 @llvm.smin.i64(i64 {last}, i64 {writer.operand(split.end)})"
    for region, stop in zip(split.regions, (writer.temporary("interior", end), last), strict=True):
        ops = [*split.around, *region]
        first = _print_loop(writer, axis, (first, stop), partial(inner, writer, ops))


def _print_loop(writer: Writer, axis: int, range: Range, body: Callable[[], None]) -> str:
    """A loop along an axis; the first program that it has not run, as it ends."""
    header, inside, after = [
        writer.unique(f"programs.{axis}.{part}") for part in ("header", "body", "exit")
    ]
    (first, last), before = range, writer.label
    writer.jump(header)
    writer.open(header)
    phis = writer.aside()
    program = writer.program_ids[axis] = writer.unique(f"program.{axis}")
    writer.branch(writer.temporary("more", f"icmp slt i64 {program}, {last}"), inside, after)
    writer.open(inside)
    body()
    following = writer.temporary("next", f"add nsw i64 {program}, 1")
    writer.jump(header)
    phis.append(phi(program, "i64", [(first, before), (following, writer.label)]))
    writer.open(after)
    return program


def _split(writer: Writer, axis: int) -> Split | None:
    """That of a row along an axis, unless it does more than what hangs on the place in the row."""
    *around, last, _ = writer.func.body
    if not isinstance(last, If) or last.finals or not isinstance(last.predicate.op, Compare):
        return None
    compared, begun = last.predicate.op, writer.begun
    if compared.kind is not CompareKind.LESS or not _is_program(compared.left.op, axis):
        return None
    if any([_is_program(op, axis) for op in _needed(compared.right, begun)]):
        return None
    if not all([op in begun or _is_place(op) for op in around]):
        return None
    if len(compared.result.uses) == 1:
        around.remove(compared)
    return Split(around, compared.right, (last.on_true, last.on_false))


def _is_program(op: Op | None, axis: int) -> bool:
    return isinstance(op, ProgramId) and op.axis == axis


def _is_place(op: Op) -> bool:
    """Whether an op computes a number, and does nothing else."""
    return op.numbered and isinstance(op.results[0].type, Scalar)


def _needed(value: AnyValue, begun: Iterable[Op]) -> list[Op]:
    """The ops that compute a value of the body of a kernel, but for those that stand before it."""
    found, pending = set[Op](), [value]
    while pending:
        op = pending.pop().op
        if op is not None and op not in begun and op not in found:
            found.add(op)
            pending += op.operands
    return sorted(found, key=lambda op: op.order)
