"""Blocks of the result: a program packs the windows of some pixels, and multiplies them with all
packed weights of a group.

Comes in: a geometry, the panels of its weights. Goes out: the kernel, and its grid.
Never: memory that programs share; and no sum leaves its registers before it is done.
"""

from math import prod

from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, maximum, minimum
from ....ir.values import AnyValue
from ..contract.packing import Panels
from ..contract.product import panel
from ..kernel import Param
from ..late import Made
from ..opening import Heading, Resize, open_grid
from ..schedule import Schedule
from ..writer import Writer
from .geometry import Geometry
from .lines import each_line, turn_of, turns_of_grid
from .reading import Reader
from .storing import all_pixels, store_pixels
from .summing import added
from .windows import Windows


def blocks_func(heading: Heading, geometry: Geometry, weights: Panels) -> Made:
    """The kernel in which a program makes all channels of a group for a block of pixels."""

    def grid(local: Resize) -> Shape:
        pixels = prod([local(size) for size in (*geometry.lines, geometry.width)])
        return (
            ceil_div(pixels, _pixels(geometry, heading.schedule, local)),
            geometry.groups,
            *turns_of_grid(geometry),
        )

    params = [
        Param(0, geometry.x_shape, geometry.dtype, "x"),
        Param(1, weights.shape, weights.wide, "weights"),
        *kernel_for_sizes(geometry),
        Param(0, geometry.result_shape, geometry.result, "result", written=True),
    ]
    writer = Writer(open_grid(heading, params, grid))
    program = _Program(writer, geometry, weights)
    program.pack()
    program.multiply()
    return writer.done()


def kernel_for_sizes(geometry: Geometry) -> list[Param]:
    """The kernel, where its sizes are to be seen by a program that has only panels of it."""
    known = all(isinstance(size, int) for size in geometry.taken_shape[1:])
    return [] if known else [Param(2, geometry.kernel_shape, geometry.dtype, "kernel")]


def _pixels(geometry: Geometry, schedule: Schedule, local: Resize) -> Size:
    """How many pixels a program takes: as many as its memory has room for, but not too many."""
    rows = maximum(prod([local(size) for size in geometry.taken_shape[1:]]), 1)
    return schedule["n"] * minimum(ceil_div(schedule["kept"], rows), schedule["beside"])


class _Program:
    """What one program does."""

    def __init__(self, writer: Writer, geometry: Geometry, weights: Panels) -> None:
        schedule = writer.schedule
        self.writer, self.geometry, self.weights = writer, geometry, weights
        self.block, self.vector = schedule["n"], schedule["vector"]
        self.source, self.panels, *_, self.result = writer.views
        self.group = writer.program(1)
        self.matrix, self.turn = self.group, turn_of(writer, geometry, 2)
        if geometry.turns > 1:
            before = writer.multiply(writer.program(2), geometry.groups)
            self.matrix = writer.add(before, self.group)
        size = _pixels(geometry, schedule, writer.names.of)
        summed = prod([writer.names.of(each) for each in geometry.taken_shape[1:]])
        self.room = writer.scratch(geometry.wide, 1, summed, size + self.block)
        pixels = writer.subtract(writer.extent(self.room, 2), self.block)
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
        rows = writer.extent(self.room, 1)
        step = self.weights.chunk
        chunks = writer.divide(writer.add(rows, step - 1), step)
        outputs = writer.size(self.geometry.outputs)
        length = writer.subtract(self.end, self.begin)

        def lines(top: AnyValue) -> None:
            line = writer.divide(top, self.weights.lines)
            weights = panel(writer, self.weights, self.panels, [self.matrix, line], chunks)

            def row(at: AnyValue) -> None:
                columns = [writer.size(1), rows, writer.size(self.block)]
                beside = writer.part(self.room, [zero, zero, at], columns)
                nothing_yet = writer.zeros(self.geometry.wide, 1, self.weights.lines, self.block)
                sums = added(writer, self.weights, (weights, beside), nothing_yet)
                begin = writer.add(self.begin, at)
                place = [self.group, top, begin]
                store_pixels(writer, self.geometry, self.result, sums, place, self.turn)

            writer.loop("n", (zero, length, self.block), row)

        writer.loop("m", (zero, outputs, self.weights.lines), lines)
