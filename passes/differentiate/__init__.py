"""Differentiation, as passes on the tensor floor: forward, apart, and transposed.

Comes in: a func. Goes out: funcs that compute tangents (`jvp`), the linear function of tangents
(`linearise`), its transpose (`transpose`), or outputs and gradients at once (`vjp`).
Never: a rule of a single op; those stand with the ops. `docs/differentiate.md` tells how it works.
"""

from .errors import NotDifferentiable
from .transforms import Linearised, Origin, Source, jvp, linearise, transpose, vjp

__all__ = [
    "Linearised", "NotDifferentiable", "Origin", "Source", "jvp", "linearise", "transpose", "vjp",
]  # fmt: skip
