"""The demo's step in other libraries, each as its users write it.

Comes in: first weights, points and their sides, as numpy arrays. Goes out: a function that trains
one step and gives the loss before it.
Never: a library that is imported before it is asked for; none but numpy need be installed.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from .spirals import MEAN_DECAY, RATE, SMALL, SQUARE_DECAY, Array

Weights = Mapping[str, Array]
Advance = Callable[[], Any]
Prepare = Callable[[Weights, Array, Array], Advance]


def installed() -> dict[str, Prepare]:
    """The libraries that are here, by the names that people call them."""
    return {name: prepare for name, (module, prepare) in PEERS.items() if find_spec(module)}


def with_numpy(weights: Weights, points: Array, sides: Array) -> Advance:
    """Op by op, with derivatives by hand."""
    weights = {name: value.copy() for name, value in weights.items()}
    mean = {name: np.zeros_like(value) for name, value in weights.items()}
    square = {name: np.zeros_like(value) for name, value in weights.items()}
    count = 0

    def advance() -> Any:
        nonlocal count
        count += 1
        value, slopes = numpy_slopes(weights, points, sides)
        rate = RATE * (1 - SQUARE_DECAY**count) ** 0.5 / (1 - MEAN_DECAY**count)
        for name, slope in slopes.items():
            mean[name] = MEAN_DECAY * mean[name] + (1 - MEAN_DECAY) * slope
            square[name] = SQUARE_DECAY * square[name] + (1 - SQUARE_DECAY) * slope * slope
            weights[name] = weights[name] - rate * mean[name] / (np.sqrt(square[name]) + SMALL)
        return value

    return advance


def numpy_slopes(weights: Weights, points: Array, sides: Array) -> tuple[Any, dict[str, Array]]:
    """The loss and its derivatives, which are worked out on paper."""
    hidden = np.tanh(points @ weights["inner"] + weights["shift"])
    surprise = -sides * (hidden @ weights["outer"] + weights["level"])
    slope = -sides / (1 + np.exp(-surprise)) / np.float32(len(points))
    behind = slope[:, None] * weights["outer"] * (1 - hidden * hidden)
    slopes = {
        "inner": points.T @ behind,
        "shift": behind.sum(axis=0),
        "outer": hidden.T @ slope,
        "level": slope.sum(),
    }
    return np.logaddexp(np.float32(0), surprise).mean(), slopes


def with_torch(weights: Weights, points: Array, sides: Array) -> Advance:
    """Op by op, with the derivatives and the Adam of PyTorch."""
    torch: Any = import_module("torch")

    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
    inputs, wanted = torch.from_numpy(points), torch.from_numpy(sides)
    optimizer = torch.optim.Adam(
        tensors.values(), lr=RATE, betas=(MEAN_DECAY, SQUARE_DECAY), eps=SMALL
    )

    def advance() -> Any:
        optimizer.zero_grad()
        hidden = torch.tanh(inputs @ tensors["inner"] + tensors["shift"])
        scores = hidden @ tensors["outer"] + tensors["level"]
        loss = torch.nn.functional.softplus(-wanted * scores).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return advance


def with_jax(weights: Weights, points: Array, sides: Array) -> Advance:
    """Compiled by JAX."""
    jax, jnp = import_module("jax"), import_module("jax.numpy")

    def loss(weights: Any, points: Any, sides: Any) -> Any:
        hidden = jnp.tanh(points @ weights["inner"] + weights["shift"])
        scores = hidden @ weights["outer"] + weights["level"]
        return jax.nn.softplus(-sides * scores).mean()

    def step(state: Any, points: Any, sides: Any) -> Any:
        weights, mean, square, count = state
        value, slopes = jax.value_and_grad(loss)(weights, points, sides)
        count = count + 1
        rate = RATE * jnp.sqrt(1 - SQUARE_DECAY**count) / (1 - MEAN_DECAY**count)
        mean = jax.tree.map(lambda m, g: MEAN_DECAY * m + (1 - MEAN_DECAY) * g, mean, slopes)
        square = jax.tree.map(
            lambda s, g: SQUARE_DECAY * s + (1 - SQUARE_DECAY) * g * g, square, slopes
        )
        weights = jax.tree.map(
            lambda w, m, s: w - rate * m / (jnp.sqrt(s) + SMALL), weights, mean, square
        )
        return (weights, mean, square, count), value

    compiled = jax.jit(step, donate_argnums=0)
    batch = jax.device_put((points, sides))
    first = {name: jnp.asarray(value) for name, value in weights.items()}
    state = (first, *(jax.tree.map(jnp.zeros_like, first) for _ in range(2)), jnp.zeros(()))

    def advance() -> Any:
        nonlocal state
        state, value = jax.block_until_ready(compiled(state, *batch))
        return value

    return advance


PEERS: dict[str, tuple[str, Prepare]] = {
    "numpy": ("numpy", with_numpy),
    "PyTorch": ("torch", with_torch),
    "JAX": ("jax", with_jax),
}
