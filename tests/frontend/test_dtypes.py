"""Dtypes: their names, their kin in numpy, promotion, casts, limits, mistakes."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.dtypes import ALL, as_dtype
from kit.mistakes import Mistake, check

NUMPY = [each for each in ALL if not each.name.startswith(("float8", "bfloat"))]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_it_is_itself_by_any_name(dtype: Any) -> None:
    assert all(dtype == each for each in (dtype.name, np.dtype(dtype), dtype.dtype.type))
    assert as_dtype(dtype.name) is as_dtype(dtype.dtype) is as_dtype(dtype.ir) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert (repr(dtype), dtype.itemsize) == (f"brimstone.{dtype.name}", dtype.dtype.itemsize)
    assert {dtype: 1}[as_dtype(dtype.name)] == 1
    assert dtype != "nothing"


@pytest.mark.parametrize(("one", "other"), [*product(NUMPY, repeat=2)], ids=str)
def test_promotion_is_symmetric_and_numpys_within_a_kind(one: Any, other: Any) -> None:
    if {one.name, other.name} & {"uint64"} and {one.kind, other.kind} == {"i", "u"}:
        check(Mistake(lambda: bs.result_type(one, other), bs.DTypeError, "uint64"))
        return
    found = bs.result_type(one, other)
    assert found is bs.result_type(other, one)
    if one.kind == other.kind or {one.kind, other.kind} == {"i", "u"}:
        assert found == np.result_type(one.dtype, other.dtype)
    assert bs.can_cast(one, other) == (found is other)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_limits(dtype: Any) -> None:
    if dtype.kind in "iu":
        found, expected = bs.iinfo(dtype), np.iinfo(dtype.dtype)
        assert (found.max, found.min, found.bits) == (expected.max, expected.min, expected.bits)
    elif dtype.kind in "fc":
        found = bs.finfo(dtype)
        assert bs.asarray(found.max, dtype=found.dtype).item() == found.max
        assert (bs.ones((), dtype=found.dtype) + found.eps).item() > 1
    else:
        check(Mistake(lambda: bs.finfo(dtype), bs.DTypeError, "bool is no float dtype"))


@pytest.mark.parametrize(
    ("given", "target", "value"),
    [
        (2.7, "int8", 2),
        (-2.7, "int64", -2),
        (300, "uint8", 44),
        (-1, "uint16", 65535),
        (0.1, "bool", True),
        (float("nan"), "bool", True),
        (1e6, "float16", float("inf")),
        (1.0, "complex64", 1 + 0j),
        (True, "bfloat16", 1.0),
    ],
)
def test_casts(given: Any, target: str, value: Any) -> None:
    for cast in (bs.astype, lambda x, dtype: x.astype(dtype), lambda x, dtype: x.to(dtype)):
        result = cast(bs.asarray(given), target)
        assert (result.dtype, result.item()) == (target, value)


MISTAKES = [
    Mistake(lambda: as_dtype("f4x"), bs.DTypeError, "'f4x' is not a dtype"),
    Mistake(lambda: bs.ones(2).astype(5), bs.DTypeError, "float32"),
    Mistake(lambda: bs.asarray([1j]).astype(bs.float32), bs.DTypeError, "`.real`"),
    Mistake(lambda: bs.iinfo(bs.float32), bs.DTypeError, "float32 is no integer dtype"),
    Mistake(lambda: bs.isdtype(bs.int8, "what kind"), bs.ArgumentError, "numeric"),
    Mistake(lambda: bs.result_type(*()), bs.ArgumentError, "nothing is given"),
    Mistake(lambda: bs.ones(2).to("moon"), bs.DeviceError, "moon"),
    Mistake(lambda: bs.ones(2).to_device("reference", stream=1), bs.ArgumentError, "streams"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
