"""The functions of the array API standard: which arguments each takes, and how exact it is.

Comes in: nothing. Goes out: a rule for every function of the main namespace.
Never: a library's name; extensions stand in `standard_extensions.py`.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kit.standard import (
    ALL,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    Array,
    Call,
    Dtype,
    Inputs,
    call,
)

Draw = Callable[[Inputs], Call]


class Rule(NamedTuple):
    """How a function is called, and by how many units in the last place results may differ.

    `scaled` counts the units of the largest number among the arguments and results; of results
    that are `undefined` only type and shape are compared.
    """

    draw: Draw
    ulps: float = 0
    scaled: bool = False
    undefined: bool = False


def unary(dtypes: Sequence[str]) -> Draw:
    """One array; of complex infinities the standard's own rules are subtle, so finite ones."""

    def draw(inputs: Inputs) -> Call:
        dtype = inputs.one_of(dtypes)
        return call(inputs.array(dtype, values="finite" if dtype in COMPLEXES else "any"))

    return draw


def binary(dtypes: Sequence[str], numbers: bool = True) -> Draw:
    """Two arrays that broadcast, or an array and a number."""

    def draw(inputs: Inputs) -> Call:
        usable = [name for name in dtypes if name not in COMPLEXES or inputs.flag()] or dtypes
        complex_ = any(name in COMPLEXES for name in usable)
        one, other = inputs.pair(usable, "finite" if complex_ else "any")
        if numbers and inputs.whole(0, 4) == 0 and one.dtype.kind != "b":
            return call(one, 2 if one.dtype.kind in "iu" else 0.5)
        return call(*((one, other) if inputs.flag() else (other, one)))

    return draw


def divided(inputs: Inputs) -> Call:
    """A dividend and a divisor; what integers divided by 0, and infinities, give is open."""
    one, other = inputs.pair(REALS)
    if one.dtype.kind == "f" or other.dtype.kind == "f":
        return call(
            *(np.where(np.isfinite(each), each, 3).astype(each.dtype) for each in (one, other))
        )
    return call(one, np.where(other == 0, 1, other).astype(other.dtype))


def modulo(inputs: Inputs) -> Call:
    """As `divided`, with infinities, whose remainders are settled."""
    one, other = inputs.pair(REALS)
    return call(one, np.where(other == 0, 1, other).astype(other.dtype))


def power(inputs: Inputs) -> Call:
    """A base and an exponent, not negative for integers; to 0.5 numpy takes the square root."""
    one, other = inputs.pair(inputs.one_of([INTEGERS, FLOATS]))
    other = np.where(other == 0.5, 1.5, other).astype(other.dtype)
    if other.dtype.kind == "i":
        other = np.where(other < 0, 2, other).astype(other.dtype)
    return call(one, other)


def shift(inputs: Inputs) -> Call:
    """An integer and places less than its width."""
    dtype = inputs.one_of(INTEGERS)
    one, other = inputs.shapes(2)
    return call(inputs.array(dtype, one), inputs.array(dtype, other, "moderate") & 7)


def clip(inputs: Inputs) -> Call:
    """Bounds that are arrays, numbers or absent."""
    dtype = inputs.one_of(REALS)
    one, low, high = inputs.shapes(3)
    ends: dict[str, Any] = {}
    if inputs.flag():
        ends["min"] = inputs.array(dtype, low, "finite") if inputs.flag() else 1
    if inputs.flag():
        ends["max"] = inputs.array(dtype, high, "finite") if inputs.flag() else 3
    if {"min", "max"} <= ends.keys():
        ends["max"] = np.maximum(*np.broadcast_arrays(ends["min"], ends["max"])).astype(dtype)
    return call(inputs.array(dtype, one), **ends)


def where(inputs: Inputs) -> Call:
    """A condition and two choices, one of which may be a number."""
    one, other = inputs.pair(NUMBERS)
    condition = inputs.array("bool", one.shape)
    return call(condition, one, 1 if inputs.whole(0, 3) == 0 else other)


def reduced(
    dtypes: Sequence[str], values: str = "any", dtype: bool = False, smallest: int = 0,
    correction: bool = False,
) -> Draw:  # fmt: skip
    """An array, axes, and whether they are kept."""

    def draw(inputs: Inputs) -> Call:
        array = inputs.array(inputs.one_of(dtypes), inputs.shape(smallest=smallest), values)
        options: dict[str, Any] = {"axis": inputs.axes(array.ndim), "keepdims": inputs.flag()}
        if dtype and inputs.flag():
            options["dtype"] = wider(array.dtype.name)
        if correction and inputs.flag():
            options["correction"] = inputs.one_of([0.0, 1, 0.5])
        return call(array, **options)

    return draw


