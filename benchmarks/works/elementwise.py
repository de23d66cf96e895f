"""Chains of elementwise ops: a GELU by hand, SwiGLU, the update of Adam; and a copy as the roof.

Every contestant computes the same formulas, written out; PyTorch does so op by op.
"""

from collections.abc import Iterator
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from benchmarks.harness.work import (
    Prepare,
    Run,
    Work,
    compiled,
    eager_torch,
    jitted_jax,
    plain_numpy,
)
from benchmarks.works.shapes import SHAPES, counted, normal

SLOPE, CUBIC = sqrt(2 / np.pi), 0.044715
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


def works(device: str) -> Iterator[Work]:
    """The three chains at each size."""
    for size in SHAPES["elementwise_sizes_cpu"]:
        for name, formula, reads, writes in (
            ("GELU by hand", gelu, 1, 1),
            ("SwiGLU", swiglu, 2, 1),
            ("Adam update", adam, 4, 3),
        ):
            moved = (reads + writes) * 4 * size
            yield Work(
                group="elementwise",
                name=f"{name}, {counted(size)}",
                inputs=partial(_inputs, size, reads),
                sides={
                    "brimstone": compiled(formula, device),
                    "numpy": plain_numpy(formula),
                    "torch": eager_torch(formula),
                    "jax": jitted_jax(formula),
                    "copy": _copy(moved),
                },
                bytes=moved,
            )


def _inputs(size: int, count: int) -> list[np.ndarray]:
    made = normal(*[(size,)] * count)
    return [*made[:3], np.abs(made[3])] if count == 4 else made


def _copy(moved: int) -> Prepare:
    """`np.copyto` between arrays that have been touched, moving as many bytes."""

    def prepare(*_: np.ndarray) -> Run:
        source = np.ones(moved // 8, np.float32)
        destination = np.ones_like(source)
        return lambda: (np.copyto(destination, source), ())[1]

    return prepare
