"""The demo's step in other libraries, each as its users write it.

Comes in: first weights by path, and a batch, as numpy's arrays. Goes out: a function that trains
one step of Adam and gives the loss before it.
Never: a library that is imported before it is asked for; none but numpy need be installed.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ...data import Example
from .by_hand import BETAS, RATE, SMALL, with_numpy
from .digits import CLASSES, Array

Weights = Mapping[str, Array]
Advance = Callable[[], Any]
Prepare = Callable[[Weights, Example], Advance]


def installed() -> dict[str, Prepare]:
    """The libraries that are here, by the names that people call them."""
    return {name: prepare for name, (module, prepare) in PEERS.items() if find_spec(module)}


def with_torch(weights: Weights, batch: Example) -> Advance:
    """Op by op, with the derivatives and the Adam of PyTorch."""
    torch: Any = import_module("torch")
    nn = torch.nn

    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, CLASSES),
    )  # fmt: skip
    for parameter, value in zip(model.parameters(), weights.values(), strict=True):
        parameter.data = torch.tensor(value)
    images, labels = torch.tensor(batch.input), torch.tensor(batch.label)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=BETAS, eps=SMALL)

    def advance() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return advance


def with_jax(weights: Weights, batch: Example) -> Advance:
    """Compiled by JAX."""
    jax, jnp = import_module("jax"), import_module("jax.numpy")
    one, two = BETAS

    def convolved(images: Any, weights: Any, name: str) -> Any:
        made = jax.lax.conv(images, weights[f"{name}.weight"], (1, 1), "SAME")
        return jax.nn.relu(made + weights[f"{name}.bias"][:, None, None])

    def dense(inputs: Any, weights: Any, name: str) -> Any:
        return inputs @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def loss(weights: Any, images: Any, labels: Any) -> Any:
        shapes = convolved(convolved(images, weights, "strokes"), weights, "shapes")
        window = (1, 1, 2, 2)
        places = jax.lax.reduce_window(shapes, -jnp.inf, jax.lax.max, window, window, "VALID")
        parts = jax.nn.relu(dense(places.reshape(len(images), -1), weights, "parts"))
        known = jax.nn.log_softmax(dense(parts, weights, "digits"))
        return -jnp.take_along_axis(known, labels[:, None], axis=1).mean()

    def step(state: Any, images: Any, labels: Any) -> Any:
        weights, mean, square, count = state
        value, slopes = jax.value_and_grad(loss)(weights, images, labels)
        count = count + 1
        rate = RATE * jnp.sqrt(1 - two**count) / (1 - one**count)
        mean = jax.tree.map(lambda m, g: one * m + (1 - one) * g, mean, slopes)
        square = jax.tree.map(lambda s, g: two * s + (1 - two) * g * g, square, slopes)
        moves = jax.tree.map(lambda m, s: rate * m / (jnp.sqrt(s) + SMALL), mean, square)
        return (jax.tree.map(jnp.subtract, weights, moves), mean, square, count), value

    compiled = jax.jit(step, donate_argnums=0)
    given = jax.device_put((batch.input, batch.label))
    first = {name: jnp.asarray(value) for name, value in weights.items()}
    state = (first, *(jax.tree.map(jnp.zeros_like, first) for _ in range(2)), jnp.zeros(()))

    def advance() -> Any:
        nonlocal state
        state, value = jax.block_until_ready(compiled(state, *given))
        return value

    return advance


PEERS: dict[str, tuple[str, Prepare]] = {
    "numpy": ("numpy", with_numpy),
    "PyTorch": ("torch", with_torch),
    "JAX": ("jax", with_jax),
}
