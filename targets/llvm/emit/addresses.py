"""Where in memory an access is: what stays the same in a loop is added to the buffer before it.

Comes in: accesses, whose index adds what changes seldom first and what is known last, as binders
write it. Goes out: pointers; on x86 each is one that stays, a counter, and a distance, all of which
an instruction of memory takes, and code needs no pass that looks for such forms.
Never: a pointer made before a branch for what stands in it.
"""

from typing import Any

from ....ir.loop import (
    Atomic,
    Binary,
    BinaryKind,
    Constant,
    For,
    Load,
    LoadMasked,
    LoadVector,
    Prefetch,
    Store,
    StoreMasked,
    StorePastCaches,
    StoreVector,
    While,
)
from ....ir.values import AnyValue, Block, Op
from .. import types
from ..writer import Writer

ACCESSES = (
    Load,
    LoadVector,
    LoadMasked,
    Store,
    StoreVector,
    StorePastCaches,
    StoreMasked,
    Atomic,
    Prefetch,
)
"""The ops that have one index."""


def address(writer: Writer, op: Any, masked: bool = False) -> str:
    """Where the number of an access is; under a mask it may lie outside of the buffer."""
    index, distance = op.index, 0
    while by := known_distance(index):
        index, distance = index.owner.left, distance + by
    ahead = _ahead(writer, op, index)
    number = writer.round.number if ahead is None else writer.round.first
    distance += ahead or 0
    key = (op.buffer, index, op.block, number)
    if key not in writer.pointers:
        inside = not (masked or distance)
        writer.pointers[key] = _pointer(writer, op.buffer, index, inside)
    at = writer.pointers[key]
    if not distance:
        return at
    held = types.element_in_memory(op.buffer.dtype)
    return writer.temporary("at", f"getelementptr {held}, ptr {at}, i64 {distance}")


def _ahead(writer: Writer, op: Any, index: AnyValue) -> int | None:
    """How far an index is ahead of what it was when the body of the loop was written first; None
    where that is not known."""
    block, ahead, *_ = writer.round
    if not ahead or op.block is not block:
        return None
    slope = _slope(index, op.block)
    return None if slope is None else slope * ahead


def _slope(value: AnyValue, block: Block) -> int | None:
    """By how much a number grows while the index of a loop grows by one."""
    op = value.owner
    if op is block:
        return 1 if value.index == 0 else None
    if value.block is not block:
        return 0
    if not isinstance(op, Binary):
        return None
    left, right = _slope(op.left, block), _slope(op.right, block)
    if left is None or right is None:
        return None
    if op.kind is BinaryKind.MULTIPLY and isinstance(op.right.owner, Constant):
        return left * int(op.right.owner.value.array)
    direction = _direction(op)
    return left + direction * right if direction else None


def is_part_of_address(op: Binary) -> bool:
    """Whether nobody wants a sum as a number, because pointers are moved by its parts."""
    if not (known_distance(op.result) or loop_around(op)):
        return False
    return all([_is_index(use, op.result) for use in op.result.uses])


def _is_index(use: Any, value: AnyValue) -> bool:
    if isinstance(use, Binary):
        return use.left is value and known_distance(use.result) != 0 and is_part_of_address(use)
    return isinstance(use, ACCESSES) and use.index is value and use.operands.count(value) == 1


def known_distance(index: AnyValue) -> int:
    """How far an index is from the one that it is computed from; 0 if it stands for itself."""
    op = index.owner
    if not isinstance(op, Binary):
        return 0
    known = op.right.owner
    return _direction(op) * int(known.value.array) if isinstance(known, Constant) else 0


def _direction(op: Binary) -> int:
    """1 for a sum, -1 for a difference, 0 for all else."""
    return 1 if op.kind is BinaryKind.ADD else -1 if op.kind is BinaryKind.SUBTRACT else 0


def loop_around(op: Binary) -> Op | None:
    """The outermost loop, of those between an op and the next branch, before which one of two terms
    is known, while the other one is not; None if there is no such loop."""
    if op.kind is not BinaryKind.ADD:
        return None
    outer, inner = _seldom_first(op)
    if inner.block is not op.block or outer.block is op.block:
        return None
    loop, around = None, op.block.parent_op if op.block else None
    while isinstance(around, For | While):
        loop = around
        if around.block is outer.block:
            break
        around = around.block.parent_op if around.block else None
    return loop


def _seldom_first(op: Binary) -> tuple[AnyValue, AnyValue]:
    """The two terms; the one of the block of the op is the second."""
    return (op.right, op.left) if op.left.block is op.block else (op.left, op.right)


def _pointer(writer: Writer, buffer: AnyValue, index: AnyValue, inside: bool) -> str:
    held, owner = types.element_in_memory(buffer.dtype), index.owner
    loop = loop_around(owner) if isinstance(owner, Binary) else None
    if isinstance(owner, Binary) and loop is not None:
        outer, inner = _seldom_first(owner)
        row = _row(writer, buffer, outer, loop)
        return writer.temporary("at", f"getelementptr {held}, ptr {row}, {writer.typed(inner)}")
    if writer.operand(index) == "0":
        return writer.operand(buffer)
    how = " inbounds" if inside else ""
    right = f"getelementptr{how} {held}, ptr {writer.operand(buffer)}, {writer.typed(index)}"
    return writer.temporary("at", right)


def _row(writer: Writer, buffer: AnyValue, outer: AnyValue, loop: Op) -> str:
    """The pointer that stays the same in a loop."""
    before = writer.before_loop[loop]
    key = (buffer, outer, id(before))
    if key not in writer.pointers:
        held, name = types.element_in_memory(buffer.dtype), writer.unique("row")
        right = f"getelementptr {held}, ptr {writer.operand(buffer)}, {writer.typed(outer)}"
        before.append(f"  {name} = {right}")
        writer.pointers[key] = name
    return writer.pointers[key]
