"""Places of a result that meet other elements of x than their neighbours do, where x is dilated.

Comes in: a geometry. Goes out: for each lot of places that meet elements of x in the same way a
geometry of its own, in which x is not dilated; of many lots, those that are alike have one. No zero
between elements is multiplied.
Never: a border that is not known; where it is open, x stays dilated.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import gcd, prod

from ....ir.dims import Size, ceil_div, interval, maximum
from ...generalise.relations import MOST_PHASES
from .geometry import Axis, Every, Geometry

MANY = MOST_PHASES
"""Of more phases than this, those that are alike are turns of one geometry: their kernels would
differ in nothing but where they begin."""
MOST = 1_024
"""So many phases of an axis are looked at; of one with more, x stays dilated."""


def phases(geometry: Geometry) -> list[Geometry]:
    """The geometries that together make the result."""
    split = [_phases(axis) for axis in geometry.axes]
    if prod(map(len, split)) > MANY:
        split = [_runs(axes) for axes in split]
    return [replace(geometry, axes=axes) for axes in product(*split)]


def _phases(axis: Axis) -> list[Axis]:
    """An axis for each lot of places."""
    if axis.between == 1 or not isinstance(axis.low, int):
        return [axis]
    period = axis.between // gcd(axis.stride, axis.between)
    count = min(period, max(interval(axis.places.size)[1], 1))
    if count > MOST:
        return [axis]
    return [_phase(axis, axis.low, first, period) for first in range(count)]


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


def _runs(axes: Sequence[Axis]) -> list[Axis]:
    """The same places with fewer axes, each of which has as many turns as it can."""
    runs: list[Axis] = []
    for axis in axes:
        longer = _longer(runs[-1], axis) if runs else None
        if longer is None:
            runs.append(axis)
        else:
            runs[-1] = longer
    return runs


def _longer(run: Axis, axis: Axis) -> Axis | None:
    """An axis with one more turn, if the other one is that."""
    pairs = (run.places, axis.places), (run.window, axis.window)
    if run.turns == 1:
        places, window = [replace(one, shift=two.first - one.first) for one, two in pairs]
        run = replace(run, places=places, window=window)
    places, window = [
        replace(each, first=each.first + run.turns * each.shift, shift=0)
        for each in (run.places, run.window)
    ]
    following = replace(run, places=places, window=window, turns=1)
    return replace(run, turns=run.turns + 1) if following == axis else None


def _count(size: Size, first: int, step: int) -> Size:
    return maximum(ceil_div(size - first, step), 0)
