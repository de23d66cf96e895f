"""Copies of ops and blocks, put where a builder stands.

Comes in: ops, and what stands for the values they read. Goes out: equal ops that read those; an op
that the builder's block has already is not made again.
Never: a change to what is copied.
"""

from collections.abc import Iterable

from .builder import Builder, make
from .declare import declared_class
from .values import AnyValue, Block, Op

Values = dict[AnyValue, AnyValue]


def copy_ops(ops: Iterable[Op], builder: Builder, values: Values) -> None:
    """Copy ops in order; `values` says what their operands become, and learns their results."""
    for op in ops:
        made = copy_op(op, builder, values)
        values.update(zip(op.results, made, strict=True))


def copy_op(op: Op, builder: Builder, values: Values) -> tuple[AnyValue, ...]:
    """The results of one copy."""
    operands = tuple([values.get(operand, operand) for operand in op.operands])
    if op.numbered:
        key = (op.__class__, operands, op.attributes)
        found = builder.block.numbering.get(key) or builder.find_outside(key)
        if found is not None:
            return builder.reuse(found)
    regions = tuple([_copy_block(region, builder, values) for region in op.regions])
    types = [result.type for result in op.results]
    location = op.location.union(builder.location)
    copied = make(declared_class(op), operands, op.attributes, types, regions, location)
    for result, original in zip(copied.results, op.results, strict=True):
        result.name = original.name
    builder.insert(copied)
    return copied.results


def _copy_block(block: Block, builder: Builder, values: Values) -> Block:
    inner = builder.nest()
    for argument in block.arguments:
        values[argument] = inner.block.add_argument(argument.type, argument.name)
    copy_ops(block, inner, values)
    return inner.block
