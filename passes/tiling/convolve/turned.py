"""Convolutions of large windows, and few places for each: a gradient of a kernel is one.

Comes in: a geometry of one group, the panels of its weights, which are of one input channel each.
Goes out: the kernel, and its grid. Elements of x are loaded along the window, where neighbours are,
for as many pixels as fit a vector, and turned; windows of one input channel are packed at a time.
Never: more sums than a program keeps in its memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div
from ....ir.values import AnyValue
from ..contract.packing import Panels
from ..contract.product import panel
from ..kernel import Param
from ..late import Made
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .elements import each_element
from .geometry import Geometry
from .lines import place_of, turn_of, turns_of_grid
from .reading import Reader
from .storing import all_pixels, store_pixels
from .summing import added

MOST = 16
"""So many pixels are turned at once, at most."""
_Part = Callable[[AnyValue, AnyValue], None]
"""Does something with elements from a place along the last axis on; so many rows come before."""


def turned_func(heading: Heading, geometry: Geometry, weights: Panels) -> Made:
    """The kernel in which a program makes all channels of a block of pixels."""

    def grid(local: Resize) -> Shape:
        pixels = prod([local(size) for size in (*geometry.lines, geometry.width)])
        return (ceil_div(pixels, heading.schedule["n"]), *turns_of_grid(geometry))

    params = [
        Param(0, geometry.x_shape, geometry.dtype, "x"),
        Param(1, weights.shape, weights.wide, "weights"),
        Param(2, geometry.kernel_shape, geometry.dtype, "kernel"),
        Param(0, geometry.result_shape, geometry.result, "result", written=True),
    ]
    writer = Writer(open_grid(heading, params, grid))
    _Program(writer, geometry, weights).run()
    return writer.done()


class _Program:
    """What one program does."""

    def __init__(self, writer: Writer, geometry: Geometry, weights: Panels) -> None:
        schedule = writer.schedule
        self.writer, self.geometry, self.weights = writer, geometry, weights
        source, self.panels, *_, self.result = writer.views
        self.block, vector = schedule["n"], min(schedule["vector"], MOST)
        self.reader = Reader(writer, geometry, source, vector)
        local, wide, lines = writer.names.of, geometry.wide, weights.lines
        rows: Size = prod([local(axis.window.count) for axis in geometry.axes])
        outputs = ceil_div(local(geometry.outputs), lines) * lines
        self.room = writer.scratch(wide, 1, rows + vector, self.block)
        self.sums = writer.scratch(wide, 1, outputs, self.block)
        far = self.reader.is_long(geometry.axes[-1].dilation)
        self.lines = writer.scratch(wide, 1, vector, rows + vector) if far else None
        self.rows = writer.subtract(writer.extent(self.room, 1), vector)
        self.begin = writer.multiply(writer.program(0), self.block)
        self.zero = writer.size(0)
        self.turn = turn_of(writer, geometry, 1)

    def run(self) -> None:
        """Clear the sums, add what each channel gives, hand them over."""
        writer = self.writer
        self._each_panel(self._clear)

        def channel(number: AnyValue) -> None:
            self._pack(number)
            self._each_panel(lambda top: self._add(number, top))

        inputs = writer.size(self.geometry.inputs)
        writer.loop("channel", (self.zero, inputs, 1), channel)
        self._each_panel(self._hand_over)

    def _each_panel(self, use: Callable[[AnyValue], None]) -> None:
        """Do something for each panel of weights."""
        outputs = self.writer.size(self.geometry.outputs)
        self.writer.loop("m", (self.zero, outputs, self.weights.lines), use)

    def _kept(self, top: AnyValue) -> AnyValue:
        """The sums of one panel, in memory."""
        sizes = [self.writer.size(size) for size in (1, self.weights.lines, self.block)]
        return self.writer.part(self.sums, [self.zero, top, self.zero], sizes)

    def _put(self, view: AnyValue, value: AnyValue) -> None:
        self.writer.store(view, value, [self.zero] * 3)

    def _so_far(self, top: AnyValue) -> AnyValue:
        view, offsets = self._kept(top), [self.zero] * 3
        return self.writer.load(view, offsets, 1, self.weights.lines, self.block)

    def _clear(self, top: AnyValue) -> None:
        kept, writer = self._kept(top), self.writer
        self._put(kept, writer.zeros(self.geometry.wide, 1, self.weights.lines, self.block))

    def _add(self, channel: AnyValue, top: AnyValue) -> None:
        """Add what one channel gives."""
        writer, weights = self.writer, self.weights
        above = writer.add(self.rows, weights.chunk - 1)
        line = writer.divide(top, weights.lines)
        chunks = writer.divide(above, weights.chunk)
        lines = panel(writer, weights, self.panels, [self._matrix(channel), line], chunks)
        sizes = [writer.size(1), self.rows, writer.size(self.block)]
        columns = writer.part(self.room, [self.zero] * 3, sizes)
        self._put(self._kept(top), added(writer, weights, (lines, columns), self._so_far(top)))

    def _matrix(self, channel: AnyValue) -> AnyValue:
        """The number of the matrix that a channel is multiplied with in a turn."""
        if self.geometry.turns == 1:
            return channel
        before = self.writer.multiply(self.writer.program(1), self.geometry.inputs)
        return self.writer.add(before, channel)

    def _hand_over(self, top: AnyValue) -> None:
        place = [self.zero, top, self.begin]
        store_pixels(self.writer, self.geometry, self.result, self._so_far(top), place, self.turn)

    def _pack(self, channel: AnyValue) -> None:
        """The windows of one channel, for all pixels of the block."""
        bounds = self.zero, self.writer.size(self.block), self.reader.vector
        self.writer.loop("columns", bounds, partial(self._columns, channel))

    def _columns(self, channel: AnyValue, at: AnyValue) -> None:
        """As many columns as fit a vector."""
        begin = self.writer.add(self.begin, at)
        if self.lines is None:
            self._turn_at_once(channel, begin, at)
            return
        put = partial(self._put_line, channel, begin, self.lines)
        self.writer.loop("pixel", (self.zero, self.writer.size(self.reader.vector), 1), put)
        turn = partial(self._turn_lines, self.lines, at)
        self.writer.loop("turned", (self.zero, self.rows, self.reader.vector), turn)

    def _turn_at_once(self, channel: AnyValue, begin: AnyValue, at: AnyValue) -> None:
        """Load along the windows of all these pixels, and turn what was loaded."""
        reader = self.reader
        pixels = [self._pixel(begin, channel, number) for number in range(reader.vector)]

        def part(element: Sequence[AnyValue]) -> _Part:
            loads = [self._loading(pixel, element) for pixel in pixels]

            def turn(inner: AnyValue, before: AnyValue) -> None:
                found = [load(inner) for load in loads]
                self._store(found, self.writer.add(before, inner), at)

            return turn

        self._along_windows(part)

    def _put_line(self, channel: AnyValue, begin: AnyValue, lines: AnyValue, at: AnyValue) -> None:
        """Put the window of a pixel in a line; what is beyond it the next elements replace."""
        writer, vector = self.writer, self.reader.vector
        pixel = self._pixel(begin, channel, at)
        sizes = [writer.size(size) for size in (1, 1, vector)]

        def part(element: Sequence[AnyValue]) -> _Part:
            load = self._loading(pixel, element)

            def put(inner: AnyValue, before: AnyValue) -> None:
                found = writer.reshape(load(inner), 1, 1, vector)
                row = writer.add(before, inner)
                self._put(writer.part(lines, [self.zero, at, row], sizes), found)

            return put

        self._along_windows(part)

    def _turn_lines(self, lines: AnyValue, at: AnyValue, row: AnyValue) -> None:
        """Put a part of all lines as rows of columns."""
        writer, vector = self.writer, self.reader.vector
        found = writer.load(lines, [self.zero, self.zero, row], 1, vector, vector)
        sizes = [writer.size(size) for size in (1, vector, vector)]
        room = writer.part(self.room, [self.zero, row, at], sizes)
        self._put(room, writer.permute(found, 0, 2, 1))

    def _loading(
        self, pixel: "_Pixel", element: Sequence[AnyValue]
    ) -> Callable[[AnyValue], AnyValue]:
        """What loads a part of the window of a pixel, at a place along all axes but the last."""
        reader, last = self.reader, self.geometry.axes[-1]
        row = reader.row(pixel.plane, pixel.places, element)
        return lambda at: reader.load(row, reader.at(last, pixel.place, at), last.dilation)

    def _along_windows(self, use: Callable[[Sequence[AnyValue]], _Part]) -> None:
        """Take the elements of a window, as many as fit a vector at a time, by what `use` makes of
        a place along all axes but the last."""
        writer = self.writer
        *ahead, last = self.geometry.axes
        window = writer.size(last.window.count)

        def rows(number: AnyValue, element: Sequence[AnyValue]) -> None:
            part = use(element)
            before = writer.multiply(number, window)

            def body(at: AnyValue) -> None:
                part(at, before)

            writer.loop("element", (self.zero, window, self.reader.vector), body)

        each_element(writer, ahead, self.zero, rows)

    def _pixel(self, begin: AnyValue, channel: AnyValue, number: AnyValue | int) -> "_Pixel":
        """One of the pixels that are turned together; the last one instead of one that is not."""
        writer, geometry = self.writer, self.geometry
        last = writer.subtract(all_pixels(writer, geometry), 1)
        pixel = writer.least(writer.add(begin, number), last)
        width = writer.size(geometry.width)
        line = writer.divide(pixel, width)
        image, *places = place_of(writer, geometry, line)
        place = writer.subtract(pixel, writer.multiply(line, width))
        return _Pixel(self.reader.plane(image, channel), places, place)

    def _store(self, found: Sequence[AnyValue], row: AnyValue, column: AnyValue) -> None:
        """Put rows of elements, each a pixel's, as columns."""
        writer, vector = self.writer, self.reader.vector
        rows = [writer.reshape(each, 1, vector) for each in found]
        value = rows[0] if vector == 1 else writer.emit(tile.Concat, rows, axis=0)
        value = writer.reshape(writer.permute(value, 1, 0), 1, vector, vector)
        sizes = [writer.size(size) for size in (1, vector, vector)]
        self._put(writer.part(self.room, [self.zero, row, column], sizes), value)


@dataclass(frozen=True, slots=True)
class _Pixel:
    """Where the window of a pixel is read: its place along the last axis, and along the others."""

    plane: AnyValue
    places: Sequence[AnyValue]
    place: AnyValue
