"""Reductions: both vocabularies, methods, narrow dtypes, empty axes, mistakes."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check

ARRAY = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
NAMES = ("sum", "prod", "max", "min", "any", "all", "count_nonzero", "mean", "var", "std")
INDICES = ("argmax", "argmin")


def x() -> bs.Tensor:
    return bs.asarray(ARRAY)


@pytest.mark.parametrize("name", [*NAMES, *INDICES, "logsumexp"])
def test_both_vocabularies_and_methods_agree(name: str) -> None:
    function, method = getattr(bs, name), getattr(x(), name)
    results = [
        function(x(), axis=1, keepdims=True),
        function(x(), dim=1, keepdim=True),
        method(dim=1, keepdim=True),
        method(axis=-1, keepdims=True),
        bs.jit(lambda t: function(t, axis=1, keepdims=True))(x()),
    ]
    assert {each.shape for each in results} == {(2, 1)}
    assert all(each.tolist() == results[0].tolist() for each in results)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, (0, 1), (), np.int64(1), [1]])
def test_axes_are_those_of_numpy(name: str, axis: Any) -> None:
    listed = tuple(axis) if isinstance(axis, list) else axis
    expected = getattr(np, name)(ARRAY, axis=listed)
    np.testing.assert_allclose(getattr(bs, name)(x(), axis=axis).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3"])
def test_narrow_floats_are_averaged_wide(dtype: str) -> None:
    ones = bs.ones((5000,), dtype=dtype)
    assert (ones.mean().dtype, ones.mean().item()) == (dtype, 1)
    assert ones.var().item() == 0


@pytest.mark.parametrize(
    ("made", "dtype", "value"),
    [
        (lambda: bs.asarray([100, 100], dtype=bs.int8).sum(), "int64", 200),
        (lambda: bs.asarray([100, 200], dtype=bs.uint8).sum(), "uint64", 300),
        (lambda: bs.asarray([100, 100], dtype=bs.int8).sum(dtype=bs.int8), "int8", -56),
        (lambda: bs.asarray([True, True]).sum(), "int64", 2),
        (lambda: bs.asarray([1, 2]).mean(), "float32", 1.5),
        (lambda: bs.zeros((0,)).sum(), "float32", 0),
        (lambda: bs.zeros((0,)).prod(), "float32", 1),
        (lambda: bs.zeros((0,)).all(), "bool", True),
        (lambda: bs.zeros((0,)).any(), "bool", False),
        (lambda: bs.zeros((0,)).logsumexp(), "float32", -np.inf),
        (lambda: bs.asarray([-np.inf, -np.inf]).logsumexp(), "float32", -np.inf),
        (lambda: bs.asarray([1e4, 1e4]).logsumexp(), "float32", np.float32(1e4 + np.log(2))),
        (lambda: bs.asarray([1.0, np.nan]).max(), "float32", np.nan),
        (lambda: bs.asarray([1.0, np.nan, np.nan]).argmax(), "int64", 1),
        (lambda: bs.diff(bs.asarray([1, 4]), prepend=bs.asarray([0]))[0], "int64", 1),
        (lambda: bs.diff(bs.asarray([1, 4]), prepend=bs.asarray([0.5]))[0], "float32", 0.5),
        (lambda: bs.diff(bs.asarray([1, 4]), n=0, prepend=bs.asarray([0]))[0], "int64", 1),
        (lambda: bs.zeros((0, 3)).max(axis=1).sum(), "float32", 0),
        (lambda: bs.asarray([True, False]).max(), "bool", True),
        (lambda: bs.ones((2, 3)).var(correction=1).sum(), "float32", 0),
    ],
)
def test_dtypes_and_edges(made: Any, dtype: str, value: Any) -> None:
    result = made()
    assert result.dtype == dtype
    np.testing.assert_equal(result.item(), value)


MISTAKES = [
    Mistake(lambda: x().sum(axis=5), bs.AxisError, "there is no axis 5: the axes are -2..1"),
    Mistake(lambda: x().sum(axis="a"), bs.AxisError, "not str"),
    Mistake(lambda: x().sum(axis=(0, -2)), bs.AxisError, "named twice"),
    Mistake(lambda: x().sum(0, dim=1), bs.ArgumentError, "not both"),
    Mistake(lambda: x().sum(keepdims=True, keepdim=True), bs.ArgumentError, "not both"),
    Mistake(lambda: x().sum(dtype=bs.bool), bs.DTypeError, "sum: does not take bool"),
    Mistake(lambda: bs.asarray([1j]).max(), bs.DTypeError, "does not take complex64"),
    Mistake(lambda: bs.asarray([1j]).argmin(), bs.DTypeError, "does not take complex64"),
    Mistake(lambda: bs.asarray([1j]).cumulative_max(), bs.DTypeError, "cumulative_max"),
    Mistake(lambda: bs.zeros((0, 3)).max(axis=0), bs.ShapeError, "float32[0, 3]"),
    Mistake(lambda: bs.zeros((0,)).argmax(), bs.ShapeError, "empty"),
    Mistake(lambda: x().cumulative_sum(), bs.ArgumentError, "needs an axis"),
    Mistake(lambda: bs.zeros(()).cumulative_sum(axis=0), bs.AxisError, "rank 0"),
    Mistake(lambda: x().var(correction="a"), bs.DTypeError, "var: the correction is a number"),
    Mistake(lambda: x().std(correction=None), bs.DTypeError, "not NoneType"),
    Mistake(lambda: bs.cov(x(), correction="a"), bs.DTypeError, "cov: the correction"),
    Mistake(lambda: bs.mean(bs.arange(3), dtype=bs.int32), bs.DTypeError, "does not take int32"),
    Mistake(lambda: bs.diff(x(), n=-1), bs.ArgumentError, "not negative"),
    Mistake(lambda: bs.diff(x(), n=1.5), bs.DTypeError, "integer"),
    Mistake(lambda: bs.diff(x(), prepend=bs.zeros((3, 3))), bs.ShapeError, "differ"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
