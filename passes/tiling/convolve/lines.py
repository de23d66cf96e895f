"""Lines of output pixels: how a block of them, counted over all images, lies in the result.

Comes in: a geometry, and a part of all its output pixels. Goes out: the lines that the part meets.
Never: a channel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    found: list[AnyValue] = []
    for count in reversed(geometry.lines[1:]):
        size = writer.size(count)
        whole = writer.divide(number, size)
        found.insert(0, writer.subtract(number, writer.multiply(whole, size)))
        number = whole
    return [number, *found]


def located(writer: Writer, taken: Sequence[Every], numbers: Sequence[AnyValue]) -> list[AnyValue]:
    """Where along each axis the place stands that has this number among those that are taken."""
    return [
        writer.add(writer.multiply(number, every.step), every.first)
        for every, number in zip(taken, numbers, strict=True)
    ]