def wider(dtype: str) -> Dtype:
    """The widest dtype of a kind."""
    ends = {"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}
    return Dtype(ends[np.dtype(dtype).kind])


def varied(inputs: Inputs) -> Call:
    """For variances: finite numbers, enough of them."""
    array = inputs.array(inputs.one_of(FLOATS), inputs.shape(smallest=2), "finite")
    axis = inputs.axes(array.ndim) if array.ndim else None
    count = prod(array.shape[at] for at in np.atleast_1d(axis)) if axis is not None else array.size
    correction = inputs.one_of([0.0, 1, 0.5]) if count > 1 else 0
    return call(array, axis=axis, keepdims=inputs.flag(), correction=correction)


def placed(inputs: Inputs) -> Call:
    """For `argmax`: one axis or all, none empty."""
    array = inputs.array(inputs.one_of(REALS), inputs.shape(smallest=1))
    axis = inputs.axis(array.ndim) if array.ndim and inputs.flag() else None
    return call(array, axis=axis, keepdims=inputs.flag())


def scanned(inputs: Inputs) -> Call:
    """For running totals: an axis, another dtype, a neutral element in front."""
    array = inputs.array(inputs.one_of(NUMBERS), inputs.shape(least=1), "finite")
    dtype = wider(array.dtype.name) if inputs.flag() else None
    return call(array, axis=inputs.axis(array.ndim), dtype=dtype, include_initial=inputs.flag())


def diff(inputs: Inputs) -> Call:
    """Differences of differences, with elements put before and after."""
    dtype = inputs.one_of(NUMBERS)
    array = inputs.array(dtype, inputs.shape(least=1), "finite")
    axis = inputs.axis(array.ndim)
    ends: dict[str, Any] = {}
    for name in ("prepend", "append"):
        if inputs.flag():
            shape = list(array.shape)
            shape[axis] = 1
            ends[name] = inputs.array(dtype, tuple(shape), "finite")
    return call(array, axis=axis, n=inputs.whole(0 if not ends else 1, 2), **ends)


def ordered(inputs: Inputs) -> Call:
    """For sorts, which the standard leaves open where there is NaN."""
    array = inputs.array(inputs.one_of(REALS), inputs.shape(least=1), "finite")
    array = np.where(array == 0, 0, array).astype(array.dtype)
    return call(array, axis=inputs.axis(array.ndim), descending=inputs.flag(), stable=True)


def searched(inputs: Inputs) -> Call:
    """A line in order, or its order, and values to be put in."""
    dtype = inputs.one_of(REALS)
    line = inputs.array(dtype, (inputs.whole(0, 6),), "finite")
    values = inputs.array(dtype, values="finite")
    side = inputs.one_of(["left", "right"])
    if inputs.flag():
        return call(line, values, side=side, sorter=np.argsort(line))
    return call(np.sort(line), values, side=side)


def distinct(inputs: Inputs) -> Call:
    """For sets: real numbers, whose zeros have no sign."""
    array = inputs.array(inputs.one_of(REALS), values="finite")
    return call(np.where(array == 0, 0, array).astype(array.dtype))


def isin(inputs: Inputs) -> Call:
    """Elements and the set they may be in; array-api-strict forgets to invert."""
    dtype = inputs.one_of(INTEGERS)
    return call(inputs.array(dtype), inputs.array(dtype), invert=False)


def any_array(inputs: Inputs, least: int = 0, smallest: int = 0) -> Array:
    """An array of any dtype."""
    return inputs.array(inputs.one_of(ALL), inputs.shape(least=least, smallest=smallest))


def arrays(inputs: Inputs) -> list[Array]:
    """Arrays of one shape whose dtypes have a common one."""
    dtype, shape = inputs.one_of(ALL), inputs.shape(least=1)
    return [inputs.array(dtype, shape) for _ in range(inputs.whole(1, 3))]


def concat(inputs: Inputs) -> Call:
    """Arrays that differ along one axis, or are flattened."""
    first, *others = arrays(inputs)
    if inputs.whole(0, 3) == 0:
        return call([first, *others])._replace(kwargs={"axis": None})
    axis = inputs.axis(first.ndim)
    longer = [np.repeat(each, inputs.whole(0, 2), axis=axis) for each in others]
    return call([first, *longer], axis=axis)


def stack(inputs: Inputs) -> Call:
    """Arrays of one shape, and a new axis."""
    listed = arrays(inputs)
    return call(listed, axis=inputs.axis(listed[0].ndim + 1))


def along(**options: Callable[[Inputs], Any]) -> Draw:
    """An array of one axis or more, one of them, and what else there is."""

    def draw(inputs: Inputs) -> Call:
        array = any_array(inputs, least=1)
        more = {name: choose(inputs) for name, choose in options.items()}
        return call(array, axis=inputs.axis(array.ndim), **more)

    return draw


def expanded(inputs: Inputs) -> Call:
    """A new axis, or two."""
    array = any_array(inputs)
    if inputs.flag():
        return call(array, axis=(0, -1))
    return call(array, axis=inputs.axis(array.ndim + 1))


def squeezed(inputs: Inputs) -> Call:
    """An axis of size 1, or two."""
    array = any_array(inputs)
    return call(array[None, ..., None], inputs.one_of([0, -1, (0, -1)]))


def flipped(inputs: Inputs) -> Call:
    """Axes, or all."""
    array = any_array(inputs)
    return call(array, axis=inputs.axes(array.ndim))


def permuted(inputs: Inputs) -> Call:
    """All axes in some order."""
    array = any_array(inputs)
    order = sorted(range(array.ndim), key=lambda _: inputs.whole(0, 9))
    return call(array, tuple(axis - array.ndim if inputs.flag() else axis for axis in order))


def moved(inputs: Inputs) -> Call:
    """Axes and where they go."""
    array = any_array(inputs, least=1)
    if array.ndim > 1 and inputs.flag():
        return call(array, (0, -1), (-1, 0))
    return call(array, inputs.axis(array.ndim), inputs.axis(array.ndim))


def reshaped(inputs: Inputs) -> Call:
    """Another shape of as many elements, with one size left out."""
    array = any_array(inputs, smallest=1)
    shape = [*reversed(array.shape), 1]
    if inputs.flag():
        shape[inputs.whole(0, len(shape) - 1)] = -1
    return call(array, tuple(shape), copy=inputs.one_of([None, True]))


def repeated(inputs: Inputs) -> Call:
    """One number of repetitions, or one for each place."""
    array = any_array(inputs, least=1)
    axis = inputs.axis(array.ndim)
    if inputs.flag() and array.shape[axis]:
        return call(array, np.arange(array.shape[axis], dtype=np.int64), axis=axis)
    return call(array, inputs.whole(0, 3), axis=axis if inputs.flag() else None)


def rolled(inputs: Inputs) -> Call:
    """A shift along one axis, several, or all in a row."""
    array = any_array(inputs, least=1)
    if inputs.flag():
        return call(array, (1, -2), axis=(0, -1))
    axis = inputs.axis(array.ndim) if inputs.flag() else None
    return call(array, inputs.whole(-4, 4), axis=axis)


def tiled(inputs: Inputs) -> Call:
    """Fewer, as many, or more repetitions than axes."""
    return call(any_array(inputs), tuple(inputs.whole(0, 2) for _ in range(inputs.whole(0, 4))))


def taken(inputs: Inputs) -> Call:
    """Places along an axis, also counted from its end."""
    array = any_array(inputs, least=1, smallest=1)
    axis = inputs.axis(array.ndim)
    places = [inputs.axis(array.shape[axis]) for _ in range(inputs.whole(0, 3))]
    return call(array, np.array(places, np.int64), axis=axis)


def taken_along(inputs: Inputs) -> Call:
    """Places for each line along an axis."""
    array = any_array(inputs, least=1, smallest=1)
    axis = inputs.axis(array.ndim)
    places = inputs.array("int64", array.shape, "moderate") % array.shape[axis]
    return call(array, places, axis=axis)


def stretched(inputs: Inputs) -> Call:
    """An array and a shape that it stretches to."""
    whole, part = inputs.shapes(2)
    return call(inputs.array(inputs.one_of(ALL), part), whole)


def stretched_all(inputs: Inputs) -> Call:
    """Arrays that broadcast."""
    return call(*(inputs.array(inputs.one_of(ALL), shape) for shape in inputs.shapes(3)))


def made(*leading: Callable[[Inputs], Any], **options: Callable[[Inputs], Any]) -> Draw:
    """A call of arguments that are chosen one by one."""

    def draw(inputs: Inputs) -> Call:
        more = {name: choose(inputs) for name, choose in options.items()}
        return call(*(choose(inputs) for choose in leading), **more)

    return draw


def some_dtype(dtypes: Sequence[str]) -> Callable[[Inputs], Dtype]:
    """A dtype out of several."""
    return lambda inputs: Dtype(inputs.one_of(dtypes))


def of_numbers(low: int, high: int) -> Callable[[Inputs], int]:
    """A whole number."""
    return lambda inputs: inputs.whole(low, high)
