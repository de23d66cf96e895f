"""Windows as columns: what a line of output pixels needs of x, in the memory of a program.

Comes in: a line, a view of memory with a row for each input channel and element of the window, and
a column for each pixel. Goes out: nothing; the memory is filled.
Never: how x is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir.values import AnyValue
from .elements import each_element
from .lines import Line
from .reading import Reader


@dataclass(frozen=True, slots=True)
class Windows:
    """Packs the windows of one group of channels."""

    reader: Reader
    room: AnyValue
    group: AnyValue

    def pack(self, line: Line) -> None:
        """All rows of a line's columns."""
        reader, geometry = self.reader, self.reader.geometry
        writer = reader.writer
        inputs = writer.size(geometry.inputs)
        first = writer.multiply(self.group, inputs)

        def channel(at: AnyValue) -> None:
            plane = reader.plane(line.image, writer.add(first, at))

            def row(number: AnyValue, element: Sequence[AnyValue]) -> None:
                self._row(line, plane, number, element)

            each_element(writer, geometry.axes, at, row)

        writer.loop("channel", (writer.size(0), inputs, 1), channel)

    def _row(
        self, line: Line, plane: AnyValue, number: AnyValue, element: Sequence[AnyValue]
    ) -> None:
        """One element of the window, for all pixels of the line."""
        reader, writer = self.reader, self.reader.writer
        *ahead, last = element
        row, axis = reader.row(plane, line.places, ahead), reader.geometry.axes[-1]

        def pixels(at: AnyValue) -> None:
            value = reader.load(row, reader.at(axis, at, last), axis.stride)
            self._store(value, number, writer.add(line.column, at))

        writer.loop("pixel", (line.first, line.last, reader.vector), pixels)

    def _store(self, value: AnyValue, number: AnyValue, column: AnyValue) -> None:
        """Put elements in a row; those beyond the line are overwritten by the next one."""
        writer, vector = self.reader.writer, self.reader.vector
        value = writer.reshape(value, 1, 1, vector)
        zero, one = writer.size(0), writer.size(1)
        sizes = [one, one, writer.size(vector)]
        part = writer.part(self.room, [zero, number, column], sizes)
        writer.store(part, value, [zero] * 3)
