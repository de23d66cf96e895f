"""Products of matrices of f32, at the shapes of real layers: in every layout, in batches, and with
the bias and the GELU of a layer behind them."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness.work import Run, Work, compiled, jitted_jax
from benchmarks.shapes import SHAPES, normal

Formula = Callable[..., Any]
TURNED = [(512, 512, 512), (1024, 1024, 1024), (777, 1111, 2049)]
LAYERS = [(64, 768, 3072), (256, 1024, 256), (1024, 3072, 768)]


def works(device: str) -> Iterator[Work]:
    """One for each shape."""
    for m, n, k in SHAPES["matmul_cpu"]:
        yield _product(device, "matmul, f32", f"matmul {m}x{n}x{k}", (m, k), (k, n))
    for layout in SHAPES["matmul_layouts"]:
        for m, n, k in TURNED if layout != "nn" else ():
            sides = _turned_shape(layout[0], (m, k)), _turned_shape(layout[1], (k, n))
            name = f"matmul {layout} {m}x{n}x{k}"
            yield _product(device, "matmul, transposed", name, *sides, layout)
    for count, m, n, k in SHAPES["batched_matmul"]:
        name = f"matmul {count} of {m}x{n}x{k}"
        yield _product(device, "matmul, batched", name, (count, m, k), (count, k, n))
    for m, n, k in LAYERS:
        yield _layer(device, m, n, k)


def _product(
    device: str,
    group: str,
    name: str,
    left: tuple[int, ...],
    right: tuple[int, ...],
    layout: str = "nn",
) -> Work:
    """A product of two matrices, or of two batches of them."""

    def product(np_like: Any, x: Any, y: Any) -> Any:
        return np_like.matmul(*_turned(layout, x, y))

    *batch, rows, inner = _turned_shape(layout[0], left)
    columns = _turned_shape(layout[1], right)[-1]
    made = (*batch, rows, columns)
    return Work(
        group=group,
        name=name,
        inputs=partial(normal, left, right),
        sides={
            "brimstone": compiled(product, device),
            "numpy": partial(_numpy_into_kept, product, made),
            "torch": partial(_torch_into_kept, product, made),
            "jax": jitted_jax(product),
        },
        bytes=4 * (int(np.prod(left)) + int(np.prod(right)) + int(np.prod(made))),
        operations=2 * int(np.prod(made)) * inner,
        tolerance=1e-4,
    )


def _turned(layout: str, *operands: Any) -> list[Any]:
    """Operands as they lie, or seen with rows as columns."""
    return [x.T if how == "t" else x for how, x in zip(layout, operands, strict=True)]


def _turned_shape(how: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape[::-1] if how == "t" else shape


def _numpy_into_kept(
    product: Formula, shape: tuple[int, ...], left: np.ndarray, right: np.ndarray
) -> Run:
    kept = np.empty(shape, np.float32)
    return lambda: product(_Into(np, kept), left, right)


def _torch_into_kept(
    product: Formula, shape: tuple[int, ...], left: np.ndarray, right: np.ndarray
) -> Run:
    torch = import_module("torch")
    operands = [torch.from_numpy(each) for each in (left, right)]
    return partial(product, _Into(torch, torch.empty(shape)), *operands)


class _Into:
    """A library whose products go into memory that is kept, as a compiled step's do."""

    def __init__(self, library: Any, kept: Any) -> None:
        self.library, self.kept = library, kept

    def matmul(self, left: Any, right: Any) -> Any:
        """The product."""
        return self.library.matmul(left, right, out=self.kept)


def _layer(device: str, m: int, n: int, k: int) -> Work:
    """A linear layer with the exact GELU behind it, as each library's users write it."""
    return Work(
        group="linear, bias and GELU, f32",
        name=f"layer {m}x{n}x{k}",
        inputs=partial(normal, (m, k), (k, n), (n,)),
        sides={"brimstone": compiled(_ours, device), "torch": _torch_layer, "jax": _jax_layer},
        bytes=4 * (m * k + k * n + n + m * n),
        operations=2 * m * n * k,
        tolerance=1e-4,
    )


def _ours(bs: Any, x: Any, weight: Any, bias: Any) -> Any:
    return bs.gelu(bs.matmul(x, weight) + bias)


def _torch_layer(*arrays: np.ndarray) -> Run:
    torch = import_module("torch")
    x, weight, bias = map(torch.from_numpy, arrays)

    def run() -> Any:
        with torch.no_grad():
            return torch.nn.functional.gelu(torch.addmm(bias, x, weight))

    return run


def _jax_layer(*arrays: np.ndarray) -> Run:
    jax = import_module("jax")

    def layer(np_like: Any, x: Any, weight: Any, bias: Any) -> Any:
        return jax.nn.gelu(np_like.matmul(x, weight) + bias, approximate=False)

    return jitted_jax(layer)(*arrays)
