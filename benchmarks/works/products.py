"""Products of matrices of f32, at the shapes of real layers."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness.work import Prepare, Run, Work, compiled, jitted_jax
from benchmarks.works.shapes import SHAPES, normal


def works(device: str) -> Iterator[Work]:
    """One for each shape."""
    for m, n, k in SHAPES["matmul_cpu"]:
        yield Work(
            group="matmul, f32",
            name=f"matmul {m}x{n}x{k}",
            inputs=partial(normal, (m, k), (k, n)),
            sides=_sides(device),
            bytes=4 * (m * k + k * n + m * n),
            operations=2 * m * n * k,
            tolerance=1e-4,
        )


def _sides(device: str) -> dict[str, Prepare]:
    def product(np_like: Any, left: Any, right: Any) -> Any:
        return np_like.matmul(left, right)

    return {
        "brimstone": compiled(product, device),
        "numpy": _numpy_into_kept,
        "torch": _torch_into_kept,
        "jax": jitted_jax(product),
    }


def _numpy_into_kept(left: np.ndarray, right: np.ndarray) -> Run:
    kept = np.empty((left.shape[0], right.shape[1]), np.float32)
    return lambda: np.matmul(left, right, out=kept)


def _torch_into_kept(*arrays: np.ndarray) -> Run:
    torch = import_module("torch")
    left, right = map(torch.from_numpy, arrays)
    kept = torch.empty(left.shape[0], right.shape[1])
    return lambda: torch.matmul(left, right, out=kept)
