"""Tensors as people see them, in text and in notebooks, whatever they hold."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.dtypes import ALL


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (3,), (2, 3), (1,) * 8, (40, 40)], ids=str)
def test_every_dtype_and_shape_is_shown(dtype: Any, shape: tuple[int, ...]) -> None:
    tensor = bs.ones(shape, dtype=dtype)
    shown, html = repr(tensor), tensor._repr_html_()
    assert shown.startswith("tensor(")
    assert f"dtype={dtype.name}" in shown
    assert (f"shape={shape}" in shown) == (0 in shape)
    assert str(list(shape)) in html
    assert ("<img" in html) == (len(shape) == 2 and 0 not in shape and dtype.kind != "c")
    assert len(html) < 20_000


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (lambda: bs.asarray([1.0, 2.5]), "tensor([1. , 2.5], dtype=float32)"),
        (lambda: bs.asarray(3), "tensor(3, dtype=int64)"),
        (lambda: bs.asarray([True]), "tensor([ True], dtype=bool)"),
        (lambda: bs.asarray([np.nan, -np.inf]), "tensor([ nan, -inf], dtype=float32)"),
        (lambda: bs.tensor([1.0], requires_grad=True), "requires_grad=True)"),
        (lambda: bs.zeros((0, 3)), "tensor([], shape=(0, 3), dtype=float32)"),
    ],
)
def test_texts(tensor: Any, text: str) -> None:
    assert repr(tensor()).endswith(text)
    assert f"{tensor()}" == str(tensor()) == repr(tensor())


def test_numbers_are_formatted() -> None:
    assert f"{bs.asarray([1.0, 2.0]).sum():.3f}" == "3.000"
    assert f"{bs.asarray(7):>3d}" == "  7"
    with pytest.raises(bs.ShapeError, match="not one element"):
        f"{bs.ones(2):.3f}"


def test_html_counts_what_is_not_finite() -> None:
    html = bs.asarray([[np.nan, np.inf], [1.0, 3.0]])._repr_html_()
    for cell in ("1 … 3", "<code>2</code>", "NaN", "infinite", "data:image/png;base64,"):
        assert cell in html


def test_what_has_no_value_says_so() -> None:
    shown: list[str] = []

    @bs.jit
    def f(x: Any) -> Any:
        shown.extend([repr(x), repr(x + 1), x._repr_html_()])
        return x

    f(bs.ones((2, 3)))
    assert all("float32[2, 3] inside jit" in each for each in shown)
    gone = bs.ones(2).sync()
    bs.jit(lambda x: x + 1, donate=0)(gone)
    assert "donated at" in repr(gone)
    assert "donated at" in gone._repr_html_()
