"""The oracle: runs programs on random arguments, to tell whether a pass kept their meaning.

Comes in: modules, before and after some passes. Goes out: sizes and arguments to run them on, and
what differs between two runs, in words.
Never: a judgement without a run. A program that fails by itself on some arguments (an index out of
range, an endless loop) says nothing there, and those arguments are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import prod
from typing import Any

import numpy as np

from ..ir.dims import DimError, Size, Symbol, evaluate
from ..ir.dtypes import DType, Kind, of_numpy
from ..ir.func import Func, Module
from ..ir.interpreter import interpret
from ..ir.payloads import Array, number_text
from ..ir.types import Scalar, Shaped, Type
from .admitted import admitted

SIZES = (0, 1, 2, 7, 33)
BLOCKS_AT_MOST = 10_000
ELEMENTS_AT_MOST = 1 << 22
SPECIAL_ONE_IN = 4
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-40, 1e30)


@dataclass(frozen=True)
class Trial:
    """One run of a func: on what, and what came out."""

    func: str
    sizes: Mapping[str, int]
    arguments: tuple[Array, ...]
    results: tuple[Array, ...]


def observe(module: Module, seed: int = 0) -> Iterator[Trial]:
    """What every func makes of ordinary and of special arguments, at several sizes.

    A func that takes what cannot be made at random, such as a view, is left out, and so is one with
    a value of more than `ELEMENTS_AT_MOST` elements at all sizes; `left_out` says which.
    """
    for func in module:
        for sizes, arguments in _choices(func, np.random.default_rng(seed)):
            results = _attempt(module, func, sizes, arguments)
            if results is not None:
                yield Trial(func.name, sizes, arguments, results)


def left_out(module: Module) -> Iterator[str]:
    """The funcs that `observe` does not run, each with the reason."""
    for func in module:
        strange = [value.type for value in func.arguments if not _can_be_random(value.type)]
        if strange:
            yield f"@{func.name} was not run: there are no random values of type {strange[0]}"
        elif not choose_sizes(func):
            limit = f"a value has no shape or more than {ELEMENTS_AT_MOST} elements"
            yield f"@{func.name} was not run: at all sizes that were tried, {limit}"


def disagreement(trials: Iterable[Trial], module: Module, tolerance: float = 0.0) -> str | None:
    """How `module` now differs from what was observed; None if it does not."""
    for trial in trials:
        if trial.func not in module.funcs:
            return f"@{trial.func} is gone"
        try:
            results = run(module, trial.func, trial.sizes, trial.arguments)
        except Exception as error:
            reason = f"it fails, and did not before: {error}"
        else:
            reason = difference(trial.results, results, tolerance)
        if reason is not None:
            where = "".join(f", {name} = {size}" for name, size in trial.sizes.items())
            return f"@{trial.func}{where}: {reason}"
    return None


def run(
    module: Module, name: str, sizes: Mapping[str, int], arguments: Sequence[Array]
) -> tuple[Array, ...]:
    """The results of one func of a module, in the interpreter, which stops an endless loop."""
    others = (func for func in module if func.name != name)
    first = Module([module[name], *others])
    return interpret(first, *arguments, sizes=sizes, blocks=BLOCKS_AT_MOST)


def choose_sizes(func: Func) -> list[dict[str, int]]:
    """Sizes to try for the func's symbols: 0, 1, 2, 7 and 33, or what its bounds admit nearest.

    Symbols get different sizes where they can, so that a mixed-up pair shows. Where none of that is
    possible, the least sizes are tried.
    """
    chosen: list[dict[str, int]] = []
    for shift in range(len(SIZES)):
        sizes = {
            symbol.name: admitted(symbol, SIZES[(shift + place) % len(SIZES)])
            for place, symbol in enumerate(func.symbols)
        }
        if sizes not in chosen and _possible(func, sizes):
            chosen.append(sizes)
    least = {symbol.name: symbol.low for symbol in func.symbols}
    return chosen or ([least] if _possible(func, least) else [])


def random_arguments(
    func: Func, sizes: Mapping[str, int], rng: np.random.Generator, special: bool = True
) -> list[Array]:
    """An array for each argument: ordinary small numbers and, if wanted, `special` ones too.

    Ordinary integers are 0, 1 and 2, so that they may serve as indices.
    """
    symbols = {symbol: sizes[symbol.name] for symbol in func.symbols}
    return [_random_value(value.type, symbols, rng, special) for value in func.arguments]


def same_results(left: Sequence[Any], right: Sequence[Any], tolerance: float = 0.0) -> bool:
    """Whether two runs gave the same; see `difference`."""
    return difference(left, right, tolerance) is None


def difference(left: Sequence[Any], right: Sequence[Any], tolerance: float = 0.0) -> str | None:
    """The first difference between two lists of results, in words; None if there is none.

    NaNs must stand at the same places, whatever their payload. All else is compared bit for bit,
    so -0.0 is not 0.0; with a `tolerance`, floats may differ by `tolerance * max(1, |x|)`.
    """
    if len(left) != len(right):
        return f"{len(left)} results became {len(right)}"
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        reason = _array_difference(np.asarray(one), np.asarray(other), tolerance)
        if reason is not None:
            return f"result {place} {reason}"
    return None


def _array_difference(left: Array, right: Array, tolerance: float) -> str | None:
    if left.dtype != right.dtype or left.shape != right.shape:
        was, now = (f"{array.dtype}{list(array.shape)}" for array in (left, right))
        return f"is {now}, and was {was}"
    places = np.argwhere(~_same_elements(left, right, tolerance))
    if not len(places):
        return None
    place = tuple(int(index) for index in places[0])
    dtype = of_numpy(left.dtype)
    was, now = (number_text(np.asarray(array[place]), dtype) for array in (left, right))
    return f"differs at {list(place)}: {was} became {now}"


def _same_elements(left: Array, right: Array, tolerance: float) -> Array:
    """Which elements are the same."""
    kind = of_numpy(left.dtype).kind
    if kind is Kind.COMPLEX:
        real = _same_elements(np.real(left), np.real(right), tolerance)
        return real & _same_elements(np.imag(left), np.imag(right), tolerance)
    if kind is not Kind.FLOAT:
        return left == right
    bits = f"u{left.dtype.itemsize}"
    same = np.ascontiguousarray(left).view(bits) == np.ascontiguousarray(right).view(bits)
    same = same.reshape(left.shape) | (np.isnan(left) & np.isnan(right))
    return same | _close(left, right, tolerance) if tolerance else same


def _close(left: Array, right: Array, tolerance: float) -> Array:
    one, other = (array.astype(np.float64) for array in (left, right))
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= tolerance * np.maximum(1.0, np.abs(one))
    return near & np.isfinite(one) & np.isfinite(other)


def _choices(
    func: Func, rng: np.random.Generator
) -> Iterator[tuple[dict[str, int], tuple[Array, ...]]]:
    """Arguments at each choice of sizes, ten times in all, also where there is little to choose."""
    random = all(_can_be_random(value.type) for value in func.arguments)
    chosen = choose_sizes(func) if random else []
    for _, sizes in zip(range(len(SIZES)), cycle(chosen)):
        for special in (False, True):
            yield sizes, tuple(random_arguments(func, sizes, rng, special))


def _attempt(
    module: Module, func: Func, sizes: Mapping[str, int], arguments: Sequence[Array]
) -> tuple[Array, ...] | None:
    try:
        return run(module, func.name, sizes, arguments)
    except Exception:  # of any kind: candidates of `reduce` may ask an op for what it never saw
        return None


def _possible(func: Func, sizes: Mapping[str, int]) -> bool:
    """Whether every type of the func has a shape at these sizes, and not too many elements."""
    symbols = {symbol: sizes[symbol.name] for symbol in func.symbols}
    types = {value.type for value in func.arguments}
    types |= {result.type for op in func.walk() for result in op.results}
    shapes = [type_.shape for type_ in types if isinstance(type_, Shaped)]
    return all(_is_shape(shape, symbols) for shape in shapes)


def _is_shape(shape: Sequence[Size], symbols: Mapping[Symbol, int]) -> bool:
    try:
        sizes = [evaluate(size, symbols) for size in shape]
    except DimError:
        return False
    # A size of 0 counts as 1: numpy refuses huge shapes even where they have no elements.
    return min(sizes, default=0) >= 0 and prod(max(size, 1) for size in sizes) <= ELEMENTS_AT_MOST


def _can_be_random(type_: Type) -> bool:
    return isinstance(type_, Shaped | Scalar)


def _random_value(
    type_: Type, symbols: Mapping[Symbol, int], rng: np.random.Generator, special: bool
) -> Array:
    if isinstance(type_, Scalar):
        return _random_array((), type_.dtype, rng, special)
    if not isinstance(type_, Shaped):
        raise ValueError(f"there are no random values of type {type_}")
    shape = tuple(evaluate(size, symbols) for size in type_.shape)
    return _random_array(shape, type_.dtype, rng, special)


def _random_array(
    shape: tuple[int, ...], dtype: DType, rng: np.random.Generator, special: bool
) -> Array:
    if dtype.kind is Kind.BOOL:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind is Kind.COMPLEX:
        parts = [_random_array(shape, dtype.real, rng, special) for _ in range(2)]
        return np.asarray(np.stack(parts, -1).view(dtype.storage)[..., 0])
    is_float = dtype.kind is Kind.FLOAT
    made = _random_floats(shape, rng) if is_float else rng.integers(0, 3, shape)
    with np.errstate(all="ignore"):
        array: Array = np.asarray(made).astype(dtype.storage)
        if special:
            chosen = rng.integers(0, SPECIAL_ONE_IN, shape) == 0
            array = np.where(chosen, rng.choice(_special(dtype), shape), array)
    return np.asarray(array, dtype.storage)


def _random_floats(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Normal numbers, some of them large or small enough to matter to a sum."""
    return np.asarray(rng.standard_normal(shape) * 2.0 ** rng.integers(-3, 4, shape))


def _special(dtype: DType) -> Array:
    """The numbers at which rules go wrong."""
    if dtype.kind is Kind.FLOAT:
        return np.array(SPECIAL).astype(dtype.storage)
    limits = np.iinfo(dtype.storage)
    small = [3, 7, 8, 31] if limits.min == 0 else [-1, -2, -8, 7]
    return np.array([limits.min, limits.max, *small], dtype.storage)
