"""A kernel that reduces along its rows and sums across them, too: in one pass, or apart.

Comes in: a kernel func, and which of its results are reduced across the rows. Goes out: `Stages`:
where rows are not too long, a kernel that leaves the sums of each chunk of rows, and one that adds
them up; else a kernel for either kind of results.
Never: a chunk that depends on anything but sizes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, ceil_div
from ...ir.func import Func, Return
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction
from ...ir.types import Tensor
from ...ir.values import AnyValue
from ..copying import Values, copy_ops
from ..dead import sweep
from ..reads import needed
from .build import build_stage
from .kernel import Across, Kernel, Param
from .merge import merge_axes
from .parts import Choice, Stages, Within
from .read import read_kernel
from .reductions import sum_dtype
from .schedule import Chooser, shape_of
from .sizes import Unnamed
from .space import Index
from .split import chunks_of

COLUMNS = 1
"""The axis along which rows run, of two."""

Tile = Callable[[Func, Chooser], Stages]


def across_stages(func: Func, numbers: Sequence[int], choose: Chooser, tile: Tile) -> Stages:
    """The stages of a kernel of which these results are reduced across the rows."""
    others = [number for number in range(len(func.results)) if number not in numbers]
    sums = [op for number in numbers if isinstance(op := func.results[number].op, Reduction)]
    job = _Job(func, sums, choose, tile, numbers, others)
    apart = job.apart()
    crossed = job.crossed()
    if crossed is None:
        return apart
    columns, most, together = crossed
    return Stages(func, (Choice(columns, most + 1, apart, together),))


@dataclass(frozen=True, slots=True)
class _Job:
    """`sums` are the results with these `numbers`; `others` are those of the other results."""

    func: Func
    sums: list[Reduction]
    choose: Chooser
    tile: Tile
    numbers: Sequence[int]
    others: Sequence[int]

    @property
    def reads(self) -> range:
        """The numbers of the arrays that are read."""
        return range(len(self.func.arguments))

    def writes(self, results: Sequence[int]) -> list[int]:
        """The numbers of the arrays that these results are written to."""
        return [len(self.reads) + number for number in results]

    def rooms(self, count: int) -> range:
        """The numbers of so many rooms."""
        first = len(self.reads) + len(self.func.results)
        return range(first, first + count)

    def apart(self) -> Stages:
        """One kernel after the other; the first leaves what the second needs of each row."""
        func, along = self.func, [self.func.results[number] for number in self.others]
        left = self._left()
        rooms = self.rooms(len(left))
        first = picked(func, "", [*along, *left])
        second = picked(func, "_across", [op.result for op in self.sums], left)
        stages = (
            Within(self._tiled(first), (*self.reads, *self.writes(self.others), *rooms)),
            Within(self._tiled(second), (*self.reads, *rooms, *self.writes(self.numbers))),
        )
        return Stages(func, stages, tuple([value.type for value in left]))

    def crossed(self) -> tuple[Size, int, Stages] | None:
        """All in one pass, if it has such a form: how many columns there are, and may be."""
        func, along = self.func, [self.func.results[number] for number in self.others]
        kernel = read_kernel(picked(func, "_rows", [*along, *[op.x for op in self.sums]]))
        merge_axes(kernel)
        schedule = self.choose(shape_of(kernel))
        if "across" not in schedule or len(kernel.space.sizes) != COLUMNS + 1:
            return None
        rows, columns = kernel.space.sizes
        across = Across(chunks_of(func), schedule["across"], {})
        _cross(kernel, across, self.sums)
        rooms = self.rooms(len(self.sums))
        arrays = [*self.reads, *self.writes(self.others), *rooms]
        try:
            passing = build_stage(kernel, schedule, arrays)
        except Unnamed:
            return None
        types = [_parts(op, across.chunks) for op in self.sums]
        adding = self._tiled(_adding(func, self.sums, types))
        once = (passing, Within(adding, (*rooms, *self.writes(self.numbers))))
        known = {across.chunks: ceil_div(rows, across.rows)}
        every = tuple(range(rooms.start))
        together = Stages(func, (Within(Stages(func, once, tuple(types)), every, known),))
        return columns, schedule["columns"], together

    def _tiled(self, func: Func) -> Stages:
        return self.tile(func, self.choose)

    def _left(self) -> list[AnyValue]:
        """What sums across rows need of reductions along them."""
        reached = needed(self.func.body, [op.x for op in self.sums])
        reductions = [op for op in self.func.body if isinstance(op, Reduction | ArgReduction)]
        along = [op for op in reductions if op not in self.sums]
        return [op.results[0] for op in along if op.results[0] in reached]


def _cross(kernel: Kernel, across: Across, sums: Sequence[Reduction]) -> None:
    """Let the last outputs of a kernel be summed up across its rows, to a line for each chunk."""
    for output, op in zip(kernel.outputs[-len(sums) :], sums, strict=True):
        shape = (across.chunks, kernel.space.sizes[COLUMNS])
        param = Param(output.param.number, shape, sum_dtype(op), "parts", written=True)
        kernel.params[kernel.params.index(output.param)] = param
        output.param, output.at = param, (Index(COLUMNS),)
        across.sums[param] = op
    kernel.across = across


def _parts(op: Reduction, chunks: Symbol) -> Tensor:
    """The type of what chunks of rows come to."""
    return Tensor((chunks, *op.result.type.shape), sum_dtype(op))


def _adding(func: Func, sums: Sequence[Reduction], types: Sequence[Tensor]) -> Func:
    """The func that adds up what the chunks of rows come to."""
    chunks = types[0].shape[0]
    assert isinstance(chunks, Symbol)
    made = Func(f"{func.name}_combined", types, (chunks, *func.symbols), location=func.location)
    builder = Builder(made.body, location=func.location)
    results: list[AnyValue] = []
    for op, argument in zip(sums, made.arguments, strict=True):
        argument.name, builder.location = "parts", op.location
        whole = builder.emit(op.__class__, argument, axes=(0,))
        if whole.dtype is not op.result.dtype:
            whole = builder.emit(tensor.Cast, whole, dtype=op.result.dtype)
        whole.name = op.result.name
        results.append(whole)
    builder.location = func.location
    builder.emit_all(Return, results)
    return made


def picked(
    func: Func, suffix: str, results: Sequence[AnyValue], given: Sequence[AnyValue] = ()
) -> Func:
    """The func with other results, and with further arguments for what is given."""
    arguments = [*func.arguments, *given]
    types = [argument.type for argument in arguments]
    made = Func(func.name + suffix, types, func.symbols, func.attributes, func.location)
    values: Values = dict(zip(arguments, made.arguments, strict=True))
    for argument, new in values.items():
        new.name = argument.name
    builder = Builder(made.body, location=func.location)
    known = {value.op for value in given}
    ops = (op for op in func.body if not op.terminator and op not in known)
    copy_ops(ops, builder, values)
    builder.location = func.location
    builder.emit_all(Return, [values[result] for result in results])
    sweep(made.body)
    return made
