"""Functions of complex numbers where numpy's are not what the array API standard asks for.

Comes in: an array of reals or of complex numbers. Goes out: an array of its dtype; of reals, what
numpy makes of them.
Never: another number than numpy's where all parts are finite, but for the sign of a zero, and what
numpy's log1p loses near 0, or takes for infinite.
"""

from typing import Any

import numpy as np


def expm1(x: Any) -> Any:
    """exp(x) - 1; of what lies on the real axis, that of the real part, and never -0."""
    made: Any = np.asarray(np.expm1(x))
    if np.iscomplexobj(x):
        np.copyto(made, np.exp(x) - 1, where=~np.isfinite(x))
        np.copyto(made, _parts(np.expm1(x.real) + 0.0, x.imag), where=x.imag == 0)
    return made


def log1p(x: Any) -> Any:
    """log(1 + x); where |1 + x| is near 1, from what its square is beyond 1."""
    if not np.iscomplexobj(x):
        return np.log1p(x)
    made: Any = np.asarray(np.log(_parts(x.real + 1, x.imag)))
    beyond = x.real * (x.real + 2) + x.imag * x.imag
    np.copyto(made.real, np.log1p(beyond) / 2, where=np.abs(beyond) < 0.5)
    return made


def tanh(x: Any) -> Any:
    """The hyperbolic tangent; of ±inf and something finite, ±1 and a zero of that thing's sign."""
    made: Any = np.asarray(np.tanh(x))
    if np.iscomplexobj(x):
        ends = _parts(np.copysign(1, x.real), np.copysign(0, x.imag))
        np.copyto(made, ends, where=np.isinf(x.real) & np.isfinite(x.imag))
    return made


def _parts(real: Any, imaginary: Any) -> Any:
    """The complex numbers of these parts; `real + 1j * imaginary` would lose zeros and NaNs."""
    made: Any = np.empty(np.shape(real), np.result_type(real, np.complex64))
    made.real, made.imag = real, imaginary
    return made
