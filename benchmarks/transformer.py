"""A small language model of plain functions, and the slopes of its loss.

Comes in: its sizes. Goes out: a function, and arguments for it.
Never: a layer of the library; what is measured with it is what plain code costs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import brimstone as bs

Tree = dict[str, Any]
SMALL = 0.02


def slopes(
    layers: int, width: int, heads: int, vocabulary: int, batch: int, tokens: int
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The loss and its gradients by all weights, and what they are taken of."""
    draws = np.random.default_rng(0)
    weights = _weights(draws, layers, width, vocabulary, tokens)
    texts = [bs.tensor(draws.integers(0, vocabulary, (batch, tokens))) for _ in range(2)]

    def loss(tree: Tree, given: Any, wanted: Any) -> Any:
        logits = _model(tree, given, heads)
        less = logits - bs.max(logits, -1, keepdims=True)
        total = bs.log(bs.sum(bs.exp(less), -1))
        is_wanted = wanted[..., None] == bs.arange(vocabulary)
        return bs.mean(total - bs.sum(bs.where(is_wanted, less, 0.0), -1))

    return bs.value_and_grad(loss), (weights, *texts)


def _weights(draws: Any, layers: int, width: int, vocabulary: int, tokens: int) -> Tree:
    def matrix(*shape: int) -> Any:
        return bs.tensor((draws.normal(size=shape) * SMALL).astype(np.float32))

    def row(size: int, value: float = 0.0) -> Any:
        return bs.tensor(np.full(size, value, np.float32))

    def affine(inner: int, outer: int) -> Any:
        return matrix(inner, outer), row(outer)

    def layer() -> Tree:
        return {
            "before": (row(width, 1.0), row(width)),
            "between": (row(width, 1.0), row(width)),
            "heads": affine(width, 3 * width),
            "out": affine(width, width),
            "up": affine(width, 4 * width),
            "down": affine(4 * width, width),
        }

    return {
        "words": matrix(vocabulary, width),
        "places": matrix(tokens, width),
        "layers": [layer() for _ in range(layers)],
        "last": (row(width, 1.0), row(width)),
        "head": matrix(width, vocabulary),
    }


def _model(tree: Tree, given: Any, heads: int) -> Any:
    """The logits of the next word at each place."""
    x = tree["words"][given] + tree["places"]
    for layer in tree["layers"]:
        x = x + _attended(_normed(x, layer["before"]), layer, heads)
        wide = bs.gelu(_affine(_normed(x, layer["between"]), layer["up"]))
        x = x + _affine(wide, layer["down"])
    return _normed(x, tree["last"]) @ tree["head"]


def _affine(x: Any, weights: Any) -> Any:
    matrix, row = weights
    return x @ matrix + row


def _normed(x: Any, weights: Any) -> Any:
    scale, shift = weights
    less = x - bs.mean(x, -1, keepdims=True)
    variance = bs.mean(less * less, -1, keepdims=True)
    return less * bs.rsqrt(variance + 1e-5) * scale + shift


def _attended(x: Any, layer: Tree, heads: int) -> Any:
    """Each place looks at those before it."""
    batch, tokens, width = x.shape
    all_heads = _affine(x, layer["heads"]).reshape(batch, tokens, 3, heads, width // heads)
    query, key, value = (all_heads[:, :, place].permute(0, 2, 1, 3) for place in range(3))
    scores = query @ key.permute(0, 1, 3, 2) * (width // heads) ** -0.5
    before = bs.arange(tokens)[:, None] >= bs.arange(tokens)[None, :]
    scores = bs.where(before, scores, float("-inf"))
    exponentials = bs.exp(scores - bs.max(scores, -1, keepdims=True))
    weights = exponentials / bs.sum(exponentials, -1, keepdims=True)
    mixed = (weights @ value).permute(0, 2, 1, 3).reshape(batch, tokens, width)
    return _affine(mixed, layer["out"])
