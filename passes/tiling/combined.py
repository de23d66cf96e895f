"""What the chunks of a long reduction come to, together.

Comes in: a `Kernel` that is cut into chunks. Goes out: the tensor func that makes the results of
what each chunk has reduced.
Never: a chunk.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dims import Symbol
from ...ir.func import Func, Return
from ...ir.tensor.reduce import Reduction
from ...ir.types import Tensor
from ...ir.values import AnyValue, Op
from ..copying import Values, copy_ops
from ..witness import is_witness
from .kernel import Kernel
from .powers import Powers, added_up, powers_in
from .reductions import sum_dtype
from .split import combined_results, reductions_of


def combining_func(
    kernel: Kernel, chunks: Symbol
) -> tuple[Func, tuple[Tensor, ...], tuple[int, ...]]:
    """The func that makes the combined results of partial ones, the types of these, and the numbers
    of the arguments that it takes beside them."""
    func = kernel.func
    powers = powers_in(func) if kernel.levels > 1 else {}
    results = [func.results[number] for number in combined_results(kernel)]
    ops = _after_reductions(func, [*results, *[each.shift.value for each in powers.values()]])
    read = {operand for op in ops for operand in op.operands}
    asks = any(isinstance(op, tensor.Slice | tensor.Pad) for op in ops)
    used = [each for each in func.arguments if each in read or (asks and is_witness(each.type))]
    reductions = [node.op for node in reductions_of(kernel)]
    parts = {op: op.result for op in reductions if isinstance(op, Reduction)}
    types = [Tensor((chunks, *value.type.shape), sum_dtype(op)) for op, value in parts.items()]
    made = Func(
        f"{func.name}_combined",
        [*types, *(each.type for each in used)],
        (chunks, *func.symbols),
        location=func.location,
    )
    values = dict(zip(used, made.arguments[len(types) :], strict=True))
    for argument, new in values.items():
        new.name = argument.name
    for value, argument in zip(parts.values(), made.arguments, strict=False):
        argument.name = f"{value.name or 'part'}_parts"
    arguments = dict(zip(parts, made.arguments, strict=False))
    job = _Job(Builder(made.body), arguments, powers, values)
    for op in [each for each in func.body if each in parts or each in ops]:
        job.make(op)
    job.finish(func, results)
    return made, tuple(types), tuple(each.index for each in used)


@dataclass(frozen=True, slots=True)
class _Job:
    """`parts` has what chunks have of a reduction; `values` what stands for the func's own."""

    builder: Builder
    parts: dict[Reduction, AnyValue]
    powers: dict[Op, Powers]
    values: Values

    def make(self, op: Op) -> None:
        """A reduction of all chunks, or an op that comes after."""
        if not isinstance(op, Reduction):
            copy_ops([op], self.builder, self.values)
            return
        self.builder.location, result = op.location, op.results[0]
        whole = self._whole(op)
        if whole.dtype is not result.dtype:
            whole = self.builder.emit(tensor.Cast, whole, dtype=result.dtype)
        self.values[result] = whole

    def finish(self, func: Func, results: Sequence[AnyValue]) -> None:
        """Return these results of the func."""
        self.builder.location = func.location
        for result in results:
            self.values[result].name = result.name
        self.builder.emit_all(Return, [self.values[result] for result in results])

    def _whole(self, op: Reduction) -> AnyValue:
        """All partial results of a reduction as one, in the dtype that is carried."""
        powers = self.powers.get(op)
        if powers is None:
            return self.builder.emit(op.__class__, self.parts[op], axes=(0,))
        largest = self.parts[powers.largest]
        return added_up(self.builder, powers, self.parts[op], largest, self.values)


def _after_reductions(func: Func, results: Sequence[AnyValue]) -> set[Op]:
    """The ops that make results of what reductions come to, and of what needs none."""
    needed, pending = set[Op](), [*results]
    while pending:
        op = pending.pop().op
        if op is not None and op not in needed and not isinstance(op, Reduction):
            needed.add(op)
            pending += op.operands
    return needed
