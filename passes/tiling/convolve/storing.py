"""Storing sums: a tile of some channels and of pixels that are counted over all images.

Comes in: the tile, its first channel and pixel. Goes out: nothing; each line has its part.
Never: a pixel that the result does not have.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.values import AnyValue
from ..writer import Writer
from .geometry import Geometry
from .lines import Line, each_line, located


def all_pixels(writer: Writer, geometry: Geometry) -> AnyValue:
    """How many pixels all images of a channel have."""
    product = writer.size(geometry.width)
    for size in geometry.lines:
        product = writer.multiply(product, size)
    return product


def store_pixels(
    writer: Writer,
    geometry: Geometry,
    result: AnyValue,
    sums: AnyValue,
    place: Sequence[AnyValue],
    turn: Sequence[AnyValue],
) -> None:
    """Put sums, the last two axes of their tile, at a group, a channel of it, and a pixel of those
    that a turn takes."""
    group, top, begin = place
    sums = writer.reshape(writer.cast(sums, geometry.result), *sums.type.shape[-2:])
    outputs, width = (writer.size(each) for each in (geometry.outputs, geometry.width))
    channel = writer.multiply(group, outputs)
    end = writer.add(begin, sums.type.shape[-1])
    end = writer.least(end, all_pixels(writer, geometry))
    taking = [axis.places for axis in geometry.axes]
    axes, steps = (1, len(taking) + 1), (1, taking[-1].step)

    def put(line: Line) -> None:
        first = [*line.places, writer.size(0)]
        offsets = located(writer, taking, first, turn)
        whence, sizes = [line.image, channel, *offsets], [outputs, width]
        part = writer.emit(tile.View, result, whence, sizes, axes=axes, steps=steps)
        before = writer.subtract(writer.size(0), line.column)
        writer.store(part, sums, [top, before])

    each_line(writer, geometry, begin, end, put)
