"""Which kernels a contraction becomes, and which of them run where sizes are small or large.

Comes in: a kernel func that consists of one contraction, and the target's chooser. Goes out:
`Stages`.
Never: a decision about a size that is not known yet; the step takes it, where it runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ....ir import tensor
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, interval
from ....ir.dtypes import COMPLEXES, DType
from ....ir.func import Func
from ....ir.types import Tensor
from ....ir.values import AnyValue
from ..parts import Choice, Part, Stage, Stages
from ..schedule import Chooser, KernelShape, Schedule
from ..space import Refused
from ..stages import tile_kernel
from .adding import adding_func
from .alone import alone_func, chunk_of
from .few import few_func
from .funcs import copied_operand, widened_product
from .matrix import Extent, Matrix, Role, extent_of, matrix_of, sides_of
from .packing import Panels, packing_func
from .product import product_func

Steps = tuple[Stage | Choice, ...]
WIDER = 4
"""A block of one row is so much wider, which makes up for the rows that it lacks."""


def contraction_of(func: Func) -> tensor.Contract | None:
    """The contraction that a kernel consists of, if it does."""
    found = func.results[0].op if len(func.results) == 1 else None
    return found if isinstance(found, tensor.Contract) else None


def tile_contraction(func: Func, op: tensor.Contract, choose: Chooser) -> Stages:
    """A contraction on the tile floor; `Refused` if it has no such form."""
    if op.left.dtype in COMPLEXES:
        raise Refused("complex numbers")
    extent = extent_of(op)
    if extent.k != 1 and 1 not in (extent.m, extent.n):
        return _Plan(func, op, choose).stages()
    if extent.k != 1 and _rows_pass(op, extent):
        return _Plan(func, op, choose).vector()
    made = tile_kernel(widened_product(func, op, func.name), choose)
    return replace(made, source=func)


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
    steps: list[Stage | Choice] = field(default_factory=list[Stage | Choice])
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
        numbers = dict(enumerate(arrays))
        for place, type_ in enumerate(made.rooms, len(arrays)):
            numbers[place] = self.room(type_.shape, type_.dtype)
        for stage in made.stages:
            if isinstance(stage, Choice):
                raise Refused("an operand is a reduction")
            reads, writes = _moved(stage.reads, numbers), _moved(stage.writes, numbers)
            self.launch((stage.func, stage.grid), reads, writes)

    def done(self) -> Stages:
        """The stages."""
        return Stages(self.func, tuple(self.steps), tuple(self.rooms))


Fill = Callable[[_Branch], None]


class _Plan:
    """The kernels of one contraction."""

    def __init__(self, func: Func, op: tensor.Contract, choose: Chooser) -> None:
        self.func, self.op, self.choose = func, op, choose
        self.extent: Extent = extent_of(op)
        shape = KernelShape("contract", op.left.dtype, self.extent.wide)
        self.schedule: Schedule = choose(shape)
        self.result = len(func.arguments)
        self.outer = _Branch(func, self.result + 1)
        self.left = self._matrix(0, op.left)
        self.right = self._matrix(1, op.right)

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
        if self.extent.n == 1:
            self.left, self.right = self.right, self.left
            self.extent = replace(self.extent, m=1, n=self.extent.m)
        self._rows(self.outer, 1, WIDER * self.schedule["n"])
        return self.outer.done()

    def _choose(self, branch: _Branch, least: tuple[Size, int], enough: Fill, below: Fill) -> None:
        """Decide, if the size is known well enough, or leave it to the step."""
        size, at_least = least
        low, high = interval(size)
        if low >= at_least or high < at_least:
            (enough if low >= at_least else below)(branch)
            return
        both: list[Stages] = []
        for fill in (enough, below):
            inner = _Branch(self.func, branch.first + len(branch.rooms))
            fill(inner)
            both.append(inner.done())
        branch.steps.append(Choice(size, at_least, *both))

    def _matrix(self, side: int, operand: AnyValue) -> Matrix:
        """An operand as it lies in memory, else as a copy that lies there better."""
        groups = sides_of(self.op)[side]
        if operand.op is None:
            found = matrix_of(operand.type.shape, operand.dtype, groups, operand.index)
            if found is not None:
                return found
        name = f"{self.func.name}_{('left', 'right')[side]}"
        func = copied_operand(self.func, operand, groups, name)
        shape = func.results[0].type.shape
        room = self.outer.room(shape, operand.dtype)
        made = tile_kernel(func, self.choose)
        self.outer.launch_all(made, [*range(self.result), room])
        counted = iter(range(len(shape)))
        ordered = {role: tuple([next(counted) for _ in axes]) for role, axes in groups.items()}
        matrix = matrix_of(shape, operand.dtype, ordered, room)
        assert matrix is not None
        return matrix

    def _panels(self, lines: int, columns: int, chunk: int) -> tuple[Panels, Panels]:
        wide = self.extent.wide
        return (
            Panels(self.left, lines, chunk, False, wide),
            Panels(self.right, columns, chunk, True, wide),
        )

    def _blocks(self) -> tuple[Panels, Panels]:
        return self._panels(*[self.schedule[name] for name in ("m", "n", "k")])

    @property
    def _product(self) -> Part:
        return Part(self.result, (self.extent.batch, self.extent.m, self.extent.n))

    def _pack(self, branch: _Branch, panels: Panels, name: str) -> Part:
        func = self.func
        made = packing_func(f"{func.name}_{name}", func.location, panels, self.schedule)
        packed = Part(branch.room(panels.shape, panels.wide), panels.shape)
        branch.launch(made, [_whole(panels.matrix)], [packed])
        return packed

    def _shared(self, branch: _Branch) -> None:
        """Both operands are packed once, for all programs."""
        operands = self._blocks()
        packed = [
            self._pack(branch, each, name)
            for each, name in zip(operands, ("pack_left", "pack_right"), strict=True)
        ]
        made = product_func(
            self.func.name, self.func.location, operands, self.extent, self.op.dtype, self.schedule
        )
        branch.launch(made, packed, [self._product])

    def _few(self, branch: _Branch) -> None:
        """Only the few rows are packed."""
        self._rows(branch, self.schedule["few"], self.schedule["n"])

    def _rows(self, branch: _Branch, lines: int, columns: int) -> None:
        operands = self._panels(lines, columns, self.schedule["together"])
        packed = self._pack(branch, operands[0], "pack_few")
        name, location = f"{self.func.name}_few", self.func.location
        made = few_func(name, location, operands, self.extent, self.op.dtype, self.schedule)
        branch.launch(made, [packed, _whole(self.right)], [self._product])

    def _alone(self, branch: _Branch) -> None:
        """One program for each matrix of the batch."""
        made = self._alone_func("alone", self._product.shape, self.op.dtype)
        branch.launch(made, [_whole(self.left), _whole(self.right)], [self._product])

    def _chunked(self, branch: _Branch) -> None:
        """One program for each chunk of k, and the sum of what they make."""
        chunk = chunk_of(self.schedule)
        shape = (ceil_div(self.extent.k, chunk), *self._product.shape)
        wide = self.extent.wide
        parts = Part(branch.room(shape, wide), shape)
        made = self._alone_func("parts", shape, wide)
        branch.launch(made, [_whole(self.left), _whole(self.right)], [parts])
        adding = adding_func(
            f"{self.func.name}_added",
            self.func.location,
            shape[0],
            self.extent,
            self.op.dtype,
            self.schedule,
        )
        branch.launch(adding, [parts], [self._product])

    def _alone_func(self, name: str, shape: Shape, dtype: DType) -> tuple[Func, Shape]:
        return alone_func(
            f"{self.func.name}_{name}",
            self.func.location,
            self._blocks(),
            self.extent,
            (shape, dtype),
            self.schedule,
        )


def _whole(matrix: Matrix) -> Part:
    return Part(matrix.array, matrix.shape)


def _moved(parts: Iterable[Part], numbers: Mapping[int, int]) -> tuple[Part, ...]:
    return tuple(replace(part, array=numbers[part.array]) for part in parts)
