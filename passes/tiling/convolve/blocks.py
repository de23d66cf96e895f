"""Blocks of the result: a program packs the windows of some pixels, and multiplies them with all
packed weights of a group.

Comes in: a geometry, the panels of its weights. Goes out: the kernel, and its grid.
Never: memory that programs share; and no sum leaves its registers before it is done.
"""

from math import prod

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, maximum, minimum
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..contract.packing import Panels
from ..contract.product import panel, zeros
from ..contract.writer import Resize, Writer
from ..kernel import Param
from ..schedule import Schedule
from .geometry import Geometry
from .lines import each_line
from .reading import Reader
from .storing import all_pixels, store_pixels
from .summing import added
from .windows import Windows


def blocks_func(
    name: str, location: Location, geometry: Geometry, weights: Panels, schedule: Schedule
) -> tuple[Func, Shape]:
    """The kernel in which a program makes all channels of a group for a block of pixels."""

    def grid(local: Resize) -> Shape:
        pixels = prod([local(size) for size in (*geometry.lines, geometry.width)])
        return (ceil_div(pixels, _pixels(geometry, schedule, local)), geometry.groups)

    params = [
        Param(0, geometry.x_shape, geometry.dtype, "x"),
        Param(1, weights.shape, weights.wide, "weights"),
        *told(geometry),
        Param(0, geometry.result_shape, geometry.result, "result", written=True),
    ]
    writer = Writer(name, location, params, grid, schedule)
    program = _Program(writer, geometry, weights, schedule)
    program.pack()
    program.multiply()
    return writer.done(), writer.grid


def told(geometry: Geometry) -> list[Param]:
    """The kernel, where its sizes are to be seen by a program that has only panels of it."""
    known = all(isinstance(size, int) for size in geometry.taken_shape[1:])
    return [] if known else [Param(2, geometry.kernel_shape, geometry.dtype, "kernel")]


def _pixels(geometry: Geometry, schedule: Schedule, local: Resize) -> Size:
    """How many pixels a program takes: as many as its memory has room for, but not too many."""
    rows = maximum(prod([local(size) for size in geometry.taken_shape[1:]]), 1)
    return schedule["n"] * minimum(ceil_div(schedule["kept"], rows), schedule["beside"])


class _Program:
    """What one program does."""

    def __init__(
        self, writer: Writer, geometry: Geometry, weights: Panels, schedule: Schedule
    ) -> None:
        self.writer, self.geometry, self.weights = writer, geometry, weights
        self.block, self.vector = schedule["n"], schedule["vector"]
        self.source, self.panels, *_, self.result = writer.views
        self.group = writer.program(1)
        size = _pixels(geometry, schedule, writer.names.of)
        summed = prod([writer.names.of(each) for each in geometry.taken_shape[1:]])
        shape = (1, summed, size + self.block)
        self.room = writer.emit(tile.Scratch, shape=shape, dtype=geometry.wide)
        pixels = writer.subtract(
            writer.emit(tile.Extent, self.room, axis=2), writer.size(self.block)
        )
        self.begin = writer.multiply(writer.program(0), pixels)
        self.end = writer.least(writer.add(self.begin, pixels), all_pixels(writer, geometry))

    def pack(self) -> None:
        """All windows of the block."""
        reader = Reader(self.writer, self.geometry, self.source, self.vector)
        windows = Windows(reader, self.room, self.group)
        each_line(self.writer, self.geometry, self.begin, self.end, windows.pack)

    def multiply(self) -> None:
        """All blocks of the result."""
        writer, zero = self.writer, self.writer.size(0)
        shape = (1, self.weights.lines, self.block)
        rows = writer.emit(tile.Extent, self.room, axis=1)
        step = self.weights.chunk
        chunks = writer.divide(writer.add(rows, writer.size(step - 1)), step)
        outputs = writer.size(self.geometry.outputs)
        length = writer.subtract(self.end, self.begin)

        def lines(top: AnyValue) -> list[AnyValue]:
            line = writer.divide(top, self.weights.lines)
            weights = panel(writer, self.weights, self.panels, [self.group, line], chunks)

            def row(at: AnyValue) -> list[AnyValue]:
                columns = [writer.size(1), rows, writer.size(self.block)]
                beside = writer.part(self.room, [zero, zero, at], columns)
                nothing_yet = zeros(writer, shape, self.geometry.wide)
                sums = added(writer, self.weights, (weights, beside), nothing_yet)
                begin = writer.add(self.begin, at)
                store_pixels(writer, self.geometry, self.result, sums, [self.group, top, begin])
                return []

            writer.loop("n", (zero, length, self.block), row)
            return []

        writer.loop("m", (zero, outputs, self.weights.lines), lines)
