"""Views followed to what they show: chains of permute, slice, flip, pad and reshape.

Comes in: a value and the place where it is read. Goes out: the `Source`: an argument or the result
of an op that computes, with the place where that is read, or for an argument a window on it.
Never: an op; whoever loads from the source makes the views that it says.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.payloads import Number
from ...ir.values import AnyValue
from .space import FIRST, Index, Place, Refused, extents


@dataclass(frozen=True, slots=True)
class Source:
    """`value`, seen in the shape `shape`, is read at `place`.

    With `padding`, what lies outside is that number. Outside of what: of the value, or, where
    `sizes` are given, of the window of these sizes, whose own axes `place` then counts, while
    `entries` says where in the space the window is read.
    """

    value: AnyValue
    place: Place
    shape: Shape
    padding: Number | None = None
    sizes: Shape = ()
    entries: Place | None = None


def trace(value: AnyValue, place: Place) -> Source:
    """Follow views from a value to what they show."""
    source = Source(value, place, value.type.shape)
    while source.value.op.__class__ in _STEPS:
        source = _STEPS[source.value.op.__class__](source.value.op, source)
    if source.padding is not None and source.value.op is not None:
        raise Refused("pads a value that it computes")
    return source


def _moved(op: Any, source: Source, place: Place) -> Source:
    """The source one view further on."""
    return replace(source, value=op.x, place=place, shape=_shape(op.x))


def _permute(op: tensor.Permute, source: Source) -> Source:
    place = [FIRST] * len(op.axes)
    for axis, index in zip(op.axes, source.place, strict=True):
        place[axis] = index
    return _moved(op, source, tuple(place))


def _slice(op: tensor.Slice, source: Source) -> Source:
    source = _inside_padding(source)
    parts = zip(source.place, op.start, op.step, strict=True)
    place = [Index(at.axis, at.start * by + start, at.step * by) for at, start, by in parts]
    return _moved(op, source, tuple(place))


def _flip(op: tensor.Flip, source: Source) -> Source:
    source = _inside_padding(source)
    place = list(source.place)
    for axis in op.axes:
        at, size = place[axis], source.shape[axis]
        place[axis] = Index(at.axis, size - 1 - at.start, -at.step)
    return _moved(op, source, tuple(place))


def _pad(op: tensor.Pad, source: Source) -> Source:
    if source.entries is not None or source.padding not in (None, op.value):
        raise Refused("pads what is padded already")
    if any(op.interior):
        raise Refused("pads between the elements")
    padded = [low != 0 or high != 0 for low, high in zip(op.low, op.high, strict=True)]
    if any(by and at.step != 1 for by, at in zip(padded, source.place, strict=True)):
        raise Refused("a padded axis is read backwards or in steps")
    moved = zip(source.place, op.low, strict=True)
    place = tuple(Index(at.axis, at.start - low, at.step) for at, low in moved)
    return _moved(op, replace(source, padding=op.value), place)


def _reshape(op: tensor.Reshape, source: Source) -> Source:
    shape = _shape(op.x)
    if extents(shape) == extents(source.shape):
        pairs = zip(source.place, source.shape, strict=True)
        kept = iter([index for index, size in pairs if size != 1])
        return _moved(op, source, tuple(FIRST if size == 1 else next(kept) for size in shape))
    if op.x.op is not None:
        raise Refused("a reshape of a value that is no argument")
    return replace(source, value=op.x)


def _inside_padding(source: Source) -> Source:
    """Fix the window outside of which all is padding, before what it is a part of is looked at."""
    if source.padding is None or source.entries is not None:
        return source
    place = tuple(Index(axis) for axis in range(len(source.shape)))
    return replace(source, place=place, sizes=source.shape, entries=source.place)


def _shape(value: AnyValue) -> Shape:
    return value.type.shape


_STEPS: dict[Any, Callable[[Any, Source], Source]] = {
    tensor.Permute: _permute,
    tensor.Slice: _slice,
    tensor.Flip: _flip,
    tensor.Pad: _pad,
    tensor.Reshape: _reshape,
}
