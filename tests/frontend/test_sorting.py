"""Order: NaN last, stable places, fixed sizes under jit, mistakes."""

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check

NAN = float("nan")


def x() -> bs.Tensor:
    return bs.asarray([[3.0, NAN, 1.0], [-np.inf, 2.0, -0.0]])


def test_nan_comes_last() -> None:
    np.testing.assert_array_equal(x().sort().numpy(), np.sort(x().numpy()))
    np.testing.assert_array_equal(x().sort(dim=0).numpy(), np.sort(x().numpy(), axis=0))


@pytest.mark.parametrize("descending", [False, True])
def test_equal_elements_keep_their_order(descending: bool) -> None:
    line = bs.asarray([1, 0, 1, 0])
    expected = [0, 2, 1, 3] if descending else [1, 3, 0, 2]
    assert line.argsort(descending=descending).tolist() == expected
    assert bs.jit(lambda t: t.argsort(descending=descending))(line).tolist() == expected


@pytest.mark.parametrize("largest", [False, True])
def test_the_greatest_few(largest: bool) -> None:
    values, indices = bs.asarray([3, 1, 2]).topk(2, largest=largest)
    assert values.tolist() == ([3, 2] if largest else [1, 2])
    assert indices.tolist() == ([0, 2] if largest else [1, 2])
    assert bs.zeros((2, 3)).topk(1, dim=0).values.shape == (1, 3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "bfloat16", "float64"])
def test_sets(dtype: str) -> None:
    line = bs.asarray([1, 0, 1]).astype(dtype)
    found = bs.unique_all(line)
    assert found.values.astype(bs.int64).tolist() == [0, 1]
    assert found.indices.tolist() == [1, 0]
    assert found.inverse_indices.tolist() == [1, 0, 1]
    assert found.counts.tolist() == [1, 2]
    assert found.values.dtype == dtype


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_sets_of_complex_numbers(dtype: type[np.complexfloating]) -> None:
    """By real parts, then by imaginary ones; the zeros of either are one, and no NaN is another."""
    line = np.array([2j, 1 - 1j, -0.0, 1 - 2j, complex(0, -0.0), 2j, complex(1, NAN)], dtype)
    found = bs.unique_all(bs.asarray(np.array([*line, line[-1]])))
    expected = np.array([0, 2j, 1 - 2j, 1 - 1j, complex(1, NAN), complex(1, NAN)], dtype)
    np.testing.assert_array_equal(found.values.numpy(), expected)
    assert found.indices.tolist() == [2, 0, 3, 1, 6, 7]
    assert found.inverse_indices.tolist() == [1, 3, 0, 2, 0, 1, 4, 5]
    assert found.counts.tolist() == [2, 2, 1, 1, 1, 1]
    assert bs.unique_values(bs.zeros((0,), dtype=str(np.dtype(dtype)))).shape == (0,)
    fixed = bs.unique_values(bs.asarray(line[:2]), size=3, fill_value=7j)
    assert fixed.tolist() == [2j, 1 - 1j, 7j]


def test_sizes_are_fixed_under_jit() -> None:
    line = bs.asarray([5, 3, 5])
    fixed = bs.jit(lambda t: bs.unique_values(t, size=4, fill_value=-1))
    assert fixed(line).tolist() == [3, 5, -1, -1]
    check(Mistake(lambda: bs.vmap(bs.unique_values)(line[None]), bs.TracedValueError, "size="))


def test_searches() -> None:
    line, values = bs.asarray([1.0, 2.0, 2.0, NAN]), bs.asarray([[2.0, NAN], [0.0, 9.0]])
    for side in ("left", "right"):
        expected = np.searchsorted(line.numpy(), values.numpy(), side=side)
        np.testing.assert_array_equal(bs.searchsorted(line, values, side=side).numpy(), expected)
    assert bs.isin(line, bs.asarray([2.0]), invert=True).tolist() == [True, False, False, True]
    assert bs.isin(line, bs.zeros((0,)), invert=True).tolist() == [True] * 4
    assert bs.searchsorted(line, 2).item() == 1


MISTAKES = [
    Mistake(lambda: bs.asarray([1j]).sort(), bs.DTypeError, "does not take complex64"),
    Mistake(lambda: bs.asarray(1).sort(), bs.AxisError, "rank 0"),
    Mistake(lambda: x().argsort(axis=2), bs.AxisError, "-2..1"),
    Mistake(lambda: x().topk(9), bs.ArgumentError, "cannot take 9 of 3"),
    Mistake(lambda: x().topk(1.5), bs.DTypeError, "an integer"),
    Mistake(lambda: bs.unique_values(x(), size=-1), bs.ArgumentError, "not negative"),
    Mistake(lambda: bs.searchsorted(x(), x()), bs.ShapeError, "one axis"),
    Mistake(lambda: bs.searchsorted(x()[0], x(), side="up"), bs.ArgumentError, "'up'"),
    Mistake(lambda: bs.searchsorted(x()[0], x(), sorter=x()[0]), bs.DTypeError, "sorter"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
