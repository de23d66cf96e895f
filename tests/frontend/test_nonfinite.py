"""Which operation made the first NaN: its line, what it took, or the argument that had one."""

from math import isnan
from typing import Any

import pytest

import brimstone as bs

X = bs.asarray([1.0, -4.0])
NAN, INFINITY = float("nan"), float("inf")


def origin(function: Any, *args: Any) -> str:
    return str(bs.nonfinite_origin(function, *args))


def test_an_operation_is_named_with_its_line_and_what_it_took() -> None:
    found = bs.nonfinite_origin(lambda x: (bs.sqrt(x) * 2).sum(), X)
    assert found is not None
    assert (found.what, found.operation) == ("NaN", "square_root")
    assert "test_nonfinite.py:" in found.location
    assert found.given == "[2] with -4 to 1"
    assert str(found).startswith("`square_root` at ")


def test_the_first_of_several_is_named() -> None:
    found = origin(lambda x: (bs.log(x) + bs.sqrt(x)).sum(), X)
    assert found.startswith("`log` at ")
    assert "infinity" in origin(lambda x: bs.exp(x * 1000).sum(), X)


@pytest.mark.parametrize("value", [NAN, INFINITY])
def test_an_argument_that_has_one_is_named(value: float) -> None:
    tree = {"layers": [bs.asarray([1.0, value])]}
    what = "NaN" if isnan(value) else "infinity"
    assert origin(lambda tree: tree["layers"][0].sum(), tree) == f"tree['layers'][0] has {what}"
    outside = bs.asarray(value)
    assert "from outside" in origin(lambda x: x.sum() + outside, bs.ones(2))


def test_what_is_finite_in_the_end_has_no_origin() -> None:
    assert bs.nonfinite_origin(lambda x: x.sum(), X) is None
    masked = bs.nonfinite_origin(lambda x: bs.softmax(bs.where(x > 0, x, -INFINITY)), X)
    assert masked is None


def test_inside_loops_and_branches_the_operation_there_is_named() -> None:
    def steps(x: Any) -> Any:
        return bs.scan(lambda total, each: (total + bs.log(each), total), bs.asarray(0.0), x)[0]

    assert origin(steps, X).startswith("`log` at ")
    assert origin(lambda x: bs.cond(x.sum() < 0, bs.sqrt, bs.sin, x), X).startswith("`square_root`")
    assert origin(bs.checkpoint(bs.sqrt), X).startswith("`square_root` at ")


@pytest.mark.parametrize("dtype", [bs.bfloat16, bs.float64, bs.complex64], ids=str)
def test_dtypes(dtype: Any) -> None:
    found = origin(lambda x: (x - x).sum(), bs.asarray([INFINITY], dtype=dtype))
    assert found.startswith("`subtract` at ")
    assert "made NaN" in found


def test_integers_are_finite() -> None:
    assert bs.nonfinite_origin(lambda x: x + 1, bs.arange(3)) is None


def test_it_works_inside_a_function_being_compiled() -> None:
    seen: list[str] = []

    def watched(x: Any) -> Any:
        seen.append(origin(bs.sqrt, X))
        return x

    bs.jit(watched)(bs.ones(2))
    assert seen[0].startswith("`square_root` at ")
