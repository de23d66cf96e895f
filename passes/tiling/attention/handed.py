"""What a kernel of attention reads and writes, by name.

Comes in: a plan, whose arrays these are. Goes out: a `Handed`: the params of the kernel, the parts
of arrays that a launch hands to it, and once the kernel is open its views.
Never: an op of the kernel.
"""

from dataclasses import dataclass, field

from ....ir import tile
from ....ir.dims import Size
from ....ir.dtypes import i64
from ....ir.func import Func
from ....ir.types import Tensor
from ....ir.values import AnyValue, Value
from ..contract.packing import Panels, packing_func
from ..contract.writer import Resize, Writer
from ..emit import nothing
from ..kernel import Param
from ..parts import Part, Stage, Stages
from .change import Change
from .diagonal import Offset
from .heads import Heads
from .program import Program

Pair = tuple[Param, Part]


@dataclass(slots=True)
class Plan:
    """The stages of one op, `packed` operands by name; rooms come after all other arrays."""

    func: Func
    sizes: Heads
    stages: list[Stage] = field(default_factory=list[Stage])
    rooms: list[Tensor] = field(default_factory=list[Tensor])
    packed: dict[str, Pair] = field(default_factory=dict[str, Pair])

    def pack(self, name: str, panels: Panels) -> Panels:
        """Pack an operand, for all programs."""
        func, shape = self.func, panels.shape
        named = f"{func.name}_pack_{name}"
        made, grid = packing_func(named, func.location, panels, self.sizes.schedule)
        number = len(func.arguments) + len(func.results) + len(self.rooms)
        self.rooms.append(Tensor(shape, panels.wide))
        part = Part(number, shape)
        self.stages.append(Stage(made, tuple(panels.matrix.parts), (part,), grid))
        self.packed[name] = Param(number, shape, panels.wide, name), part
        return panels

    def done(self) -> Stages:
        """All of them."""
        return Stages(self.func, tuple(self.stages), tuple(self.rooms))


class Handed:
    """The arrays of one kernel; `views` are its arguments, by name."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.plan, self.name = plan, name
        self.reads: dict[str, Pair] = {}
        self.writes: dict[str, Pair] = {}
        self.views: dict[str, AnyValue] = {}
        self.counts: dict[str, int] = {}

    def read(self, **values: AnyValue) -> None:
        """Arguments of the op's func, as they are."""
        for name, value in values.items():
            self._add(self.reads, name, value.index, value)

    def panels(self, *names: str) -> None:
        """Operands that are packed."""
        self.reads.update({name: self.plan.packed[name] for name in names})

    def change(self, name: str, change: Change) -> Change:
        """What a change of the scores reads."""
        for place, (param, number) in enumerate(zip(change.params, change.arrays(), strict=True)):
            self.reads[f"{name}{place}"] = param, Part(number, param.shape)
        self.counts[name] = len(change.params)
        return change

    def offset(self, found: Offset | None) -> Offset | None:
        """How far after its query a key may come; an array that says so is read."""
        if isinstance(found, Value):
            self.read(offset=found)
        return found

    def write(self, **values: AnyValue) -> None:
        """Results of the op."""
        first = len(self.plan.func.arguments)
        for name, value in values.items():
            self._add(self.writes, name, first + value.index, value)

    def open(self, heads: Size, rows: Size, columns: Size) -> tuple[Program, dict[str, AnyValue]]:
        """The kernel's func, in which nothing is done yet: a program for some rows of a head."""
        sizes, func = self.plan.sizes, self.plan.func
        pairs = {**self.reads, **self.writes}
        params = [param for param, _ in pairs.values()]

        def grid(local: Resize) -> tuple[Size, Size, Size]:
            return Program.grid(sizes, heads, rows, local)

        writer = Writer(self.name, func.location, params, grid, sizes.schedule)
        writer.builders[0].location = func.location
        self.views = dict(zip(pairs, writer.views, strict=True))
        return Program(writer, sizes, heads, rows, columns), self.views

    def changes(self, name: str) -> list[AnyValue]:
        """The views that a change reads."""
        return [self.views[f"{name}{place}"] for place in range(self.counts[name])]

    def close(self, program: Program) -> None:
        """Launch what is written."""
        reads = tuple(part for _, part in self.reads.values())
        writes = tuple(part for _, part in self.writes.values())
        writer = program.writer
        self.plan.stages.append(Stage(writer.done(), reads, writes, writer.grid))

    def _add(self, pairs: dict[str, Pair], name: str, number: int, value: AnyValue) -> None:
        shape, dtype = value.type.shape, value.dtype
        param = Param(number, shape, dtype, name, written=pairs is self.writes)
        pairs[name] = param, Part(number, shape)


def offset_of(program: Program, found: Offset | None, view: AnyValue | None) -> AnyValue | None:
    """How far after its query a key may come: a number, or what stands in a view of rank 0."""
    if found is None:
        return None
    writer = program.writer
    if isinstance(found, int):
        return writer.size(found)
    assert view is not None
    loaded = writer.emit(tile.Load, view, [], shape=(), padding=nothing(view.dtype))
    return program.cast(writer.emit(tile.Extract, loaded), i64)
