"""Lines of output pixels: how a block of them, counted over all images, lies in the result.

Comes in: a geometry, and a part of all its output pixels. Goes out: the lines that the part meets.
Never: a channel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir.attributes import Shape
from ....ir.dims import Size
from ....ir.values import AnyValue
from ..writer import Writer
from .geometry import Every, Geometry


@dataclass(frozen=True, slots=True)
class Line:
    """Pixels `first` to `last` of a line, whose pixel 0 would be the block's pixel number `column`:
    the line of an image at `places` along all axes but the last."""

    image: AnyValue
    places: Sequence[AnyValue]
    column: AnyValue
    first: AnyValue
    last: AnyValue


def each_line(
    writer: Writer, geometry: Geometry, begin: AnyValue, end: AnyValue, body: Callable[[Line], None]
) -> None:
    """Do something for each line that has pixels from `begin` to `end`, of which there are some."""
    width = writer.size(geometry.width)
    top = writer.divide(begin, width)
    bottom = writer.add(writer.divide(writer.subtract(end, 1), width), 1)

    def row(at: AnyValue) -> None:
        start = writer.multiply(at, width)
        column = writer.subtract(start, begin)
        first = writer.greatest(writer.subtract(begin, start), 0)
        last = writer.least(writer.subtract(end, start), width)
        image, *places = place_of(writer, geometry, at)
        body(Line(image, places, column, first, last))

    writer.loop("line", (top, bottom, 1), row)


def place_of(writer: Writer, geometry: Geometry, number: AnyValue) -> list[AnyValue]:
    """Of a line of this number the image, and the place along each axis but the last."""
    return _along(writer, geometry.lines, number)


def turns_of_grid(geometry: Geometry) -> Shape:
    """The last axis of a grid, if there are several turns."""
    return (geometry.turns,) if geometry.turns > 1 else ()


def turn_of(writer: Writer, geometry: Geometry, axis: int) -> list[AnyValue]:
    """The turn of a program along each axis of space, by its number, which this axis of the grid
    counts; nothing where there is but one."""
    if geometry.turns == 1:
        return []
    return _along(writer, [each.turns for each in geometry.axes], writer.program(axis))


def located(
    writer: Writer, taken: Sequence[Every], numbers: Sequence[AnyValue], turn: Sequence[AnyValue]
) -> list[AnyValue]:
    """Where along each axis the place stands that has this number among those that a turn takes."""
    found: list[AnyValue] = []
    for axis, (every, number) in enumerate(zip(taken, numbers, strict=True)):
        place = writer.add(writer.multiply(number, every.step), every.first)
        if every.shift:
            place = writer.add(place, writer.multiply(turn[axis], every.shift))
        found.append(place)
    return found


def _along(writer: Writer, counts: Sequence[Size], number: AnyValue) -> list[AnyValue]:
    """Of a place of this number among those of all axes the place along each."""
    found: list[AnyValue] = []
    for count in reversed(counts[1:]):
        size = writer.size(count)
        whole = writer.divide(number, size)
        found.insert(0, writer.subtract(number, writer.multiply(whole, size)))
        number = whole
    return [number, *found]
