"""Medians, quantiles, covariances and correlations against numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

Array = np.ndarray[Any, np.dtype[Any]]
METHODS = ("linear", "lower", "higher", "nearest", "midpoint")
AXES = (None, 0, -1, (0, 2), (2, 1, 0))


def random(*shape: int, dtype: str = "float64") -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def close(found: bs.Tensor, wanted: Any) -> None:
    array = found.numpy()
    assert array.shape == np.shape(wanted)
    assert np.allclose(array, wanted, equal_nan=True, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_quantile(method: Any, axis: Any, keepdims: bool) -> None:
    x = random(3, 4, 5)
    for share in (0.0, 0.3, 0.5, 1.0, [0.25, 0.9], [[0.1], [0.2]]):
        wanted = np.quantile(x, share, axis=axis, method=method, keepdims=keepdims)
        close(bs.quantile(bs.asarray(x), share, axis, keepdims, method=method), wanted)
        hundredths = (np.asarray(share) * 100).tolist()
        found = bs.percentile(bs.asarray(x), hundredths, axis, keepdim=keepdims, method=method)
        close(found, wanted)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_median(dtype: str, axis: Any, keepdims: bool) -> None:
    for shape in ((3, 4, 5), (2, 2, 2)):
        x = random(*shape, dtype=dtype)
        found = bs.median(bs.asarray(x), axis, keepdims)
        assert str(found.dtype) == dtype
        close(found, np.median(x, axis=axis, keepdims=keepdims))
        x[0, 1, 0] = np.nan
        close(bs.median(bs.asarray(x), axis), np.median(x, axis=axis))
        close(bs.nanmedian(bs.asarray(x), dim=axis), np.nanmedian(x, axis=axis))


def test_special_values() -> None:
    inf, nan = np.inf, np.nan
    assert float(bs.median(bs.asarray([inf, inf, 1.0]))) == inf
    assert float(bs.quantile(bs.asarray([inf, inf, 1.0, inf]), 0.6)) == inf
    assert float(bs.quantile(bs.asarray([1.0, 2.0, inf]), 0.5)) == 2
    assert np.isnan(float(bs.median(bs.asarray([-inf, inf]))))
    assert np.isnan(float(bs.nanmedian(bs.asarray([nan, nan]))))
    assert float(bs.nanmedian(bs.asarray([nan, 3.0, nan]))) == 3
    assert np.isnan(float(bs.quantile(bs.asarray([nan, 1.0]), 0.0)))


def test_empty_and_whole_numbers() -> None:
    assert np.isnan(bs.median(bs.ones((2, 0)), axis=1).numpy()).all()
    assert np.isnan(bs.nanmedian(bs.ones((2, 0)), axis=1).numpy()).all()
    assert bs.median(bs.ones((0, 3)), axis=1).shape == (0,)
    assert bs.median(bs.asarray([1, 2])).dtype is bs.float32
    assert float(bs.median(bs.asarray([1, 2]))) == 1.5


def test_shares_may_be_tensors() -> None:
    x, share = random(7), np.array([0.25, 0.5])
    found = bs.quantile(bs.asarray(x), bs.asarray(share))
    close(found, np.quantile(x, share))
    outside = bs.quantile(bs.asarray(x), bs.asarray([-0.1, 0.5, 1.1]))
    assert np.isnan(outside.numpy()).tolist() == [True, False, True]


@pytest.mark.parametrize("rowvar", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_covariance(dtype: str, rowvar: bool) -> None:
    x = random(3, 5) + (1j * random(5, 3).T if dtype == "complex128" else 0)
    x = x.astype(dtype)
    close(bs.cov(bs.asarray(x), rowvar=rowvar), np.cov(x, rowvar=rowvar))
    close(bs.cov(bs.asarray(x), rowvar=rowvar, correction=0), np.cov(x, rowvar=rowvar, ddof=0))
    close(bs.corrcoef(bs.asarray(x), rowvar=rowvar), np.corrcoef(x, rowvar=rowvar))
    close(bs.cov(bs.asarray(x[0])), np.cov(x[0]))
    close(bs.corrcoef(bs.asarray(x[0])), 1.0)
    stack = np.stack([x, 2 * x])
    close(bs.cov(bs.asarray(stack)), np.stack([np.cov(x), np.cov(2 * x)]))
    assert str(bs.cov(bs.asarray(x)).dtype) == dtype


def test_a_correlation_may_not_be_known() -> None:
    found = bs.corrcoef(bs.asarray([[1.0, 1.0], [1.0, 2.0]])).numpy()
    assert np.isnan(found).tolist() == [[True, True], [True, False]]


SMOOTH: dict[str, Callable[[bs.Tensor], bs.Tensor]] = {
    "median": lambda x: bs.sum(bs.median(x, axis=1) ** 2),
    "nanmedian": lambda x: bs.sum(bs.nanmedian(x, axis=0) ** 2),
    "quantile": lambda x: bs.sum(bs.quantile(x, [0.2, 0.7], 1) ** 2),
    "share": lambda x: bs.sum(bs.quantile(bs.asarray(random(5)), bs.sigmoid(x))),
    "cov": lambda x: bs.sum(bs.cov(x) ** 2),
    "corrcoef": lambda x: bs.sum(bs.corrcoef(x) ** 3),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_jit_and_vmap(name: str) -> None:
    function, x, step = SMOOTH[name], random(3, 4), 1e-6
    slopes = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        ends = []
        for way in (step, -step):
            moved = x.copy()
            moved[place] += way
            ends.append(float(function(bs.asarray(moved))))
        slopes[place] = (ends[0] - ends[1]) / (2 * step)
    tensor = bs.asarray(x)
    assert np.allclose(bs.grad(function)(tensor).numpy(), slopes, atol=1e-5)
    assert np.allclose(bs.jit(function)(tensor).numpy(), function(tensor).numpy())
    lanes = bs.stack([tensor, tensor * 2])
    wanted = [float(function(lane)) for lane in lanes]
    assert np.allclose(bs.vmap(function)(lanes).numpy(), wanted)


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile", "cov"])
def test_dynamic_sizes(name: str) -> None:
    function = SMOOTH[name]
    compiled = bs.jit(function, dynamic={"x": {1: bs.dim("n", 2, 64)}})
    for count in (2, 5, 8):
        x = bs.asarray(random(3, count))
        assert np.allclose(compiled(x).numpy(), function(x).numpy())


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: bs.quantile(bs.ones(3), 1.5), bs.ArgumentError, "a share lies between 0 and 1"),
    (lambda: bs.quantile(bs.ones(3), np.nan), bs.ArgumentError, "a share lies between 0 and 1"),
    (lambda: bs.percentile(bs.ones(3), -1), bs.ArgumentError, "a share lies between 0 and 100"),
    (lambda: bs.quantile(bs.ones(3), 0.5, method="best"), bs.ArgumentError, "method is one of"),
    (lambda: bs.median(bs.ones(3), 1), bs.AxisError, "median: there is no axis 1"),
    (lambda: bs.median(bs.ones(3), 0, dim=0), bs.ArgumentError, "not both"),
    (lambda: bs.median(bs.ones(3, dtype=bs.complex64)), bs.DTypeError, "median: does not take"),
    (lambda: bs.cov(bs.ones(())), bs.ShapeError, "takes a vector, or a matrix of variables"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_refusals(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


NUMPYS = {
    "all": np.all, "any": np.any, "max": np.max, "mean": np.mean, "min": np.min, "prod": np.prod,
    "std": np.std, "sum": np.sum, "var": np.var,
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_functions_call_the_methods(name: str) -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    function: Any = NUMPYS[name]
    for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}):
        found = function(bs.asarray(x), **options)
        assert isinstance(found, bs.Tensor)
        np.testing.assert_allclose(found.numpy(), function(x, **options), rtol=1e-6)
    if name in ("std", "var"):
        found = function(bs.asarray(x), ddof=1)
        np.testing.assert_allclose(found.numpy(), function(x, ddof=1), rtol=1e-6)
        with pytest.raises(bs.ArgumentError, match="ddof is the correction"):
            getattr(bs.asarray(x), name)(ddof=1, correction=0)
    with pytest.raises(bs.ArgumentError, match="into no other"):
        function(bs.asarray(x), out=np.zeros(()))


def test_quantiles_beside_an_infinity() -> None:
    inf = float("inf")
    for line, wanted in (
        ([-inf, 1.0], [-inf] * 3),
        ([1.0, inf], [inf] * 3),
        ([-inf, -inf], [-inf] * 3),
        ([-inf, 1.0, 2.0, inf], [-inf, 1.5, inf]),
    ):
        assert bs.quantile(bs.asarray(line), [0.25, 0.5, 0.75]).tolist() == wanted
