"""What kernels compute with tiles: functions, operators, and what becomes of axes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import tiles
from kit.both_devices import close, floats, on_both_devices

TILE = 16


device = on_both_devices()


@bs.kernel
def mapped(x, *, function, out_dtype=None):
    out = tiles.result(x.shape, out_dtype or x.dtype)
    at = tiles.grid(tiles.ceil_div(x.shape[0], TILE)) * TILE
    out.store(at, function(x.load(at, TILE, padding=1)))


@bs.kernel
def rows(x, *, function, dtype="float32"):
    out = tiles.result(x.shape[0], dtype)
    at = tiles.grid(x.shape[0])
    columns = tiles.equal(x.shape[1], 8)
    out.store(at, function(x.load((at, 0), (1, columns))))


FUNCTIONS = """
    abs acos acosh:1 asin asinh atan atanh cbrt ceil cos cosh digamma erf erfc erfinv exp exp2 expm1
    floor lgamma log log10 log1p log2 round rsqrt sign sin sinh sqrt tan tanh trunc
"""


@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_functions_are_those_of_tensors(name: str) -> None:
    name, _, shift = name.partition(":")
    x = bs.asarray(floats(20) + int(shift or 0))
    close(mapped(x, function=getattr(tiles, name)), getattr(bs, name)(x).numpy())


OPERATORS: dict[str, Callable[[Any], Any]] = {
    "numbers on both sides": lambda x: 2 * x + 1 - x / 4 - (3 - x) + 1 / (x + 1),
    "powers": lambda x: x**2 + 2**x,
    "negated": lambda x: -x + abs(-x),
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "bits": lambda x: ((x & 6) | 1) ^ ((x << 2) >> 1) ^ ~x,
    "compared": lambda x: ((x < 3) | (x >= 5) | (x == 4)) & ~(x > 6) & (x != 0) & (x <= 7),
}


@pytest.mark.parametrize("function", OPERATORS.values(), ids=OPERATORS)
def test_operators_of_floats(function: Callable[[Any], Any]) -> None:
    x = floats(20)
    close(mapped(bs.asarray(x), function=function), function(x), 1e-5)


@pytest.mark.parametrize("function", WHOLE.values(), ids=WHOLE)
def test_operators_of_integers(function: Callable[[Any], Any]) -> None:
    x = np.arange(-4, 16, dtype=np.int32)
    expected = function(x)
    found = mapped(bs.asarray(x), function=function, out_dtype=str(expected.dtype))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_division_of_integers_rounds_toward_zero() -> None:
    x = np.array([-7, -1, 0, 5, 9], np.int32)
    found = mapped(
        bs.asarray(x), function=lambda x: 10 * tiles.quotient(x, 2) + tiles.remainder(x, 2)
    )
    assert found.numpy().tolist() == [-31, -1, 0, 21, 41]


ROWS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "sum": (lambda x: tiles.sum(x, axis=1), lambda x: x.sum(1)),
    "mean": (lambda x: tiles.sum(x) / x.shape[1], lambda x: x.mean(1)),
    "prod": (lambda x: tiles.prod(x, axis=-1), lambda x: x.prod(1)),
    "least": (tiles.min, lambda x: x.min(1)),
    "centred": (
        lambda x: tiles.max(x - tiles.max(x, axis=1, keepdims=True) / 2, axis=1),
        lambda x: x.max(1) / 2,
    ),
    "any": (lambda x: tiles.any(x > 0.5, axis=1).astype("float32"), lambda x: (x > 0.5).any(1)),
    "all": (
        lambda x: tiles.where(tiles.all(x > 0.3), 1.0, 2.0),
        lambda x: np.where((x > 0.3).all(1), 1, 2),
    ),
    "argmax": (lambda x: tiles.argmax(x, axis=1).astype("float32"), lambda x: x.argmax(1)),
    "scanned": (
        lambda x: tiles.max(tiles.cumulative_sum(x, axis=1), axis=1),
        lambda x: x.cumsum(1).max(1),
    ),
    "sorted": (
        lambda x: tiles.sum(tiles.sort(x, axis=1) * tiles.arange(8, "float32"), axis=1),
        lambda x: np.sort(x, 1) @ np.arange(8, dtype=np.float32),
    ),
    "permuted": (
        lambda x: tiles.sum(x.permute(1, 0).reshape(2, 4)[:, None, :], axis=(0, 1, 2)),
        lambda x: x.sum(1),
    ),
    "put together": (
        lambda x: tiles.max(tiles.concat([x, tiles.full((1, 2), 0.6)], axis=1)),
        lambda x: np.maximum(x.max(1), np.float32(0.6)),
    ),
}


@pytest.mark.parametrize(("function", "expected"), ROWS.values(), ids=ROWS)
def test_along_axes(function: Callable[[Any], Any], expected: Callable[[np.ndarray], Any]) -> None:
    x = floats(5, 8)
    close(rows(bs.asarray(x), function=function), expected(x))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "uint8"])
def test_dtypes(dtype: str) -> None:
    x = bs.asarray([1, 2, 3, 4, 5]).astype(dtype)
    found = mapped(x, function=lambda x: x * 3 + 1)
    assert found.dtype == dtype
    assert found.astype("int32").numpy().tolist() == [4, 7, 10, 13, 16]
