"""Kernels that consist of one op, which is no map and no reduction: who writes them.

Comes in: a kernel func. Goes out: its stages, by whoever the table names for its only op.
Never: a kernel of several ops.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import COMPLEXES
from ...ir.func import Func, Return
from ...ir.values import Op
from ..copying import copy_op
from .concat import concat_parts
from .gather import gather_rows
from .parts import Choice, Stage, Stages
from .random import random_words
from .scan import scan_lines
from .scatter import scatter_rows
from .schedule import Chooser
from .space import Refused
from .written import written_kernel

ALONE: dict[Any, Callable[[Func, Any, Chooser], Stages]] = {
    tensor.CumulativeSum: scan_lines,
    tensor.CumulativeProduct: scan_lines,
    tensor.CumulativeMaximum: scan_lines,
    tensor.CumulativeMinimum: scan_lines,
    tensor.RandomBits: random_words,
    tensor.Concat: concat_parts,
    tensor.Gather: gather_rows,
    tensor.Scatter: scatter_rows,
    tensor.Custom: written_kernel,
}

TOLD = (tensor.RandomBits,)
"""Ops that have sizes in other attributes than shapes, so that arrays may be there to tell them."""


def alone_stages(func: Func, choose: Chooser) -> Stages | None:
    """The stages of a kernel of one such op; None for any other kernel."""
    op = func.body.first
    single = op is not None and op.next is not None and op.next.terminator
    write = ALONE.get(op.__class__) if single else None
    if write is None:
        return None
    assert op is not None
    if any(each.type.dtype in COMPLEXES for each in op.operands):
        raise Refused("complex numbers")
    if op.results != func.results or any(each.op is not None for each in op.operands):
        raise Refused(f"something beside {op.name} is returned")
    plain, numbers = _plain(func, op)
    made = write(plain, plain.body.first, choose)
    return replace(
        made, source=func, stages=tuple(_renumbered(each, numbers) for each in made.stages)
    )


def _plain(func: Func, op: Op) -> tuple[Func, dict[int, int]]:
    """The same kernel with an argument for each operand, in order, and then those that only tell
    sizes, if its author looks at them; and for each of its arrays, the number that it has with the
    original."""
    told = [each for each in func.arguments if op.__class__ in TOLD and each not in op.operands]
    taken = [*op.operands, *told]
    plain = Func(func.name, [x.type for x in taken], func.symbols, location=func.location)
    for argument, operand in zip(plain.arguments, taken, strict=True):
        argument.name = operand.name
    results, _ = copy_op(op, Builder(plain.body), {})
    (copy,) = plain.body
    copy.set_operands(plain.arguments[: len(op.operands)])
    for result, original in zip(results, func.results, strict=True):
        result.name = original.name
    Builder(plain.body).emit_all(Return, results)
    numbers = {place: operand.index for place, operand in enumerate(taken)}
    for place in range(len(results)):
        numbers[len(taken) + place] = len(func.arguments) + place
    return plain, numbers


def _renumbered(stage: Stage | Choice, numbers: dict[int, int]) -> Stage:
    assert isinstance(stage, Stage)  # no such kernel depends on a size
    reads = tuple(replace(part, array=numbers[part.array]) for part in stage.reads)
    writes = tuple(replace(part, array=numbers[part.array]) for part in stage.writes)
    return replace(stage, reads=reads, writes=writes)
