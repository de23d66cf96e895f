"""Steps of training whose state is carried from call to call: AdamW on an MLP, and the update of
many small parameters.

Comes in: a device. Goes out: works. All sides begin with the same weights and the same batch, so
the losses agree; every call reads the loss as a number, as training loops do. The state is donated,
or changed in place.
Never: data that is loaded; all steps see one batch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.harness.work import Run, Work
from benchmarks.shapes import SHAPES, normal

RATE, FIRST, SECOND, EPSILON, DECAY = 1e-3, 0.9, 0.999, 1e-8, 0.01
SMALL_PARAMETERS, SMALL_SIZE, SMALL_RATE = 150, 16, 0.1


def works(device: str) -> Iterator[Work]:
    """The step of the MLP, and that of small parameters."""
    yield mlp(device, **SHAPES["mlp"])
    yield small_parameters(device, SMALL_PARAMETERS)


def mlp(device: str, layers: Sequence[int], batch: int) -> Work:
    """One step of AdamW on an MLP with ReLU and the cross-entropy of its softmax."""
    products = [rows * columns for rows, columns in pairwise(layers)]
    numbers = sum(products) + sum(layers[1:])
    return Work(
        group="training",
        name=f"AdamW, {'-'.join(map(str, layers))}, batch {batch}",
        inputs=partial(_inputs, layers, batch),
        sides={
            "brimstone": partial(_our_mlp, device),
            "torch": partial(_torch_mlp, False),
            "torch compiled": partial(_torch_mlp, True),
            "jax": _jax_mlp,
        },
        bytes=4 * (6 * numbers + batch * (layers[0] + layers[-1])),  # weights, means and squares
        operations=2 * batch * (3 * sum(products) - products[0]),
        tolerance=1e-4,
    )


def _inputs(layers: Sequence[int], batch: int) -> list[np.ndarray]:
    """A weight and a bias for each layer; images, and a row with a single 1 for each."""
    shapes = list(pairwise(layers))
    *weights, images = normal(*shapes, (batch, layers[0]))
    parameters: list[np.ndarray] = []
    for weight in weights:
        scaled = weight * np.sqrt(2 / len(weight), dtype=np.float32)
        parameters += [scaled, np.zeros(weight.shape[1], np.float32)]
    classes = np.random.default_rng(1).integers(0, layers[-1], batch)
    return [*parameters, images, np.eye(layers[-1], dtype=np.float32)[classes]]


def loss(np_like: Any, parameters: Sequence[Any], images: Any, wanted: Any) -> Any:
    """The mean cross-entropy of an MLP's softmax with the wanted distributions."""
    x = images
    for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        x = np_like.maximum(np_like.matmul(x, weight) + bias, 0.0)
    x = np_like.matmul(x, parameters[-2]) + parameters[-1]
    top = np_like.max(x, axis=-1, keepdims=True)
    total = np_like.log(np_like.sum(np_like.exp(x - top), axis=-1, keepdims=True)) + top
    return np_like.mean(np_like.sum((total - x) * wanted, axis=-1))


def adamw(
    np_like: Any, value_and_grad: Callable[..., Any], state: Mapping[str, Any], *batch: Any
) -> Any:
    """One step: the new state, and the loss before it."""
    parameters, count = state["parameters"], state["count"] + 1
    value, gradients = value_and_grad(partial(loss, np_like))(parameters, *batch)
    means, squares, made = [], [], []
    given = zip(parameters, gradients, state["means"], state["squares"], strict=True)
    for parameter, gradient, old_mean, old_square in given:
        mean = FIRST * old_mean + (1 - FIRST) * gradient
        square = SECOND * old_square + (1 - SECOND) * gradient * gradient
        size = np_like.sqrt(square / (1 - SECOND**count)) + EPSILON
        change = mean / (1 - FIRST**count) / size + DECAY * parameter
        means.append(mean)
        squares.append(square)
        made.append(parameter - RATE * change)
    return {"parameters": made, "means": means, "squares": squares, "count": count}, value


