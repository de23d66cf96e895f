"""Convolutions of images of f32 at the shapes of real layers, and both of their gradients."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

from benchmarks.harness.work import Prepare, Work, compiled, eager_torch, jitted_jax
from benchmarks.shapes import SHAPES, normal

Shape = tuple[int, ...]


def works(device: str) -> Iterator[Work]:
    """For each shape the convolution, and the cotangents of its images and of its kernel."""
    for layer in SHAPES["conv2d_cpu"]:
        size, window, stride = (layer[name] for name in ("size", "kernel", "stride"))
        padding = window // 2
        places = (size + 2 * padding - window) // stride + 1
        images = (layer["batch"], layer["in"], size, size)
        kernel = (layer["out"], layer["in"], window, window)
        result = (layer["batch"], layer["out"], places, places)
        count = images[0] * result[1] * places**2
        shapes = {"forward": (images, kernel), "images": (kernel, result, images)}
        shapes["kernel"] = (images, result, kernel)
        for name, inputs in shapes.items():
            yield Work(
                group="convolution, f32",
                name=f"{name} {'x'.join(map(str, images))}, {layer['out']} of {window}, {stride}",
                inputs=partial(normal, *inputs[:2]),
                sides=_sides(device, name, stride, padding, inputs[-1]),
                bytes=4 * sum(map(_count, (images, kernel, result))),
                operations=2 * count * _count(kernel[1:]),
                tolerance=1e-4,
            )


def _count(shape: Shape) -> int:
    return prod(shape)


def _sides(
    device: str, name: str, stride: int, padding: int, shape: Shape
) -> Mapping[str, Prepare]:
    return {
        "brimstone": compiled(_of(name, _ours(stride, padding), shape), device),
        "torch": eager_torch(_of_torch(name, stride, padding, shape)),
        "jax": jitted_jax(_of_jax(name, stride, padding, shape)),
    }


def _ours(stride: int, padding: int) -> Callable[..., Any]:
    def convolution(bs: Any, x: Any, kernel: Any) -> Any:
        return bs.convolve(x, kernel, stride=stride, padding=padding)

    return convolution


def _of(name: str, convolution: Callable[..., Any], shape: Shape) -> Callable[..., Any]:
    """The convolution, or its transpose in one operand."""
    if name == "forward":
        return convolution
    if name == "images":
        return lambda bs, kernel, cotangent: bs.vjp(
            lambda x: convolution(bs, x, kernel), bs.zeros(shape, device=kernel.device)
        )[1](cotangent)
    return lambda bs, x, cotangent: bs.vjp(
        lambda kernel: convolution(bs, x, kernel), bs.zeros(shape, device=x.device)
    )[1](cotangent)


def _of_torch(name: str, stride: int, padding: int, shape: Shape) -> Callable[..., Any]:
    def function(torch: Any, one: Any, other: Any) -> Any:
        steps = {"stride": stride, "padding": padding}
        if name == "forward":
            return torch.nn.functional.conv2d(one, other, **steps)
        if name == "images":
            return torch.nn.grad.conv2d_input(shape, one, other, **steps)
        return torch.nn.grad.conv2d_weight(one, shape, other, **steps)

    return function


def _of_jax(name: str, stride: int, padding: int, shape: Shape) -> Callable[..., Any]:
    def function(numpy: Any, one: Any, other: Any) -> Any:
        jax = import_module("jax")

        def convolution(x: Any, kernel: Any) -> Any:
            border = [(padding, padding)] * 2
            return jax.lax.conv_general_dilated(x, kernel, (stride, stride), border)

        if name == "forward":
            return convolution(one, other)
        if name == "images":
            return jax.vjp(lambda x: convolution(x, one), numpy.zeros(shape))[1](other)[0]
        return jax.vjp(lambda kernel: convolution(one, kernel), numpy.zeros(shape))[1](other)[0]

    return function
