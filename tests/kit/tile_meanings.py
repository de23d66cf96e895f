"""What the kernels of `tile_corpus.py` compute, as anybody would write it in numpy.

Comes in: the arrays that a kernel reads, and the shapes of those that it writes. Goes out: what it
writes, in f64.
Never: a tile, or a rounding on the way.
"""

from collections.abc import Callable, Sequence
from math import erf, sqrt
from typing import Any

import numpy as np

Array = Any
ERF = np.vectorize(erf, otypes=[np.float64])


def meaning_of(name: str, arguments: Sequence[Array], writes: int) -> list[Array]:
    """What the last `writes` arguments hold in the end."""
    reads = [np.asarray(each, np.float64) for each in arguments[: len(arguments) - writes]]
    made = MEANINGS[name](*reads, *[each.shape for each in arguments[len(reads) :]])
    return list(made) if isinstance(made, tuple) else [made]


def gelu(x: Array, *_: Any) -> Array:
    return x * (1 + ERF(x / sqrt(2))) / 2


def softmax(x: Array, *_: Any) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def layer_norm_backward(
    x: Array, weight: Array, mean: Array, rstd: Array, dy: Array, *shapes: Any
) -> tuple[Array, ...]:
    centred = (x - mean[:, None]) * rstd[:, None]
    scaled = weight * dy
    shares = (centred * scaled).mean(1, keepdims=True), scaled.mean(1, keepdims=True)
    dx = (scaled - centred * shares[0] - shares[1]) * rstd[:, None]
    parts = shapes[1][0]
    rows = -(-len(x) // parts)
    cut = [slice(at * rows, (at + 1) * rows) for at in range(parts)]
    d_weight = np.stack([(dy * centred)[each].sum(0) for each in cut])
    return dx, d_weight, np.stack([dy[each].sum(0) for each in cut])


def matmul_gelu(a: Array, b: Array, bias: Array, *_: Any) -> Array:
    return gelu(a @ b + bias)


def matmul(a: Array, b: Array, *_: Any) -> Array:
    return a @ b


def convolution(x: Array, taps: Array, *_: Any) -> Array:
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    height, width = x.shape[1:3]
    parts = [
        padded[:, down : down + height, right : right + width] @ taps[down, right]
        for down in range(3)
        for right in range(3)
    ]
    return np.sum(parts, 0)


def attention_forward(q: Array, k: Array, v: Array, *_: Any) -> tuple[Array, Array]:
    scores = q @ k.swapaxes(1, 2) / sqrt(q.shape[-1])
    lse = np.log(np.exp(scores).sum(-1))
    return softmax(scores) @ v, lse


def attention_gradients(
    q: Array, k: Array, v: Array, do: Array, lse: Array, delta: Array
) -> tuple[Array, Array, Array]:
    scale = 1 / sqrt(q.shape[-1])
    powers = np.exp(q @ k.swapaxes(1, 2) * scale - lse[..., None])
    d_scores = powers * (do @ v.swapaxes(1, 2) - delta[..., None]) * scale
    return d_scores @ k, d_scores.swapaxes(1, 2) @ q, powers.swapaxes(1, 2) @ do


MEANINGS: dict[str, Callable[..., Any]] = {
    "gelu": gelu,
    "softmax": softmax,
    "layer_norm_backward": layer_norm_backward,
    "matmul_gelu": matmul_gelu,
    "persistent_matmul": matmul,
    "split_matmul": matmul,
    "convolution": convolution,
    "attention_forward": attention_forward,
    "attention_backward_keys": lambda *each: attention_gradients(*each[:6])[1:],
    "attention_backward_queries": lambda *each: attention_gradients(*each[:6])[0],
}
