"""The array API standard beside array-api-strict: arguments are drawn, results are compared.

Comes in: hypothesis's `draw`. Goes out: calls of a function of the standard, as numpy arrays and
plain values, and a judgement of what two libraries make of them.
Never: a function's own rules, which stand in `standard_calls.py`.
"""

from collections.abc import Callable, Sequence
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import array_api_strict
import numpy as np
from hypothesis import strategies as st

import brimstone as bs
from brimstone.ir import dtypes as ir
from kit.special import special

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float32", "float64")
COMPLEXES = ("complex64", "complex128")
REALS = (*INTEGERS, *FLOATS)
INEXACT = (*FLOATS, *COMPLEXES)
NUMBERS = (*REALS, *COMPLEXES)
BITS = ("bool", *INTEGERS)
ORDERED = ("bool", *REALS)
ALL = (*BITS, *INEXACT)
LARGE = 1e4  # what is above is no number for sums and products


class Dtype(NamedTuple):
    """A dtype by its name: each library has its own."""

    name: str


class Call(NamedTuple):
    """Arguments of a function; arrays are numpy's, dtypes names."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def call(*args: Any, **kwargs: Any) -> Call:
    """The arguments of a call, without those that are None."""
    return Call(args, {name: value for name, value in kwargs.items() if value is not None})


class Inputs:
    """What hypothesis chooses for one call."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw

    def one_of(self, values: Sequence[Any]) -> Any:
        """One of the values."""
        return self.draw(st.sampled_from(list(values)))

    def flag(self) -> bool:
        """True or False."""
        return self.draw(st.booleans())

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return self.draw(st.integers(low, high))

    def shape(self, least: int = 0, most: int = 3, smallest: int = 0) -> Shape:
        """A shape of small sizes, zero among them unless refused."""
        sizes = st.sampled_from([size for size in (3, 1, 2, 0) if size >= smallest])
        return tuple(self.draw(st.lists(sizes, min_size=least, max_size=most)))

    def shapes(self, count: int, smallest: int = 0) -> list[Shape]:
        """Shapes that broadcast with one another."""
        whole = self.shape(smallest=smallest)
        made: list[Shape] = []
        for _ in range(count):
            cut = whole[self.whole(0, len(whole)) :]
            made.append(tuple(1 if size and self.flag() else size for size in cut))
        return [whole, *made[1:]]

    def axis(self, rank: int) -> int:
        """An axis, counted from either end."""
        return self.whole(-rank, rank - 1)

    def axes(self, rank: int) -> int | tuple[int, ...] | None:
        """One axis, several, or None for all."""
        if rank == 0 or self.whole(0, 2) == 0:
            return None
        if self.flag():
            return self.axis(rank)
        chosen = [axis for axis in range(rank) if self.flag()]
        return tuple(axis - rank if self.flag() else axis for axis in chosen)

    def array(self, dtype: str, shape: Shape | None = None, values: str = "any") -> Array:
        """Special values; "moderate" leaves extremes out, "finite" infinities and NaN too."""
        shape = self.shape() if shape is None else shape
        known = choice(dtype, values)
        random = Random(self.draw(st.integers(0, 2**16)))
        picked = [random.randrange(len(known)) for _ in range(int(np.prod(shape)))]
        return known[picked].reshape(shape)

    def pair(self, dtypes: Sequence[str], values: str = "any") -> tuple[Array, Array]:
        """Two arrays that broadcast, of dtypes that have a common one."""
        one, other = self.one_of(dtypes), self.one_of(dtypes)
        first, second = self.shapes(2)
        if not meet(one, other):
            other = one
        return self.array(one, first, values), self.array(other, second, values)


