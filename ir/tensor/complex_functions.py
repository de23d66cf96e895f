"""Functions of complex numbers where numpy's are not what the array API standard asks for.

Comes in: an array of reals or of complex numbers. Goes out: an array of its dtype; of reals, what
numpy makes of them.
Never: another number than numpy's where all parts are finite, but for the sign of a zero.
"""

from typing import Any

import numpy as np

from ..payloads import Array


def expm1(x: Array) -> Any:
    """exp(x) - 1; of what lies on the real axis, that of the real part, and never -0."""
    made = np.expm1(x)
    if not np.iscomplexobj(x):
        return made
    made = np.where(np.isfinite(x), made, np.exp(x) - 1)
    on_axis = _parts(np.expm1(x.real) + 0.0, x.imag)
    return np.where(x.imag == 0, on_axis, made)


def tanh(x: Array) -> Any:
    """The hyperbolic tangent; of ±inf and something finite, ±1 and a zero of that thing's sign."""
    made = np.tanh(x)
    if not np.iscomplexobj(x):
        return made
    ends = np.isinf(x.real) & np.isfinite(x.imag)
    at_ends = _parts(np.copysign(1, x.real), np.copysign(0, x.imag))
    return np.where(ends, at_ends, made)


def _parts(real: Array, imaginary: Array) -> Array:
    """The complex numbers of these parts; `real + 1j * imaginary` would lose zeros and NaNs."""
    made = np.empty(np.shape(real), np.result_type(real, np.complex64))
    made.real, made.imag = real, imaginary
    return made
