"""What is timed: a piece of work, and how each library does it.

Comes in: inputs, and for each library a function that makes them ready. Goes out: a `Work`.
Never: a clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

Run = Callable[[], Any]
Prepare = Callable[..., Run]
"""Takes the inputs as numpy arrays, makes them the library's, and gives what one round calls: it
returns when the work is done, with its results."""


@dataclass(frozen=True)
class Work:
    """One work at one size.

    `bytes` counts what must be read and written once, `operations` what must be computed.
    `tolerance` is relative to the largest number of a result, as libraries sum in other orders.
    Each contestant is called `calls_before` times before a clock starts; what the last of these
    calls returns must agree. It is called `together` times at least in each of its turns.
    """

    group: str
    name: str
    inputs: Callable[[], Sequence[np.ndarray]]
    sides: Mapping[str, Prepare]
    bytes: int = 0
    operations: int = 0
    tolerance: float = 1e-5
    checked: bool = True
    calls_before: int = 2
    together: int = 1


@dataclass
class Timing:
    """The seconds of a contestant, one figure a round; beside a neighbour also those while that is
    at rest."""

    name: str
    seconds: list[float] = field(default_factory=list[float])
    at_rest: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        """The middle round."""
        return float(np.median(self.seconds))

    @property
    def slower(self) -> float:
        """How many times slower it was beside the neighbour, in the middle round."""
        pairs = zip(self.seconds, self.at_rest, strict=True)
        return float(np.median([beside / alone for beside, alone in pairs]))

    @property
    def spread(self) -> float:
        """How far the middle half of the rounds reaches, as a part of the median."""
        low, high = np.percentile(self.seconds, (25, 75))
        return float((high - low) / self.median)


def compiled(function: Callable[..., Any], device: str) -> Prepare:
    """Ours: `function(bs, *tensors)`, compiled, on a device."""

    def prepare(*arrays: np.ndarray) -> Run:
        import brimstone as bs

        tensors = [bs.asarray(array, device=device).sync() for array in arrays]
        step = bs.jit(partial(function, bs))

        def run() -> Any:
            made = step(*tensors)
            bs.sync(made)
            return made

        return run

    return prepare


def eager_torch(function: Callable[..., Any]) -> Prepare:
    """`function(torch, *tensors)` op by op, without gradients."""

    def prepare(*arrays: np.ndarray) -> Run:
        torch = import_module("torch")
        tensors = [torch.from_numpy(array) for array in arrays]

        def run() -> Any:
            with torch.no_grad():
                return function(torch, *tensors)

        return run

    return prepare


def jitted_jax(function: Callable[..., Any]) -> Prepare:
    """`function(jax.numpy, *arrays)`, compiled."""

    def prepare(*arrays: np.ndarray) -> Run:
        jax = import_module("jax")
        tensors = [jax.device_put(array) for array in arrays]
        step = jax.jit(partial(function, jax.numpy))
        return lambda: jax.block_until_ready(step(*tensors))

    return prepare


def plain_numpy(function: Callable[..., Any]) -> Prepare:
    """`function(numpy, *arrays)`, op by op."""
    return lambda *arrays: lambda: function(np, *arrays)


def as_arrays(made: Any) -> list[np.ndarray]:
    """The results of a run as numpy arrays."""
    if isinstance(made, Mapping):
        made = tuple(made.values())
    several = made if isinstance(made, tuple | list) else (made,)
    return [np.asarray(each) for each in several]
