"""Which kernels a contraction becomes, and which of them run where sizes are small or large.

Comes in: a kernel func that consists of one contraction, and the target's chooser. Goes out:
`Stages`, of kernels that depend on how large a product of [m, k] and [k, n] is:

    m is small                  few rows are packed ─▶ few, or dots where both lie along a long k
    m is less than n and k      rows are packed ─▶ near
    m·n is small, k too         alone
    m·n is small, k is not      chunks of k alone ─▶ adding
    else                        both operands are packed ─▶ product

Never: a decision about a size that is not known yet; the step takes it, where it runs.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ....ir import tensor
from ....ir.dims import Size, ceil_div, maximum, minimum
from ....ir.dtypes import COMPLEXES
from ....ir.func import Func
from ....ir.shared.properties import cached_property
from ...witness import witness
from ..late import Made
from ..opening import Heading
from ..parts import Part, Stages
from ..schedule import Chooser, KernelShape, Schedule
from ..sizes import Unnamed
from ..space import Refused
from ..stages import tile_kernel
from ..staging import Staging
from .adding import adding_func
from .alone import Chunks, alone_func
from .computed import Computed, computed_operand
from .dots import dots_func
from .ending import Ending, Parts, ending_of
from .few import few_func
from .funcs import copied_operand, product_alone, rest_of, widened_product
from .matrix import Extent, Matrix, Role, extent_of, matrix_of, sides_of
from .near import near_func
from .packing import Panels, packing_func
from .product import product_func

WIDER = 4
"""A block of one row is so much wider, which makes up for the rows that it lacks."""
SHORT = 4
"""With so few vectors along k, to add lanes to each other at the end takes most of the time."""


def contraction_of(func: Func) -> tensor.Contract | None:
    """The contraction that a kernel is made around, if it is made around one."""
    found = [op for op in func.body if isinstance(op, tensor.Contract)]
    return found[0] if len(found) == 1 else None


def tile_contraction(func: Func, op: tensor.Contract, choose: Chooser) -> Stages:
    """A contraction on the tile floor; `Refused` if it has no such form."""
    if op.left.dtype in COMPLEXES:
        raise Refused("complex numbers")
    try:
        return _at_once(func, op, choose)
    except Refused:
        if list(func.results) == [op.result]:
            raise
    return _followed(func, op, choose)


def _at_once(func: Func, op: tensor.Contract, choose: Chooser) -> Stages:
    """The product with what follows it."""
    extent = extent_of(op)
    vector = 1 in (extent.m, extent.n)
    if extent.k == 1 or (vector and not _rows_pass(op, extent)):
        made = tile_kernel(widened_product(func, op, func.name), choose)
        return replace(made, source=func)
    schedule = choose(KernelShape("contract", op.left.dtype, extent.wide))
    ending = ending_of(func, op, extent, schedule)
    try:
        return _Plan(func, op, choose, schedule, ending).made()
    except Unnamed:  # a size that only copies of operands have, of which both are parts
        return _Plan(func, op, choose, schedule, ending, copies=True).made()


def _followed(func: Func, op: tensor.Contract, choose: Chooser) -> Stages:
    """The product in memory, and then what follows it."""
    staging = Staging.of(func)
    product = staging.room(op.result.type.shape, op.dtype).array
    reads = range(len(func.arguments))
    alone = product_alone(func, op, f"{func.name}_product")
    inner = contraction_of(alone)
    assert inner is not None
    staging.launch_all(tile_contraction(alone, inner, choose), [*reads, product])
    rest = tile_kernel(rest_of(func, op), choose)
    staging.launch_all(rest, [*reads, product, *range(len(reads), staging.first)])
    return staging.done()


def _rows_pass(op: tensor.Contract, extent: Extent) -> bool:
    """Whether a vector is multiplied with a matrix whose rows lie across k."""
    if extent.m == extent.n:
        return False
    side = 1 if extent.m == 1 else 0
    groups, operand = sides_of(op)[side], op.operands[side]
    found = matrix_of(operand.type.shape, operand.dtype, groups, 0)
    return operand.op is None and found is not None and found.fast is Role.FREE


class _Plan:
    """The kernels of one contraction."""

    def __init__(
        self,
        func: Func,
        op: tensor.Contract,
        choose: Chooser,
        schedule: Schedule,
        ending: Ending,
        copies: bool = False,
    ) -> None:
        self.func, self.op, self.choose, self.ending = func, op, choose, ending
        self.extent: Extent = extent_of(op)
        self.schedule, self.heading = schedule, Heading(func.name, func.location, schedule)
        self.outer, self.copies = Staging.of(func), copies
        self.sides = (0, 1)
        self.left, self.right = self._matrix(0), self._matrix(1)
        if ending.swapped:
            self._swap()

    def made(self) -> Stages:
        """All of it."""
        return self._vector() if 1 in (self.extent.m, self.extent.n) else self._stages()

    def _stages(self) -> Stages:
        extent, schedule = self.extent, self.schedule

        def small(staging: Staging) -> None:
            alone = Chunks(schedule).alone * schedule["k"]
            staging.choose(extent.k, alone + 1, self._chunked, self._alone)

        def large(staging: Staging) -> None:
            least = schedule["alone"] + 1
            staging.choose(extent.m * extent.n, least, self._shared, small)

        def some(staging: Staging) -> None:
            staging.choose(self._is_near, 2, self._near, large)

        many = some if "some" in schedule else large
        self.outer.choose(extent.m, schedule["few"] + 1, many, self._few)
        return self.outer.done()

    def _vector(self) -> Stages:
        """A vector is one row, on whichever side it stands."""
        assert self.extent.m == 1
        assert isinstance(self.right, Matrix)
        self._rows(self.outer, self.right, 1, WIDER * self.schedule["n"])
        return self.outer.done()

    def _swap(self) -> None:
        """Make rows of columns."""
        self.left, self.right, self.sides = self.right, self.left, (1, 0)
        self.extent = replace(self.extent, m=self.extent.n, n=self.extent.m)

    def _matrix(self, side: int) -> Matrix | Computed:
        """An operand as it lies in memory, or computed from what lies there, else as a copy."""
        operand, groups = self.op.operands[side], sides_of(self.op)[side]
        if operand.op is None:
            found = matrix_of(operand.type.shape, operand.dtype, groups, operand.index)
            if found is not None:
                return found
        computed = None if self.copies else computed_operand(self.func, operand, groups)
        return computed or self._copied(self.outer, side)

    def _copied(self, staging: Staging, side: int) -> Matrix:
        """An operand as a copy that lies well in memory."""
        operand, groups = self.op.operands[side], sides_of(self.op)[side]
        name = f"{self.func.name}_{('left', 'right')[side]}"
        func = copied_operand(self.func, operand, groups, name)
        shape = func.results[0].type.shape
        room = staging.room(shape, operand.dtype).array
        made = tile_kernel(func, self.choose)
        staging.launch_all(made, [*range(len(self.func.arguments)), room])
        counted = iter(range(len(shape)))
        ordered = {role: tuple([next(counted) for _ in axes]) for role, axes in groups.items()}
        matrix = matrix_of(shape, operand.dtype, ordered, room)
        assert matrix is not None
        return matrix

    def _blocks(self, names: tuple[str, str] = ("m", "n")) -> tuple[Panels, Panels]:
        lines, columns, chunk = [self.schedule[name] for name in (*names, "k")]
        wide = self.extent.wide
        return (
            Panels(self.left, lines, chunk, wide, beside=False),
            Panels(self.right, columns, chunk, wide, beside=True),
        )

    def _finish(self, staging: Staging, made: Made, reads: Sequence[Part]) -> None:
        """Launch a kernel that writes what the whole kernel does."""
        staging.launch(made, [*reads, *self.ending.reads], self.ending.writes)

    def _pack(self, staging: Staging, panels: Panels, name: str) -> Part:
        packed = staging.room(panels.shape, panels.wide)
        told = [staging.hold(witness(each)) for each in panels.untold]
        made = packing_func(self.heading.plus(name), panels)
        staging.launch(made, [*panels.matrix.parts, *told], [packed])
        return packed

    def _shared(self, staging: Staging) -> None:
        """Both operands are packed once, for all programs."""
        operands = self._blocks()
        packed = [
            self._pack(staging, each, name)
            for each, name in zip(operands, ("pack_left", "pack_right"), strict=True)
        ]
        made = product_func(self.heading, operands, self.extent, self.ending)
        self._finish(staging, made, packed)

    def _near(self, staging: Staging) -> None:
        """Only the rows are packed for all programs, in blocks as those of `_chunked`."""
        left, right = operands = self._blocks(("low", "broad"))
        packed = self._pack(staging, left, "pack_rows")
        made = near_func(self.heading.plus("near"), operands, self.extent, self.ending)
        self._finish(staging, made, [packed, *right.matrix.parts])

    @property
    def _is_near(self) -> Size:
        """2 or more where rows are not many, columns are, and k is long."""
        extent, schedule = self.extent, self.schedule
        rows = ceil_div(schedule["some"] + 1, maximum(extent.m, 1))
        columns = ceil_div(extent.n + 1, schedule["many"])
        return minimum(minimum(rows, columns), ceil_div(extent.k, schedule["deep"]))

    def _few(self, staging: Staging) -> None:
        """Only the few rows are packed; unless k is short, and rows of both would lie along it."""
        extent, schedule, right = self.extent, self.schedule, self.right
        if isinstance(right, Matrix) and right.fast is Role.FREE:
            self._pass(staging)
            return
        short = min(SHORT * schedule["along"], schedule["chunk"])
        size = maximum(extent.k * ceil_div(schedule["alone"], short), extent.m * extent.n)
        staging.choose(size, schedule["alone"] + 1, self._pass, self._alone)

    def _pass(self, staging: Staging) -> None:
        """The right operand passes by the few rows, as it lies in memory."""
        schedule, right = self.schedule, self.right
        if isinstance(right, Computed):
            right = self._copied(staging, self.sides[1])
        if right.fast is Role.FREE:
            self._rows(staging, right, schedule["few"], schedule["n"])
            return
        lines, columns, chunk = [schedule[name] for name in ("lines", "dots", "along")]
        left = Panels(self.left, lines, chunk, self.extent.wide, beside=False)
        rows = Panels(right, columns, chunk, self.extent.wide, beside=False)
        packed = self._pack(staging, left, "pack_few")
        made = dots_func(self.heading.plus("few"), (left, rows), self.extent, self.ending)
        self._finish(staging, made, [packed, *right.parts])

    def _rows(self, staging: Staging, right: Matrix, lines: int, columns: int) -> None:
        chunk, wide = self.schedule["together"], self.extent.wide
        left = Panels(self.left, lines, chunk, wide, beside=False)
        operands = left, Panels(right, columns, chunk, wide, beside=True)
        packed = self._pack(staging, left, "pack_few")
        made = few_func(self.heading.plus("few"), operands, self.extent, self.ending)
        self._finish(staging, made, [packed, *right.parts])

    def _alone(self, staging: Staging) -> None:
        """One program for each matrix of the batch, or for some of its columns."""
        self._finish(staging, self._made_alone, [*self.left.parts, *self.right.parts])

    @cached_property
    def _made_alone(self) -> Made:
        """The same func, wherever sizes choose it."""
        heading, chunks = self.heading.plus("alone"), Chunks(self.schedule)
        return alone_func(heading, self._blocks(), self.extent, self.ending, chunks)

    def _chunked(self, staging: Staging) -> None:
        """One program for each part of k, and the sum of what they make. Blocks are wider than
        those of other products, and lower, where there are as many columns: few rows fill them
        better, and what is packed is near."""
        extent, schedule = self.extent, self.schedule
        chunks = Chunks(schedule)
        count = ceil_div(extent.k, chunks.each(extent.n, extent.k) * schedule["k"])
        parts = staging.room((count, extent.batch, extent.m, extent.n), extent.wide)
        ending = Parts(parts.shape, extent.wide)

        def fill(name: str, names: tuple[str, str], staging: Staging) -> None:
            heading = self.heading.plus(name)
            made = alone_func(heading, self._blocks(names), extent, ending, chunks)
            staging.launch(made, [*self.left.parts, *self.right.parts], [parts])

        low = partial(fill, "low_parts", ("low", "broad"))
        staging.choose(extent.n, schedule["n"] + 1, low, partial(fill, "parts", ("m", "n")))
        made = adding_func(self.heading.plus("added"), count, extent, self.ending)
        self._finish(staging, made, [parts])
