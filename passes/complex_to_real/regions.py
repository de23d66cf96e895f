"""Ops on the parts of what they read; what loops and branches hold goes the same way.

Comes in: an op, and the parts of all that stands before it. Goes out: the parts of its results,
where a region takes, carries and yields both parts of a complex number one after the other.
Never: a region that takes up a value of outside which it did not read before.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.declare import operand_groups
from ...ir.func import Yield
from ...ir.values import AnyValue, Block, Op, walk
from ..copying import copy_ops
from ..reads import reads
from .loops import as_loop, has_loop
from .rules import RULES, Parts, is_complex, is_known, of_real

Known = dict[AnyValue, Parts]
"""The parts of each value that stands."""

OPENED = tensor.Checkpoint | tensor.Cond | tensor.Loop | tensor.While
"""What stays what it is, and has other regions."""


def is_touched(op: Op) -> bool:
    """Whether anything in an op is complex."""
    return any(
        is_complex(value) for each in walk([op]) for value in (*each.operands, *each.results)
    )


def has_rule(op: Op) -> bool:
    """Whether nothing in an op is complex, or there is a rule for all that is."""
    if op.terminator or is_known(op) or has_loop(op) or not is_touched(op):
        return True
    if isinstance(op, tensor.CustomVjp):
        return all(map(has_rule, op.primal))
    return isinstance(op, OPENED) and all(map(has_rule, chain(*op.regions)))


def put(ops: Iterable[Op], builder: Builder, known: Known) -> None:
    """Put ops on parts where a builder stands; `known` learns the parts of what they make."""
    for op in ops:
        builder.location = op.location
        if not op.terminator:
            known.update(zip(op.results, _parts_of_results(op, builder, known), strict=True))


def argument(block: Block, value: AnyValue) -> Parts:
    """The arguments of a block that stand for a value."""
    part = value.type.with_dtype(value.dtype.real)
    real = block.add_argument(part, value.name)
    return (real, block.add_argument(part)) if is_complex(value) else of_real(real)


def _parts_of_results(op: Op, builder: Builder, known: Known) -> list[Parts]:
    if not is_touched(op):
        real = {value: known[value][0] for value in reads(op)}
        copy_ops([op], builder, real)
        return [of_real(real[result]) for result in op.results]
    if isinstance(op, tensor.CustomVjp):
        return _of_primal(op, builder, known)
    if isinstance(op, OPENED):
        return _of_regions(op, builder, known)
    if has_loop(op):
        return [_of_loop(op, builder, known)]
    return [RULES[op.__class__](op, builder, [known[value] for value in op.operands])]


def _of_loop(op: Op, builder: Builder, known: Known) -> Parts:
    """What it stands for is written on a sheet of its own, put, and thrown away."""
    sheet = Builder(Block(), location=op.location)
    try:
        made = as_loop(op, sheet)
        put(sheet.block, builder, known)
        return known[made]
    finally:
        for each in reversed(list(sheet.block)):
            each.detach()


def _of_primal(op: tensor.CustomVjp, builder: Builder, known: Known) -> list[Parts]:
    """What is differentiated is only run from here on."""
    for inner, value in zip(op.primal.arguments, op.arguments, strict=True):
        known[inner] = known[value]
    put(op.primal, builder, known)
    return [known[value] for value in op.primal.terminator.operands]


def _of_regions(op: OPENED, builder: Builder, known: Known) -> list[Parts]:
    """The same op of parts, with regions of parts."""
    cls = op.__class__
    fields = zip(cls.attribute_fields, op.attributes, strict=False)  # lengths of lists come last
    given: dict[str, Any] = {field.name: value for field, value in fields}
    for field, values in operand_groups(op):
        taken = _one_after_the_other(values, known)
        given[field.name] = taken if field.many else taken[0]
    for field, region in zip(cls.region_fields, op.regions, strict=True):
        given[field.name] = _region(region, builder, known)
    made = iter(builder.emit_all(cls, **given))
    return [
        (next(made), next(made)) if is_complex(result) else of_real(next(made))
        for result in op.results
    ]


def _region(region: Block, builder: Builder, known: Known) -> Block:
    """A region on parts, which makes for itself what it made before."""
    inner = Builder(Block(), location=builder.location)
    known.update({value: argument(inner.block, value) for value in region.arguments})
    put(region, inner, known)
    inner.location = region.terminator.location
    inner.emit_all(Yield, _one_after_the_other(region.terminator.operands, known))
    return inner.block


def _one_after_the_other(values: Iterable[AnyValue], known: Known) -> list[AnyValue]:
    """Both parts of complex values, and real ones."""
    return [part for each in values for part in known[each][: 1 + is_complex(each)]]
