"""Arguments by place, in numpy's order, where there is one."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs

ARRAY = np.arange(12.0).reshape(3, 4)
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("triu", (ARRAY, 1)), ("tril", (ARRAY, -1)), ("stack", ([ARRAY, ARRAY], 1)),
    ("repeat", (ARRAY, 2, 0)), ("roll", (ARRAY, 1, 0)), ("flip", (ARRAY, 1)),
    ("diag", (ARRAY[0], 1)), ("diagonal", (ARRAY, 1)), ("trace", (ARRAY, 1)), ("eye", (3, 4, 1)),
    ("tensordot", (ARRAY, ARRAY, 2)), ("searchsorted", (ARRAY[0], ARRAY[0], "right")),
    ("zeros", ((2, 3), "int64")), ("ones", (3, "float64")), ("full", ((2,), 7, "int8")),
    ("zeros_like", (ARRAY, "int64")), ("ones_like", (ARRAY, "int64")),
    ("full_like", (ARRAY, 7, "int64")), ("fft.fft", (ARRAY, 6, 0)), ("fft.rfft", (ARRAY, 3)),
    ("fft.irfft", (ARRAY, 6)), ("fft.fft2", (ARRAY, (2, 2))), ("fft.fftshift", (ARRAY, 1)),
    ("linalg.qr", (ARRAY, "reduced")), ("linalg.svd", (ARRAY, False)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), CALLS, ids=[name for name, _ in CALLS])
def test_numpy_takes_them_so(name: str, given: tuple[Any, ...]) -> None:
    ours: Any = bs
    theirs: Any = np
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    held = [bs.asarray(each) if isinstance(each, np.ndarray) else each for each in given]
    found, expected = ours(*held), theirs(*given)
    if isinstance(expected, tuple):  # the signs of these are nobody's
        found, expected = (found[1], expected[1]) if name.endswith("svd") else (found[0], found[0])
    if name.startswith(("zeros", "ones", "full")):
        assert str(found.dtype) == str(expected.dtype)
    np.testing.assert_allclose(found.numpy(), np.asarray(expected), atol=1e-12)
