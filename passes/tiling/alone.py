"""Kernels that consist of one op, which is no map and no reduction: who writes them.

Comes in: a kernel func. Goes out: its stages, by whoever the table names for its only op.
Never: a kernel of several ops.
"""

from collections.abc import Callable
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import COMPLEXES
from ...ir.func import Func, Return
from ...ir.values import Op
from ..copying import copy_ops
from ..reads import captured
from .attention import attention_backward, attention_forward
from .cholesky import cholesky
from .concat import concat_parts
from .convolve import tile_convolution
from .eliminate import eliminate
from .gather import gather_rows
from .parts import Stages, Within
from .random import random_words
from .scan import scan_lines
from .scatter import scatter_rows
from .schedule import Chooser
from .solve import solve, solve_triangle
from .sort import sort_of, sort_stages
from .space import Refused
from .written import written_kernel

ALONE: dict[Any, Callable[[Func, Any, Chooser], Stages]] = {
    tensor.Attention: attention_forward,
    tensor.AttentionBackward: attention_backward,
    tensor.CumulativeSum: scan_lines,
    tensor.CumulativeProduct: scan_lines,
    tensor.CumulativeMaximum: scan_lines,
    tensor.CumulativeMinimum: scan_lines,
    tensor.RandomBits: random_words,
    tensor.Concat: concat_parts,
    tensor.Convolve: tile_convolution,
    tensor.Gather: gather_rows,
    tensor.Scatter: scatter_rows,
    tensor.Custom: written_kernel,
    tensor.Cholesky: cholesky,
    tensor.Lu: eliminate,
    tensor.Solve: solve,
    tensor.TriangularSolve: solve_triangle,
}

TOLD = (tensor.RandomBits,)
"""Ops that have sizes in other attributes than shapes, so that arrays may be there to tell them."""


def alone_stages(func: Func, choose: Chooser) -> Stages | None:
    """The stages of a kernel of one such op; None for any other kernel."""
    sort = sort_of(func)
    if sort is not None:
        return sort_stages(func, sort, choose)
    op = func.body.first
    while op is not None and op.is_constant:  # which a region reads
        op = op.next
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
    made = write(plain, plain.body.terminator.previous, choose)
    return Stages(func, (Within(made, numbers),))


def _plain(func: Func, op: Op) -> tuple[Func, tuple[int, ...]]:
    """The same kernel with an argument for each operand, in order, then those that its regions read
    besides or that only tell sizes, if its author looks at them; and for each of its arrays, the
    number that it has with the original."""
    told = [each for each in func.arguments if op.__class__ in TOLD and each not in op.operands]
    outside = captured(op.regions)
    inner = [value for value in outside if value.op is None]
    taken = [*op.operands, *inner, *told]
    plain = Func(func.name, [x.type for x in taken], func.symbols, location=func.location)
    for argument, operand in zip(plain.arguments, taken, strict=True):
        argument.name = operand.name
    values = dict(zip(taken, plain.arguments, strict=True))
    constants = [value.op for value in outside if value.op is not None]
    copy_ops([*constants, op], Builder(plain.body), values)
    results = [values[result] for result in op.results]
    copy = results[0].op
    assert copy is not None
    copy.set_operands(plain.arguments[: len(op.operands)])
    for result, original in zip(results, func.results, strict=True):
        result.name = original.name
    Builder(plain.body).emit_all(Return, results)
    written = [len(func.arguments) + place for place in range(len(results))]
    return plain, (*[operand.index for operand in taken], *written)
