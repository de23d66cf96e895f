"""Which public functions of complex numbers are interpreted: those that decompose matrices, or
solve equations."""

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.func import Func
from brimstone.nn import functions
from brimstone.passes.complex_to_real.regions import has_rule

Call = Callable[[Callable[..., Any]], Any]

MATRIX = (np.arange(9).reshape(3, 3) - 1j * np.arange(9)[::-1].reshape(3, 3) + 2).astype(
    "complex64"
)
LINE, WINDOWS = MATRIX[0], np.stack([MATRIX, MATRIX])
ARGUMENTS: Sequence[tuple[Sequence[np.ndarray], Call]] = [
    ((MATRIX,), lambda f: f),
    ((MATRIX, MATRIX), lambda f: f),
    ((MATRIX,), lambda f: lambda z: f(z, 2)),
    ((MATRIX,), lambda f: lambda z: f(z, axis=0)),
    ((MATRIX,), lambda f: lambda z: f(z, (0,))),
    ((MATRIX,), lambda f: lambda z: f(z, (1, 0))),
    ((MATRIX,), lambda f: lambda z: f(z, 1, 0)),
    ((MATRIX,), lambda f: lambda z: f([z, z])),
    ((MATRIX,), lambda f: lambda z: f(z, bs.asarray([0, 1]))),
    ((MATRIX,), lambda f: lambda z: f(bs.real(z) > 3, z, z)),
    ((MATRIX,), lambda f: lambda z: f("ij,jk->ik", z, z)),
    ((LINE,), lambda f: f),
    ((LINE, LINE), lambda f: f),
    ((WINDOWS, WINDOWS), lambda f: f),
]
"""Ways to call a function of which nothing is known but its name."""

INTERPRETED = {
    *["cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu", "matrix_rank"],
    *["norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals"],
}
"""Of `bs.linalg`; a norm is interpreted where it asks for singular values."""


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def interpreted(module: ModuleType) -> set[str]:
    """The functions of a namespace that have an op of complex numbers without machine code, in some
    way to call them."""
    found: set[str] = set()
    for name in dir(module):
        function = getattr(module, name)
        if name.startswith("_") or isinstance(function, type) or not callable(function):
            continue
        funcs = [func for given, call in ARGUMENTS for func in _recorded(call(function), given)]
        if not all(has_rule(op) for func in funcs for op in func.body):
            found.add(name)
    return found


def _recorded(function: Callable[..., Any], given: Sequence[np.ndarray]) -> list[Func]:
    """The funcs of a call; none where it is refused."""
    try:
        return [*bs.jit(function).lower(*map(bs.asarray, given)).ir]
    except Exception:
        return []


@pytest.mark.parametrize("module", [bs, bs.fft, bs.nn, functions], ids=lambda each: each.__name__)
def test_functions_are_machine_code(module: ModuleType) -> None:
    assert interpreted(module) == set()


def test_what_is_interpreted() -> None:
    assert interpreted(bs.linalg) == INTERPRETED


def test_what_is_interpreted_says_so() -> None:
    """What this asks is what users are told."""
    z = bs.asarray(MATRIX)
    told = {name: str(bs.jit(getattr(bs.linalg, name)).explain(z)) for name in ("svd", "trace")}
    assert ["interpreted" in each for each in told.values()] == [True, False]