def _training(step: Callable[..., Any], put: Callable[..., Any], *arrays: np.ndarray) -> Run:
    """Carries the state of a compiled `adamw` on; `put` makes an array the library's."""
    parameters, batch = [*map(put, arrays[:-2])], [*map(put, arrays[-2:])]
    means, squares = ([put(np.zeros_like(array)) for array in arrays[:-2]] for _ in range(2))
    count = put(np.zeros((), np.float32))
    state = {"parameters": parameters, "means": means, "squares": squares, "count": count}

    def run() -> float:
        nonlocal state
        state, value = step(state, *batch)
        return float(value)

    return run


def _our_mlp(device: str, *arrays: np.ndarray) -> Run:
    import brimstone as bs

    step = bs.jit(partial(adamw, bs, bs.value_and_grad), donate=0)
    return _training(step, partial(_ours, device), *arrays)


def _ours(device: str, array: np.ndarray) -> Any:
    import brimstone as bs

    return bs.asarray(array, device=device).sync()


def _jax_mlp(*arrays: np.ndarray) -> Run:
    jax = import_module("jax")
    step = jax.jit(partial(adamw, jax.numpy, jax.value_and_grad), donate_argnums=0)
    return _training(step, jax.device_put, *arrays)


def _torch_mlp(compiled: bool, *arrays: np.ndarray) -> Run:
    """With PyTorch's own layers, loss and optimiser; its classes are numbers."""
    torch = import_module("torch")
    *parameters, images, wanted = map(torch.from_numpy, arrays)
    model = torch.nn.Sequential()
    for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data, layer.bias.data = weight.T.contiguous(), bias.clone()
        model.extend([layer, torch.nn.ReLU()])
    model = model[:-1]
    options = {"lr": RATE, "betas": (FIRST, SECOND), "eps": EPSILON, "weight_decay": DECAY}
    optimizer = torch.optim.AdamW(model.parameters(), **options, fused=True)
    classes = wanted.argmax(1)
    forward = torch.compile(model) if compiled else model

    def run() -> float:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(forward(images), classes)
        value.backward()
        optimizer.step()
        return value.item()

    return run


def small_parameters(device: str, count: int) -> Work:
    """One step of gradient descent of parameters so small that only overheads are left."""
    return Work(
        group="training",
        name=f"{count} small parameters",
        inputs=partial(normal, *[(SMALL_SIZE,)] * (2 * count)),
        sides={
            "brimstone": partial(_our_descent, device),
            "numpy": partial(_descent, descend, np.asarray),
            "torch": _torch_descent,
            "jax": _jax_descent,
        },
        bytes=3 * 4 * SMALL_SIZE * count,
    )


def descend(parameters: Mapping[str, Any], gradients: Mapping[str, Any]) -> dict[str, Any]:
    """The new parameters."""
    return {name: parameters[name] - SMALL_RATE * gradients[name] for name in parameters}


def _descent(step: Callable[..., Any], put: Callable[..., Any], *arrays: np.ndarray) -> Run:
    """Carries the parameters on: the first half of the arrays, named so that sorting, which JAX
    does, leaves their order."""
    half = len(arrays) // 2
    state, gradients = (
        {f"weight {at:03}": put(array) for at, array in enumerate(each)}
        for each in (arrays[:half], arrays[half:])
    )

    def run() -> Any:
        nonlocal state
        state = step(state, gradients)
        return state

    return run


def _our_descent(device: str, *arrays: np.ndarray) -> Run:
    import brimstone as bs

    step = bs.jit(descend)

    def synced(*trees: Any) -> Any:
        made = step(*trees)
        bs.sync(made)
        return made

    return _descent(synced, partial(_ours, device), *arrays)


def _jax_descent(*arrays: np.ndarray) -> Run:
    jax = import_module("jax")
    step = jax.jit(descend)
    return _descent(lambda *trees: jax.block_until_ready(step(*trees)), jax.device_put, *arrays)


def _torch_descent(*arrays: np.ndarray) -> Run:
    """In place and all at once, the fastest way that PyTorch has."""
    torch = import_module("torch")
    half = len(arrays) // 2
    parameters = [torch.from_numpy(array.copy()) for array in arrays[:half]]
    gradients = [torch.from_numpy(array) for array in arrays[half:]]

    def run() -> Any:
        torch._foreach_add_(parameters, gradients, alpha=-SMALL_RATE)
        return parameters

    return run
