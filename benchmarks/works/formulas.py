"""The chains of elementwise ops that are timed: a GELU by hand, SwiGLU, the update of Adam.

Comes in: a library with numpy's names, and its arrays. Goes out: arrays of that library.
"""

from math import pi, sqrt
from typing import Any

SLOPE, CUBIC = sqrt(2 / pi), 0.044715
RATE, FIRST, SECOND, EPSILON = 1e-3, 0.9, 0.999, 1e-8


def gelu(np_like: Any, x: Any) -> Any:
    """The approximation with tanh."""
    return 0.5 * x * (1 + np_like.tanh(SLOPE * (x + CUBIC * x * x * x)))


def swiglu(np_like: Any, x: Any, gate: Any) -> Any:
    """x times the SiLU of a gate."""
    return x * (gate / (1 + np_like.exp(-gate)))


def adam(np_like: Any, parameter: Any, gradient: Any, mean: Any, square: Any) -> Any:
    """One step of Adam; its new parameter, mean and square."""
    mean = FIRST * mean + (1 - FIRST) * gradient
    square = SECOND * square + (1 - SECOND) * gradient * gradient
    return parameter - RATE * mean / (np_like.sqrt(square) + EPSILON), mean, square
