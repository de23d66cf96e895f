"""numpy's functions of elements with tensors, and operators that Python has beside them."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs

UFUNCS = [each for each in vars(np).values() if isinstance(each, np.ufunc)]
MISSING = {
    "fabs", "float_power", "fmax", "fmin", "fmod", "frexp", "gcd", "lcm", "ldexp", "logaddexp2",
    "modf", "spacing",
}  # fmt: skip
VALUES = {np.float32: [0.5, 0.25, 0.75], np.int64: [5, 1, 3], np.bool_: [True, False, True]}


def _as_numpy_has_it(ufunc: np.ufunc, kind: Any) -> Any:
    given = [np.array(VALUES[kind], kind)] * ufunc.nin
    with np.errstate(all="ignore"):
        return ufunc(*given)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda each: each.__name__)
def test_what_both_have_means_the_same(ufunc: np.ufunc) -> None:
    """In the first dtype that numpy takes; what is not here is refused by its name."""
    for kind, values in VALUES.items():
        try:
            expected = _as_numpy_has_it(ufunc, kind)
        except (TypeError, ValueError):
            continue
        given = [bs.asarray(np.array(values, kind))] * ufunc.nin
        if ufunc.__name__ in MISSING:
            with pytest.raises(TypeError, match=f"{ufunc.__name__}: it takes no tensors"):
                ufunc(*given)
            return
        found = ufunc(*given)
        assert isinstance(found, bs.Tensor | tuple)
        for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        return


def test_they_are_recorded() -> None:
    x = bs.asarray([0.5, 1.0])
    step = bs.jit(lambda x: np.sum(np.sin(x) * np.float32(2)))
    assert step(x).item() == pytest.approx(2 * np.sum(np.sin([0.5, 1.0])))
    np.testing.assert_allclose(bs.grad(step)(x).numpy(), 2 * np.cos([0.5, 1.0]), rtol=1e-6)


def test_an_array_on_the_left() -> None:
    x = bs.asarray([2, 3])
    quotients, rests = divmod(np.array([7, 8]), x)
    assert (quotients.tolist(), rests.tolist()) == ([3, 2], [1, 2])
    assert (np.float32(1) < x).tolist() == [True, True]
    array = np.ones(2)
    with pytest.raises(TypeError, match="not written into an array of numpy's"):
        array += x


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (np.add.reduce, r"np\.add\.reduce: it takes no tensors"),
        (lambda x: np.sqrt(x, dtype=np.float64), r"np\.sqrt: it takes no tensors with `dtype`"),
        (lambda x: np.fmod(x, 2), r"np\.fmod: it takes no tensors"),
    ],
)
def test_what_is_refused_says_so(use: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        use(bs.asarray([1.0, 2.0]))


def test_rounding_and_division_as_python_spells_them() -> None:
    x = bs.asarray([1.26, 2.5])
    np.testing.assert_allclose(round(x, 1).numpy(), [1.3, 2.5], rtol=1e-6)
    assert round(x).tolist() == [1, 2]
    whole, rest = divmod(bs.asarray([7, -7]), 3)
    assert (whole.tolist(), rest.tolist()) == ([2, -3], [1, 2])
    reflected: Any = divmod(20, bs.asarray(6))
    assert [each.item() for each in reflected] == [3, 2]
