"""Windows: weights that fade a piece of a signal in and out.

Comes in: a length. Goes out: a vector, computed in float64 and rounded once.
Never: a length that is not known. A periodic window, for `stft`, is the symmetric one that is
longer by 1, without its last element, so that windows half a length apart fit together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ..dtypes import OF_IR
from ..errors import ArgumentError, DTypeError, fail
from .common import as_integer, as_ir_dtype
from .creation import FLOAT, asarray

if TYPE_CHECKING:
    from ..tensor import Tensor


def hann_window(
    length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """(1 - cos(2πk / n)) / 2."""
    return _window("hann_window", np.hanning, length, periodic, dtype, device)


def hamming_window(
    length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """0.54 - 0.46 * cos(2πk / n)."""
    return _window("hamming_window", np.hamming, length, periodic, dtype, device)


def blackman_window(
    length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """0.42 - 0.5 * cos(2πk / n) + 0.08 * cos(4πk / n)."""
    return _window("blackman_window", np.blackman, length, periodic, dtype, device)


def bartlett_window(
    length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """1 - |2k / n - 1|: a triangle."""
    return _window("bartlett_window", np.bartlett, length, periodic, dtype, device)


def kaiser_window(
    length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """I₀(beta * √(1 - (2k / n - 1)²)) / I₀(beta): the larger beta, the narrower."""
    return _window(
        "kaiser_window", lambda count: np.kaiser(count, beta), length, periodic, dtype, device
    )


def _window(
    name: str, make: Callable[[int], Any], length: Any, periodic: bool, dtype: Any, device: Any
) -> Tensor:
    size, kind = as_integer(length, name, "a length"), as_ir_dtype(dtype, FLOAT)
    if size < 0:
        fail(ArgumentError, name, f"a length is not negative, but {size} was given")
    if kind not in ir.FLOATS:
        fail(DTypeError, name, f"weights are floats, not {OF_IR[kind]}")
    # One element is a whole window, periodic or not.
    weights = make(size + 1)[:-1] if periodic and size > 1 else make(size)
    return asarray(np.maximum(weights, 0.0), dtype=kind, device=device)