def choice(dtype: str, values: str) -> Array:
    """The values that arrays of a dtype are made of."""
    storage = np.dtype(dtype)
    known = special(ir.of_numpy(storage))
    if values == "any" or storage.kind == "b":
        return known
    if storage.kind in "iu":
        return known[(known < 10) & (known > -10)]
    length = np.abs(known.astype(np.complex128))
    plain = (length < LARGE) & ((length > 1 / LARGE) | (length == 0))
    return known[plain] if values == "finite" else known[plain | ~np.isfinite(length)]


def meet(one: str, other: str) -> bool:
    """Whether two dtypes have a common one by the standard's rules."""
    kinds = {np.dtype(name).kind for name in (one, other)}
    if kinds == {"i", "u"}:
        return "uint64" not in (one, other)
    return len(kinds) == 1 or kinds == {"f", "c"}


def as_library(value: Any, library: ModuleType) -> Any:
    """Arrays and dtypes as those of a library, in lists and tuples too."""
    if isinstance(value, np.ndarray | np.generic):
        return library.asarray(value, dtype=getattr(library, value.dtype.name))
    if isinstance(value, Dtype):
        return getattr(library, value.name)
    if isinstance(value, list | tuple):
        return type(value)(as_library(each, library) for each in value)
    return value


def apply(library: ModuleType, name: str, given: Call) -> Any:
    """What a library's function, `linalg.det` for instance, makes of a call."""
    function: Any = library
    for part in name.split("."):
        function = getattr(function, part)
    kwargs = {key: as_library(value, library) for key, value in given.kwargs.items()}
    with np.errstate(all="ignore"):
        return plain(function(*(as_library(each, library) for each in given.args), **kwargs))


def plain(result: Any) -> Any:
    """A result as numpy arrays, lists, names of dtypes and numbers."""
    if isinstance(result, bs.Tensor | array_api_strict._array_object.Array):
        return np.asarray(result)
    if isinstance(result, tuple | list):
        return [plain(each) for each in result]
    name = str(result).rpartition(".")[2]
    return Dtype(name) if name in ALL else result


def both(name: str, given: Call) -> tuple[Any, Any]:
    """What this library and array-api-strict make of a call."""
    return apply(bs, name, given), apply(array_api_strict, name, given)


def same(found: Any, expected: Any, ulps: float = 0, scale: float = 0) -> None:
    """Complain unless the results are alike: dtypes, shapes, places of NaN, and numbers.

    Floats may differ by `ulps` units in the last place, or by `ulps` times the precision of a
    number as large as `scale`.
    """
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            same(*pair, ulps, scale)
    elif isinstance(expected, np.ndarray):
        assert kind(found) == kind(expected)
        close(found, expected, ulps, scale)
    else:
        assert found == expected


def kind(result: Any) -> Any:
    """The dtype and the shape of each array of a result."""
    if isinstance(result, list):
        return [kind(each) for each in result]
    return result.dtype, result.shape


def close(found: Array, expected: Array, ulps: float, scale: float) -> None:
    """Complain unless the numbers are near, part by part if complex."""
    if expected.dtype.kind == "c":
        close(np.real(found), np.real(expected), ulps, scale)
        close(np.imag(found), np.imag(expected), ulps, scale)
    elif ulps == 0 or expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        if expected.dtype.kind == "f":
            np.testing.assert_array_equal(signs(found), signs(expected))
    else:
        limits = np.finfo(expected.dtype)
        least = max(float(limits.eps) * scale, float(limits.smallest_subnormal))
        np.testing.assert_allclose(found, expected, rtol=ulps * limits.eps, atol=ulps * least)


def signs(array: Array) -> Array:
    """Which zeros are negative."""
    return np.signbit(array) & (array == 0)


def magnitude(*values: Any) -> float:
    """The largest finite number in arrays, wherever they are."""
    largest = 1.0
    for value in values:
        if isinstance(value, list | tuple):
            largest = max(largest, magnitude(*value))
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fc" and value.size:
            length = np.abs(value)
            largest = max(largest, float(np.max(length[np.isfinite(length)], initial=0)))
    return largest
