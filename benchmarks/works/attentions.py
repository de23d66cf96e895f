"""Attention of f32, at the shapes of real models: forward, and with all gradients.

Comes in: a device. Goes out: works, causal and not.
Never: a mask of numbers; causal attention is what language models do.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness.work import Prepare, Run, Work, compiled, jitted_jax
from benchmarks.shapes import SHAPES, normal


def works(device: str) -> Iterator[Work]:
    """Two for each shape, forward and backward."""
    for shape in SHAPES["attention_cpu"]:
        batch, heads, tokens, size = (shape[name] for name in ("batch", "heads", "tokens", "size"))
        full = (batch, heads, tokens, size)
        for causal in (False, True):
            seen = 0.5 if causal else 1.0
            for backward in (False, True):
                products = 14 if backward else 4
                way = "forward and backward" if backward else "forward"
                yield Work(
                    group=f"attention, f32, {way}",
                    name=f"{'causal ' if causal else ''}{heads} heads, {tokens}x{size}",
                    inputs=partial(normal, *[full] * (4 if backward else 3)),
                    sides=(_backward if backward else _forward)(device, causal),
                    bytes=4 * batch * heads * tokens * size * (8 if backward else 4),
                    operations=int(products * seen * batch * heads * tokens**2 * size),
                    tolerance=1e-3,
                )


def _forward(device: str, causal: bool) -> dict[str, Prepare]:
    def ours(lib: Any, query: Any, key: Any, value: Any) -> Any:
        return lib.attention(query, key, value, causal=causal)

    def torch(*arrays: np.ndarray) -> Run:
        return partial(_of_torch, *map(import_module("torch").from_numpy, arrays), causal=causal)

    return {"brimstone": compiled(ours, device), "torch": torch, "jax": jitted_jax(_of_jax(causal))}


def _backward(device: str, causal: bool) -> dict[str, Prepare]:
    def ours(lib: Any, *arrays: Any) -> Any:
        def loss(query: Any, key: Any, value: Any) -> Any:
            return (lib.attention(query, key, value, causal=causal) * arrays[3]).sum()

        return lib.grad(loss, (0, 1, 2))(*arrays[:3])

    def torch(*arrays: np.ndarray) -> Run:
        lib = import_module("torch")
        query, key, value, weight = map(lib.from_numpy, arrays)
        leaves = [each.requires_grad_() for each in (query, key, value)]

        def run() -> Any:
            return lib.autograd.grad((_of_torch(*leaves, causal=causal) * weight).sum(), leaves)

        return run

    def of_jax(np_like: Any, *arrays: Any) -> Any:
        jax = import_module("jax")

        def loss(query: Any, key: Any, value: Any) -> Any:
            return (_of_jax(causal)(np_like, query, key, value) * arrays[3]).sum()

        return jax.grad(loss, (0, 1, 2))(*arrays[:3])

    return {"brimstone": compiled(ours, device), "torch": torch, "jax": jitted_jax(of_jax)}


def _of_torch(query: Any, key: Any, value: Any, causal: bool) -> Any:
    functional = import_module("torch").nn.functional
    return functional.scaled_dot_product_attention(query, key, value, is_causal=causal)


def _of_jax(causal: bool) -> Callable[..., Any]:
    """Its heads come behind its tokens."""

    def attention(np_like: Any, *arrays: Any) -> Any:
        of_jax = import_module("jax").nn.dot_product_attention
        query, key, value = (np_like.swapaxes(each, 1, 2) for each in arrays)
        return np_like.swapaxes(of_jax(query, key, value, is_causal=causal), 1, 2)

    return attention
