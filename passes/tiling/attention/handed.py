"""What a kernel of attention reads and writes, by name.

Comes in: the stages so far, and what the op and its regions read. Goes out: a `Handed`: the params
of the kernel, the parts of arrays that a launch hands to it, and once the kernel is open its views.
Never: what the kernel does with them.
"""

from dataclasses import dataclass, field

from ....ir import tile
from ....ir.dims import Size
from ....ir.dtypes import i64
from ....ir.values import AnyValue, Value
from ..contract.packing import Panels, packing_func
from ..kernel import Param
from ..opening import Heading, Resize, open_grid
from ..parts import Part
from ..staging import Staging
from .change import Change, Changing
from .diagonal import Offset
from .heads import Heads
from .program import Program

Pair = tuple[Param, Part]


@dataclass(frozen=True, slots=True)
class Packed:
    """The stages of one op, and its packed `operands` by name."""

    staging: Staging
    sizes: Heads
    heading: Heading
    operands: dict[str, Pair] = field(default_factory=lambda: {})

    def pack(self, name: str, panels: Panels) -> Panels:
        """Pack an operand, for all programs."""
        part = self.staging.room(panels.shape, panels.wide)
        made = packing_func(self.heading.plus(f"pack_{name}"), panels)
        self.staging.launch(made, panels.matrix.parts, [part])
        self.operands[name] = Param(part.array, panels.shape, panels.wide, name), part
        return panels


class Handed:
    """The arrays of one kernel; `views` are its arguments, by name."""

    def __init__(self, packed: Packed, heading: Heading) -> None:
        self.packed, self.heading = packed, heading
        self.reads: dict[str, Pair] = {}
        self.writes: dict[str, Pair] = {}
        self.views: dict[str, AnyValue] = {}
        self.offset: Offset | None = None

    def read(self, **values: AnyValue) -> None:
        """Arguments of the op's func, as they are."""
        for name, value in values.items():
            self._add(self.reads, name, value.index, value)

    def panels(self, *names: str) -> None:
        """Operands that are packed."""
        self.reads.update({name: self.packed.operands[name] for name in names})

    def change(self, name: str, change: Change) -> Change:
        """What a change of the scores reads."""
        for place, (param, number) in enumerate(zip(change.params, change.arrays(), strict=True)):
            self.reads[f"{name}{place}"] = param, Part(number, param.shape)
        return change

    def reach(self, offset: Offset | None) -> Offset | None:
        """How far after its query a key may come; an array that says so is read."""
        if isinstance(offset, Value):
            self.read(offset=offset)
        self.offset = offset
        return offset

    def write(self, **values: AnyValue) -> None:
        """Results of the op."""
        first = len(self.packed.staging.func.arguments)
        for name, value in values.items():
            self._add(self.writes, name, first + value.index, value)

    def open(self, heads: Size, rows: Size, columns: Size) -> Program:
        """The kernel, in which nothing is done yet: a program for some rows of a head."""
        sizes = self.packed.sizes
        pairs = {**self.reads, **self.writes}
        params = [param for param, _ in pairs.values()]

        def grid(local: Resize) -> tuple[Size, Size, Size]:
            return Program.grid_of(sizes, heads, rows, local)

        opening = open_grid(self.heading, params, grid)
        self.views = dict(zip(pairs, opening.sizes.views, strict=True))
        return Program(opening, sizes, heads, rows, columns)

    def changing(self, name: str, change: Change) -> Changing:
        """A change, with the views that it reads."""
        return Changing(change, [self.views[f"{name}{at}"] for at in range(len(change.params))])

    def offset_in(self, program: Program) -> AnyValue | None:
        """How far after its query a key may come: a number, or what stands in a view of rank 0."""
        if self.offset is None:
            return None
        if isinstance(self.offset, int):
            return program.size(self.offset)
        loaded = program.load(self.views["offset"], [])
        return program.cast(program.emit(tile.Extract, loaded), i64)

    def close(self, program: Program) -> None:
        """Launch what is written."""
        reads = [part for _, part in self.reads.values()]
        writes = [part for _, part in self.writes.values()]
        self.packed.staging.launch(program.done(), reads, writes)

    def _add(self, pairs: dict[str, Pair], name: str, number: int, value: AnyValue) -> None:
        shape, dtype = value.type.shape, value.dtype
        param = Param(number, shape, dtype, name, written=pairs is self.writes)
        pairs[name] = param, Part(number, shape)
