"""Convolutions and pooling by their definitions: loops over places and over elements of windows.

Comes in: arrays of numpy, one number a setting for each axis of space. Goes out: arrays.
Never: a test, or anything fast.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

Numbers = Sequence[int]
Array = np.ndarray[Any, Any]


def taps(sizes: Numbers, places: Numbers, window: Numbers, **by: Numbers) -> Iterator[Any]:
    """Each place of the result, each element of its window, and where in x that stands, or None."""
    for place in np.ndindex(*places):
        for element in np.ndindex(*window):
            steps = zip(place, element, by["stride"], by["dilation"], by["low"], strict=True)
            at = tuple([p * stride + e * apart - low for p, e, stride, apart, low in steps])
            inside = all(0 <= each < size for each, size in zip(at, sizes, strict=True))
            yield place, element, at if inside else None


def places_of(sizes: Numbers, window: Numbers, high: Numbers, **by: Numbers) -> tuple[int, ...]:
    """How many windows there are along each axis."""
    axes = zip(sizes, window, by["low"], high, by["stride"], by["dilation"], strict=True)
    return tuple(
        (low + size + above - (count - 1) * apart - 1) // stride + 1
        for size, count, low, above, stride, apart in axes
    )


def convolved(x: Array, weight: Array, bias: Array, groups: int, high: Numbers, **by: Any) -> Array:
    """Each window's elements times the weight of the output, in the output's group."""
    sizes, window = x.shape[2:], weight.shape[2:]
    places = places_of(sizes, window, high, **by)
    result = np.zeros((len(x), len(weight), *places)) + bias.reshape(-1, *[1] * len(places))
    inputs, outputs = weight.shape[1], len(weight) // groups
    for place, element, at in taps(sizes, places, window, **by):
        for group in range(groups if at is not None else 0):
            mine = slice(group * outputs, (group + 1) * outputs)
            seen = x[:, group * inputs : (group + 1) * inputs][(..., *(at or ()))]
            result[(slice(None), mine, *place)] += seen @ weight[mine][(..., *element)].T
    return result


def transposed(x: Array, weight: Array, bias: Array, groups: int, sizes: Numbers, **by: Any) -> Any:
    """Each element of x times the weight, added where it would have been taken from."""
    places, window = x.shape[2:], weight.shape[2:]
    inputs, outputs = len(weight) // groups, weight.shape[1]
    result = np.zeros((len(x), outputs * groups, *sizes)) + bias.reshape(-1, *[1] * len(sizes))
    for place, element, at in taps(sizes, places, window, **by):
        for group in range(groups if at is not None else 0):
            mine = slice(group * inputs, (group + 1) * inputs)
            into = (slice(None), slice(group * outputs, (group + 1) * outputs), *(at or ()))
            result[into] += x[(slice(None), mine, *place)] @ weight[mine][(..., *element)]
    return result


def pooled(
    x: Array, window: Numbers, high: Numbers, combine: Callable[[list[Array]], Array], **by: Any
) -> Array:
    """Of each window, what `combine` makes of the elements that are not padding, in their order."""
    places = places_of(x.shape[2:], window, high, **by)
    seen: dict[Any, list[Array]] = {place: [] for place in product(*map(range, places))}
    for place, _, at in taps(x.shape[2:], places, window, **by):
        if at is not None:
            seen[place].append(x[(..., *at)])
    made = np.stack([combine(elements) for elements in seen.values()], axis=-1)
    return made.reshape(*x.shape[:2], *places)
