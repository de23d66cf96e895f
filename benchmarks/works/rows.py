"""Functions of rows: softmax, layer norm, RMS norm, cross-entropy; forward and backward, along the
last and the first axis.

Backward is the gradient of the first inputs (of a norm: of its weights, too) for a given cotangent,
timed alone: from what each library's forward pass kept. Norms multiply by 1 / √variance, as
PyTorch's kernels do: one division a row.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness.work import Prepare, Run, Work, compiled, eager_torch, jitted_jax
from benchmarks.shapes import SHAPES, normal

EPSILON = 1e-5
Function = Callable[..., Any]


def softmax(np_like: Any, x: Any, axis: int) -> Any:
    """exp(x) over its sum."""
    shifted = np_like.exp(x - np_like.max(x, axis=axis, keepdims=True))
    return shifted / np_like.sum(shifted, axis=axis, keepdims=True)


def layer_norm(np_like: Any, x: Any, weight: Any, bias: Any, axis: int) -> Any:
    """Mean 0, variance 1, then the weights."""
    mean = np_like.mean(x, axis=axis, keepdims=True)
    centred = x - mean
    variance = np_like.mean(centred * centred, axis=axis, keepdims=True)
    return centred * (1 / np_like.sqrt(variance + EPSILON)) * weight + bias


def rms_norm(np_like: Any, x: Any, weight: Any, axis: int) -> Any:
    """Mean square 1, then the weight."""
    square = np_like.mean(x * x, axis=axis, keepdims=True)
    return x * (1 / np_like.sqrt(square + EPSILON)) * weight


def cross_entropy(np_like: Any, x: Any, wanted: Any, axis: int) -> Any:
    """The mean of -log(softmax) weighted by `wanted`."""
    top = np_like.max(x, axis=axis, keepdims=True)
    total = np_like.log(np_like.sum(np_like.exp(x - top), axis=axis, keepdims=True)) + top
    return np_like.mean(np_like.sum((total - x) * wanted, axis=axis))


FUNCTIONS: dict[str, tuple[Function, int]] = {
    "softmax": (softmax, 0),
    "layer norm": (layer_norm, 2),
    "RMS norm": (rms_norm, 1),
    "cross-entropy": (cross_entropy, 0),
}
"""Each with how many weights along the axis it takes."""


def works(device: str) -> Iterator[Work]:
    """All functions, on all shapes, along both axes, both ways."""
    for name, (function, weights) in FUNCTIONS.items():
        for rows, columns in SHAPES["rows_cpu"]:
            for axis in (-1, 0):
                yield from _both_ways(device, name, function, weights, (rows, columns), axis)


def _both_ways(
    device: str, name: str, function: Function, weights: int, shape: tuple[int, int], axis: int
) -> Iterator[Work]:
    rows, columns = shape
    where = f"{name} {rows}x{columns}, {'last' if axis else 'first'} axis"
    inputs = partial(_inputs, name, weights, shape, axis)
    size = rows * columns * 4
    reads = 2 if name == "cross-entropy" else 1
    forward = partial(function, axis=axis)
    yield Work(
        group="rows, forward",
        name=where,
        inputs=inputs,
        sides=_forward(forward, name, axis, device),
        bytes=size * (1 if name == "cross-entropy" else 2) + size * (reads - 1),
        tolerance=2e-4,
    )
    yield Work(
        group="rows, backward",
        name=f"{where}, backward",
        inputs=partial(_with_cotangent, inputs, name),
        sides=_backward(forward, name, 1 + weights, axis, device),
        bytes=size * (2 if name == "cross-entropy" else 3),
        tolerance=2e-4,
    )


def _inputs(name: str, weights: int, shape: tuple[int, int], axis: int) -> list[np.ndarray]:
    if name == "cross-entropy":
        x, wanted = normal(shape, shape)
        wanted = np.abs(wanted) / np.abs(wanted).sum(axis, keepdims=True)
        return [x, wanted]
    along = (1, shape[1]) if axis else (shape[0], 1)
    return normal(shape, *[along] * weights)


def _with_cotangent(inputs: Callable[[], list[np.ndarray]], name: str) -> list[np.ndarray]:
    arrays = inputs()
    shape = () if name == "cross-entropy" else arrays[0].shape
    return [*arrays, np.asarray(normal(shape)[0], np.float32)]


def _forward(forward: Function, name: str, axis: int, device: str) -> dict[str, Prepare]:
    return {
        "brimstone": compiled(forward, device),
        "torch": eager_torch(partial(_torch_function, name, axis)),
        "jax": jitted_jax(forward),
    }


def _backward(
    forward: Function, name: str, count: int, axis: int, device: str
) -> dict[str, Prepare]:
    return {
        "brimstone": partial(_our_backward, forward, count, device),
        "torch": partial(_torch_backward, name, axis, count),
        "jax": partial(_jax_backward, forward, count),
    }


def _our_backward(forward: Function, count: int, device: str, *arrays: np.ndarray) -> Run:
    import brimstone as bs

    *inputs, cotangent = [bs.asarray(array, device=device).sync() for array in arrays]
    kept = inputs[count:]
    pull = bs.vjp(lambda *given: forward(bs, *given, *kept), *inputs[:count])[1]
    step = bs.jit(pull)

    def run() -> Any:
        made = step(cotangent)
        bs.sync(made)
        return made

    return run


def _jax_backward(forward: Function, count: int, *arrays: np.ndarray) -> Run:
    jax = import_module("jax")
    *inputs, cotangent = map(jax.device_put, arrays)
    kept = inputs[count:]
    pull = jax.vjp(lambda *given: forward(jax.numpy, *given, *kept), *inputs[:count])[1]
    step = jax.jit(lambda pull, given: pull(given))
    return lambda: jax.block_until_ready(step(pull, cotangent))


def _torch_function(name: str, axis: int, torch: Any, *tensors: Any) -> Any:
    """PyTorch's own kernels; along the first axis it has none for norms but its ops."""
    x, *rest = tensors
    if name == "softmax":
        return torch.softmax(x, axis)
    if name == "cross-entropy":
        return -(torch.log_softmax(x, axis) * rest[0]).sum(axis).mean()
    if axis == -1 and name == "layer norm":
        weight, bias = (each.reshape(-1) for each in rest)
        return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, EPSILON)
    if axis == -1:
        return torch.nn.functional.rms_norm(x, x.shape[-1:], rest[0].reshape(-1), EPSILON)
    if name == "layer norm":
        variance, mean = torch.var_mean(x, axis, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + EPSILON) * rest[0] + rest[1]
    return x * torch.rsqrt((x * x).mean(axis, keepdim=True) + EPSILON) * rest[0]


def _torch_backward(name: str, axis: int, count: int, *arrays: np.ndarray) -> Run:
    torch = import_module("torch")
    *inputs, cotangent = map(torch.from_numpy, arrays)
    for each in inputs[:count]:
        each.requires_grad_()
    made = _torch_function(name, axis, torch, *inputs)
    return lambda: torch.autograd.grad(made, inputs[:count], cotangent, retain_graph=True)
