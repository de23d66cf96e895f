"""Products of matrices: the accumulator stays in registers while both operands stream past it.

Comes in: `tile.dot`. Goes out: a loop over the inner axis; each round multiplies one column of a,
number by number, with one row of b, vector by vector. Operands that are loaded for the product
alone, or computed from such loads element by element, are loaded in that loop.
Never: an operand in registers that could stream, or a product rounded before the sum on a machine
that has `fma`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import loop, tile
from ...ir.declare import Effect
from ...ir.dtypes import Kind
from ...ir.func import Func, Yield
from ...ir.loop import BinaryKind
from ...ir.types import INDEX
from ...ir.values import AnyValue, Op
from .access import Access, open_sides
from .binding import Binding, Memory, Rules
from .emitter import Index
from .local import load_whole, spilled
from .memory import load_block
from .reduce import cast
from .registers import Registers, parted, registers, shape_of
from .shapes import filled

UNROLLED = 4
Slice = Callable[[AnyValue], Registers]
"""From the place along the inner axis: a column of a, of shape [..., m, 1], or a row of b."""


def bind_dot(binding: Binding, op: tile.Dot) -> Registers:
    """A loop that carries the accumulator."""
    emitter, sums = binding.emitter, binding.tile(op.accumulator)
    inner = shape_of(op.a.type)[-1]
    rank = len(sums.shape)
    column, row = _slices(binding, op.a, rank - 1), _slices(binding, op.b, rank - 2)
    types = [part.type for part in sums.values]
    with binding.region([INDEX, *types]) as block:
        at, *carried = block.arguments
        at.name = "inner"
        before = Registers(sums.shape, sums.width, parted(carried, sums))
        made = outer_product(binding, column(at), row(at), before)
        emitter.emit_all(Yield, made.values)
    emitter.location = op.location
    bounds = [emitter.number(number) for number in (0, inner, 1)]
    unroll = UNROLLED if inner % UNROLLED == 0 else 1
    finals = emitter.emit_all(loop.For, *bounds, sums.values, block, unroll=unroll)
    return registers(sums.shape, binding.lanes, finals)


def outer_product(binding: Binding, a: Registers, b: Registers, sums: Registers) -> Registers:
    """sums + a * b, for a column and a row."""
    if not sums.parts.size:
        return sums
    dtype = sums.values[0].dtype
    a, b = cast(binding, a, dtype), cast(binding, b, dtype)
    parts: list[AnyValue] = []
    for *lead, line, chunk in np.ndindex(sums.parts.shape):
        factor = binding.emitter.splat(a.parts[*lead, line, 0], sums.width)
        vector: Any = b.parts[*lead, 0, chunk]
        before: Any = sums.parts[*lead, line, chunk]
        parts.append(multiply_add(binding, factor, vector, before))
    return registers(sums.shape, binding.lanes, parts)


def multiply_add(binding: Binding, left: AnyValue, right: AnyValue, addend: AnyValue) -> AnyValue:
    """left * right + addend, rounded once where the machine can."""
    emitter, kind = binding.emitter, addend.dtype.kind
    if binding.machine.fused and kind is Kind.FLOAT:
        return emitter.emit(loop.FusedMultiplyAdd, left, right, addend)
    product = emitter.binary(BinaryKind.MULTIPLY, left, right)
    return emitter.binary(BinaryKind.ADD, addend, product)


def streamed_ops(func: Func) -> set[Op]:
    """The ops of which products want one slice after the other, and nobody anything else."""
    found: set[Op] = set()
    for op in func.walk():
        if isinstance(op, tile.Dot):
            for operand in (op.a, op.b):
                chain = _chain(operand, op, op)
                found.update(chain or ())
    return found


def _chain(value: AnyValue, user: Op, dot: tile.Dot) -> list[Op] | None:
    """The ops that make an operand, if it can stream: loads, and arithmetic on them."""
    op = value.owner
    if not isinstance(op, Op) or op.block is not dot.block or list(value.uses) != [user]:
        return None
    if isinstance(op, tile.Load):
        return [op] if _unwritten(op, dot) else None
    if isinstance(op, tile.Full):
        return [op]
    if not isinstance(op, tile.Unary | tile.Binary | tile.Cast):
        return None
    chains = [_chain(operand, op, dot) for operand in op.operands]
    found: list[Op] = [op]
    for chain in chains:
        if chain is None:
            return None
        found += chain
    return found


def _unwritten(load: Op, dot: Op) -> bool:
    """Whether nothing is written between a load and its use."""
    at = load.next
    while at is not None and at is not dot:
        if Effect.WRITE in getattr(at, "effects", ()):
            return False
        at = at.next
    return at is dot


def _slices(binding: Binding, value: AnyValue, axis: int) -> Slice:
    """How slices of an operand along `axis` are come by."""
    if value not in binding.values:
        return lambda at: _streamed(binding, value, axis, at)
    kept = binding.tile(value)
    memory = spilled(binding, kept)
    part = (*kept.shape[:axis], 1, *kept.shape[axis + 1 :])

    def reloaded(at: AnyValue) -> Registers:
        offsets: list[Index] = [0] * len(part)
        offsets[axis] = at
        return load_whole(binding, memory, offsets, part)

    return reloaded


def _streamed(binding: Binding, value: AnyValue, axis: int, at: AnyValue) -> Registers:
    """A slice of what streams."""
    op, emitter = value.owner, binding.emitter
    shape = shape_of(value.type)
    if isinstance(op, tile.Load):
        sides = open_sides(binding, op.view, op.offsets, shape)
        offsets: list[Index] = [binding.scalar(offset) for offset in op.offsets]
        memory = binding.memory(op.view)
        if any(side.axis == axis and side.before for side in sides):
            offsets[axis] = emitter.sum(offsets[axis], at)
        else:
            memory = _begun_at(binding, memory, axis, offsets[axis])
            offsets[axis] = at
        part = (*shape[:axis], 1, *shape[axis + 1 :])
        return load_block(binding, Access(binding, memory, offsets, sides, part), op)
    assert isinstance(op, tile.Full | tile.Unary | tile.Binary | tile.Cast)
    if isinstance(op, tile.Full):
        return filled(binding, binding.scalar(op.x), (*shape[:axis], 1, *shape[axis + 1 :]))
    for operand in op.operands:
        binding.values[operand] = _streamed(binding, operand, axis, at)
    emitter.location = op.location
    return binding.rules[op.__class__](binding, op)


def _begun_at(binding: Binding, memory: Memory, axis: int, offset: Index) -> Memory:
    """A view without what stands before an offset, so that all that does not move with the inner
    loop is added outside of it."""
    emitter = binding.emitter
    start = emitter.sum(memory.start, emitter.product(offset, memory.strides[axis]))
    sizes = list(memory.sizes)
    sizes[axis] = emitter.difference(sizes[axis], offset)
    return Memory(memory.buffer, start, tuple(sizes), memory.strides)


RULES: Rules = {tile.Dot: bind_dot}
