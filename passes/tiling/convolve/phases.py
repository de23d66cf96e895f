"""Places of a result that meet other elements of x than their neighbours do, where x is dilated.

Comes in: a geometry. Goes out: for each lot of places that meet elements of x in the same way a
geometry of its own, in which x is not dilated. No zero between elements is multiplied.
Never: a border that is not known; where it is open, x stays dilated.
"""

from dataclasses import replace
from itertools import product
from math import gcd

from ....ir.dims import Size, ceil_div, maximum
from .geometry import Axis, Every, Geometry


def phases(geometry: Geometry) -> list[Geometry]:
    """The geometries that together make the result."""
    split = [_phases(axis) for axis in geometry.axes]
    return [replace(geometry, axes=axes) for axes in product(*split)]


def _phases(axis: Axis) -> list[Axis]:
    """An axis for each lot of places."""
    if axis.between == 1 or not isinstance(axis.low, int):
        return [axis]
    period = axis.between // gcd(axis.stride, axis.between)
    return [_phase(axis, axis.low, first, period) for first in range(period)]


def _phase(axis: Axis, low: int, first: int, period: int) -> Axis:
    """The places `first`, `first` + `period`, … of an axis."""
    between, stride, dilation = axis.between, axis.stride, axis.dilation
    places = Every(axis.places.size, _count(axis.places.size, first, period), first, period)
    step = between // gcd(dilation, between)
    begin = first * stride - low
    met = [at for at in range(step) if (begin + at * dilation) % between == 0]
    if not met:  # there are but zeros between elements
        window = Every(axis.window.size, 0)
        return replace(axis, window=window, places=places, stride=1, between=1, low=0)
    (element,) = met
    window = Every(axis.window.size, _count(axis.window.size, element, step), element, step)
    return Axis(
        axis.size,
        window,
        places,
        period * stride // between,
        step * dilation // between,
        low=-((begin + element * dilation) // between),
    )


def _count(size: Size, first: int, step: int) -> Size:
    return maximum(ceil_div(size - first, step), 0)
