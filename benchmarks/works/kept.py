"""The chains of elementwise ops, written out for results in memory that is kept.

Comes in: what a chain computes, and how many arrays it makes. Goes out: a side for each library:
numpy and PyTorch write every op to arrays made beforehand (`out=`), JAX is given its last results
to write over (donation). Ours needs nothing: its pool keeps memory.
Never: a page that was not touched before the clock started.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness.work import Prepare, Run
from benchmarks.works.formulas import CUBIC, EPSILON, FIRST, RATE, SECOND, SLOPE

Into = Callable[..., Any]
"""Takes numpy or PyTorch, the kept arrays, and the inputs."""


def gelu(lib: Any, kept: Sequence[Any], x: Any) -> Any:
    """`formulas.gelu`."""
    (made,) = kept
    lib.multiply(x, x, out=made)
    lib.multiply(made, x, out=made)
    lib.multiply(made, CUBIC, out=made)
    lib.add(made, x, out=made)
    lib.multiply(made, SLOPE, out=made)
    lib.tanh(made, out=made)
    lib.add(made, 1, out=made)
    lib.multiply(made, x, out=made)
    return lib.multiply(made, 0.5, out=made)


def swiglu(lib: Any, kept: Sequence[Any], x: Any, gate: Any) -> Any:
    """`formulas.swiglu`."""
    (made,) = kept
    lib.negative(gate, out=made)
    lib.exp(made, out=made)
    lib.add(made, 1, out=made)
    lib.divide(gate, made, out=made)
    return lib.multiply(made, x, out=made)


def adam(lib: Any, kept: Sequence[Any], *inputs: Any) -> Any:
    """`formulas.adam`; the last of the kept arrays is scratch."""
    parameter, gradient, old_mean, old_square = inputs
    made, mean, square, scratch = kept
    lib.multiply(old_mean, FIRST, out=mean)
    lib.multiply(gradient, 1 - FIRST, out=scratch)
    lib.add(mean, scratch, out=mean)
    lib.multiply(gradient, gradient, out=scratch)
    lib.multiply(scratch, 1 - SECOND, out=scratch)
    lib.multiply(old_square, SECOND, out=square)
    lib.add(square, scratch, out=square)
    lib.sqrt(square, out=scratch)
    lib.add(scratch, EPSILON, out=scratch)
    lib.divide(mean, scratch, out=scratch)
    lib.multiply(scratch, RATE, out=scratch)
    lib.subtract(parameter, scratch, out=made)
    return made, mean, square


def numpy_into(formula: Into, count: int) -> Prepare:
    """numpy, with `count` kept arrays."""

    def prepare(*arrays: np.ndarray) -> Run:
        kept = [np.zeros_like(arrays[0]) for _ in range(count)]
        return lambda: formula(np, kept, *arrays)

    return prepare


def torch_into(formula: Into, count: int) -> Prepare:
    """PyTorch, with `count` kept tensors."""

    def prepare(*arrays: np.ndarray) -> Run:
        torch = import_module("torch")
        tensors = [torch.from_numpy(array) for array in arrays]
        kept = [torch.zeros_like(tensors[0]) for _ in range(count)]
        return lambda: formula(torch, kept, *tensors)

    return prepare


def donating_jax(formula: Callable[..., Any], count: int) -> Prepare:
    """JAX, of which each call writes its `count` results over those of the call before."""

    def prepare(*arrays: np.ndarray) -> Run:
        jax = import_module("jax")
        tensors = [jax.device_put(array) for array in arrays]

        def into(_: Any, *given: Any) -> Any:
            made = formula(jax.numpy, *given)
            return made if isinstance(made, tuple) else (made,)

        step = jax.jit(into, donate_argnums=0, keep_unused=True)
        kept = tuple(jax.numpy.zeros_like(tensors[0]) for _ in range(count))

        def run() -> Any:
            nonlocal kept
            kept = jax.block_until_ready(step(kept, *tensors))
            return kept

        return run

    return prepare
