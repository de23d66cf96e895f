"""The elements of a window, one after the other.

Comes in: what is to be done for one of them. Goes out: loops over all of them, or, where they are
few, as many times the same.
Never: a place of x.
"""

from collections.abc import Sequence
from math import prod

from ....ir.values import AnyValue
from ..writer import Round, Writer
from .geometry import Axis, Geometry

FEW = 32
"""So many elements may be written out."""

Use = Round
"""Takes the number of an element among those of all channels' windows, its place along each axis
of its window, and what is carried; gives what is carried on."""


def are_few(geometry: Geometry, each: int) -> bool:
    """Whether it is known that a window has few elements, where one counts for so many."""
    windows = [axis.window.count for axis in geometry.axes]
    count = prod(window if isinstance(window, int) else FEW + 1 for window in windows)
    return each * count <= FEW


def each_element(
    writer: Writer,
    axes: Sequence[Axis],
    before: AnyValue,
    use: Use,
    carries: Sequence[AnyValue] = (),
    *,
    unrolled: bool = False,
) -> Sequence[AnyValue]:
    """Use each element of a window along these axes; `before` windows come before it."""

    def along(
        number: AnyValue, places: list[AnyValue], carried: Sequence[AnyValue]
    ) -> Sequence[AnyValue]:
        if len(places) == len(axes):
            return use(number, places, *carried) or ()
        window = axes[len(places)].window.count
        first = writer.multiply(number, window)

        def element(at: AnyValue, *inside: AnyValue) -> Sequence[AnyValue]:
            return along(writer.add(first, at), [*places, at], inside)

        if isinstance(window, int) and (unrolled or window == 1):
            for at in range(window):
                carried = element(writer.size(at), *carried)
            return carried
        bounds = writer.size(0), writer.size(window), 1
        return writer.loop("element", bounds, element, carried)

    return along(before, [], carries)
