"""Which kernels a contraction becomes, and which of them run where sizes are small or large.

Comes in: a kernel func that consists of one contraction, and the target's chooser. Goes out:
`Stages`.
Never: a decision about a size that is not known yet; the step takes it, where it runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ....ir import tensor
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, interval
from ....ir.dtypes import COMPLEXES, DType
from ....ir.func import Func
from ....ir.types import Tensor
from ..parts import Choice, Part, Stage, Stages, Within
from ..schedule import Chooser, KernelShape, Schedule
from ..space import Refused
from ..stages import tile_kernel
from .adding import adding_func
from .alone import alone_func, chunk_of
from .computed import Computed, computed_operand
from .ending import Ending, Parts, ending_of
from .few import few_func
from .funcs import copied_operand, product_alone, rest_of, widened_product
from .matrix import Extent, Matrix, Role, extent_of, matrix_of, sides_of
from .packing import Panels, packing_func
from .product import product_func

WIDER = 4
"""A block of one row is so much wider, which makes up for the rows that it lacks."""


def contraction_of(func: Func) -> tensor.Contract | None:
    """The contraction that a kernel is made around, if it is made around one."""
    found = [op for op in func.body if isinstance(op, tensor.Contract)]
    return found[0] if len(found) == 1 else None


def tile_contraction(func: Func, op: tensor.Contract, choose: Chooser) -> Stages:
    """A contraction on the tile floor; `Refused` if it has no such form."""
    if op.left.dtype in COMPLEXES:
        raise Refused("complex numbers")
    extent = extent_of(op)
    vector = 1 in (extent.m, extent.n)
    if extent.k == 1 or (vector and not _rows_pass(op, extent)):
        made = tile_kernel(widened_product(func, op, func.name), choose)
        return replace(made, source=func)
    try:
        schedule = choose(KernelShape("contract", op.left.dtype, extent.wide))
        plan = _Plan(func, op, choose, schedule, ending_of(func, op, extent, schedule))
        return plan.vector() if vector else plan.stages()
    except Refused:
        if list(func.results) == [op.result]:
            raise
    return _followed(func, op, choose)


def _followed(func: Func, op: tensor.Contract, choose: Chooser) -> Stages:
    """The product in memory, and then what follows it."""
    count = len(func.arguments)
    branch = _Branch(func, count + len(func.results))
    product = branch.room(op.result.type.shape, op.dtype)
    arrays = range(count)
    alone = product_alone(func, op, f"{func.name}_product")
    inner = contraction_of(alone)
    assert inner is not None
    branch.launch_all(tile_contraction(alone, inner, choose), [*arrays, product])
    rest = tile_kernel(rest_of(func, op), choose)
    branch.launch_all(rest, [*arrays, product, *range(count, branch.first)])
    return branch.done()


def _rows_pass(op: tensor.Contract, extent: Extent) -> bool:
    """Whether a vector is multiplied with a matrix whose rows lie across k."""
    if extent.m == extent.n:
        return False
    side = 1 if extent.m == 1 else 0
    groups, operand = sides_of(op)[side], op.operands[side]
    found = matrix_of(operand.type.shape, operand.dtype, groups, 0)
    return operand.op is None and found is not None and found.fast is Role.FREE


@dataclass(slots=True)
class _Branch:
    """Stages that are being made; their rooms are arrays from number `first` on."""

    func: Func
    first: int
    steps: list[Stage | Choice | Within] = field(default_factory=list[Stage | Choice | Within])
    rooms: list[Tensor] = field(default_factory=list[Tensor])

    def room(self, shape: Shape, dtype: DType) -> int:
        """The number of a new array."""
        self.rooms.append(Tensor(shape, dtype))
        return self.first + len(self.rooms) - 1

    def launch(
        self, made: tuple[Func, Shape], reads: Sequence[Part], writes: Sequence[Part]
    ) -> None:
        """Launch a func on its grid."""
        self.steps.append(Stage(made[0], tuple(reads), tuple(writes), made[1]))

    def launch_all(self, made: Stages, arrays: Sequence[int]) -> None:
        """Launch the stages of another kernel, whose arguments and results are these arrays."""
        self.steps.append(Within(made, tuple(arrays)))

    def inside(self) -> "_Branch":
        """A branch within this one."""
        return _Branch(self.func, self.first + len(self.rooms))

    def done(self) -> Stages:
        """The stages."""
        return Stages(self.func, tuple(self.steps), tuple(self.rooms))


Fill = Callable[[_Branch], None]


class _Plan:
    """The kernels of one contraction."""

    def __init__(
        self, func: Func, op: tensor.Contract, choose: Chooser, schedule: Schedule, ending: Ending
    ) -> None:
        self.func, self.op, self.choose, self.ending = func, op, choose, ending
        self.extent: Extent = extent_of(op)
        self.schedule = schedule
        self.result = len(func.arguments)
        self.outer = _Branch(func, self.result + len(func.results))
        self.sides = (0, 1)
        self.left, self.right = self._matrix(0), self._matrix(1)
        if ending.swapped:
            self._swap()

    def stages(self) -> Stages:
        """All of it."""
        extent, schedule = self.extent, self.schedule
        self._choose(
            self.outer,
            (extent.m, schedule["few"] + 1),
            lambda branch: self._choose(
                branch,
                (extent.m * extent.n, schedule["alone"] + 1),
                self._shared,
                lambda small: self._choose(
                    small, (extent.k, chunk_of(schedule) + 1), self._chunked, self._alone
                ),
            ),
            self._few,
        )
        return self.outer.done()

    def vector(self) -> Stages:
        """A vector is one row, on whichever side it stands."""
        assert self.extent.m == 1
        self._rows(self.outer, 1, WIDER * self.schedule["n"])
        return self.outer.done()

    def _swap(self) -> None:
        """Make rows of columns."""
        self.left, self.right, self.sides = self.right, self.left, (1, 0)
        self.extent = replace(self.extent, m=self.extent.n, n=self.extent.m)

    def _choose(self, branch: _Branch, least: tuple[Size, int], enough: Fill, below: Fill) -> None:
        """Decide, if the size is known well enough, or leave it to the step."""
        size, at_least = least
        low, high = interval(size)
        if low >= at_least or high < at_least:
            (enough if low >= at_least else below)(branch)
            return
        both: list[Stages] = []
        for fill in (enough, below):
            inner = branch.inside()
            fill(inner)
            both.append(inner.done())
        branch.steps.append(Choice(size, at_least, *both))

    def _matrix(self, side: int) -> Matrix | Computed:
        """An operand as it lies in memory, or computed from what lies there, else as a copy."""
        operand, groups = self.op.operands[side], sides_of(self.op)[side]
        if operand.op is None:
            found = matrix_of(operand.type.shape, operand.dtype, groups, operand.index)
            if found is not None:
                return found
        computed = computed_operand(self.func, operand, groups)
        return computed or self._copied(self.outer, side)

    def _copied(self, branch: _Branch, side: int) -> Matrix:
        """An operand as a copy that lies well in memory."""
        operand, groups = self.op.operands[side], sides_of(self.op)[side]
        name = f"{self.func.name}_{('left', 'right')[side]}"
        func = copied_operand(self.func, operand, groups, name)
        shape = func.results[0].type.shape
        room = branch.room(shape, operand.dtype)
        made = tile_kernel(func, self.choose)
        branch.launch_all(made, [*range(self.result), room])
        counted = iter(range(len(shape)))
        ordered = {role: tuple([next(counted) for _ in axes]) for role, axes in groups.items()}
        matrix = matrix_of(shape, operand.dtype, ordered, room)
        assert matrix is not None
        return matrix

    def _blocks(self) -> tuple[Panels, Panels]:
        lines, columns, chunk = [self.schedule[name] for name in ("m", "n", "k")]
        wide = self.extent.wide
        return (
            Panels(self.left, lines, chunk, False, wide),
            Panels(self.right, columns, chunk, True, wide),
        )

    def _finish(self, branch: _Branch, made: tuple[Func, Shape], reads: Sequence[Part]) -> None:
        """Launch a kernel that writes what the whole kernel does."""
        branch.launch(made, [*reads, *self.ending.reads], self.ending.writes)

    def _pack(self, branch: _Branch, panels: Panels, name: str) -> Part:
        func = self.func
        made = packing_func(f"{func.name}_{name}", func.location, panels, self.schedule)
        packed = Part(branch.room(panels.shape, panels.wide), panels.shape)
        branch.launch(made, panels.matrix.parts, [packed])
        return packed

    def _shared(self, branch: _Branch) -> None:
        """Both operands are packed once, for all programs."""
        operands = self._blocks()
        packed = [
            self._pack(branch, each, name)
            for each, name in zip(operands, ("pack_left", "pack_right"), strict=True)
        ]
        made = product_func(
            self.func.name, self.func.location, operands, self.extent, self.ending, self.schedule
        )
        self._finish(branch, made, packed)

    def _few(self, branch: _Branch) -> None:
        """Only the few rows are packed."""
        self._rows(branch, self.schedule["few"], self.schedule["n"])

    def _rows(self, branch: _Branch, lines: int, columns: int) -> None:
        if isinstance(self.right, Computed):
            right = self._copied(branch, self.sides[1])
        else:
            right = self.right
        chunk, wide = self.schedule["together"], self.extent.wide
        left = Panels(self.left, lines, chunk, False, wide)
        operands = left, Panels(right, columns, chunk, True, wide)
        packed = self._pack(branch, operands[0], "pack_few")
        name, location = f"{self.func.name}_few", self.func.location
        made = few_func(name, location, operands, self.extent, self.ending, self.schedule)
        self._finish(branch, made, [packed, *right.parts])

    def _alone(self, branch: _Branch) -> None:
        """One program for each matrix of the batch."""
        made = self._alone_func("alone", self.ending)
        self._finish(branch, made, [*self.left.parts, *self.right.parts])

    def _chunked(self, branch: _Branch) -> None:
        """One program for each chunk of k, and the sum of what they make."""
        extent = self.extent
        count = ceil_div(extent.k, chunk_of(self.schedule))
        shape = (count, extent.batch, extent.m, extent.n)
        parts = Part(branch.room(shape, extent.wide), shape)
        made = self._alone_func("parts", Parts(shape, extent.wide))
        branch.launch(made, [*self.left.parts, *self.right.parts], [parts])
        adding = adding_func(
            f"{self.func.name}_added", self.func.location, count, extent, self.ending, self.schedule
        )
        self._finish(branch, adding, [parts])

    def _alone_func(self, name: str, ending: Ending | Parts) -> tuple[Func, Shape]:
        return alone_func(
            f"{self.func.name}_{name}",
            self.func.location,
            self._blocks(),
            self.extent,
            ending,
            self.schedule,
        )
