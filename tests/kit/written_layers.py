"""Attention and what stands around it, written out in numpy, one query at a time.

Comes in: arrays, and parameters by PyTorch's names. Goes out: arrays.
Never: a library that is tested.
"""

from typing import Any

import numpy as np

from kit.sequences import Array


def softmax(scores: Array) -> Array:
    """Shares of scores; of none that count, zeros."""
    if np.all(scores == -np.inf):
        return np.zeros_like(scores)
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def attend(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """One head: [length, size], [keys, size], [keys, size] -> [length, size]."""
    scores = query @ key.T * options.get("scale", query.shape[-1] ** -0.5)
    if "soft_cap" in options:
        scores = np.tanh(scores / options["soft_cap"]) * options["soft_cap"]
    scores = np.where(options.get("counts", True), scores + options.get("bias", 0), -np.inf)
    if options.get("causal"):
        rows, columns = scores.shape
        scores = np.where(np.tri(rows, columns, columns - rows, dtype=bool), scores, -np.inf)
    return np.stack([softmax(row) for row in scores]) @ value


def attend_by_heads(query: Array, key: Array, value: Array, size: int, **options: Any) -> Array:
    """Heads of `size` numbers that lie beside each other; those of keys are shared if fewer."""
    heads, groups = query.shape[-1] // size, key.shape[-1] // size

    def part(x: Array, place: int) -> Array:
        return x[:, place * size : (place + 1) * size]

    made = [
        attend(part(query, at), part(key, at * groups // heads), part(value, at * groups // heads),
               **{name: _of_head(each, at) for name, each in options.items()})
        for at in range(heads)
    ]  # fmt: skip
    return np.concatenate(made, axis=-1)


def _of_head(option: Any, place: int) -> Any:
    """What an option is for one head, if it has an axis of heads."""
    return option[place] if isinstance(option, np.ndarray) and option.ndim == 3 else option


def multi_head(query: Array, key: Array, value: Array, own: Any, heads: int, **options: Any) -> Any:
    """Attention with the parameters of PyTorch's layer, for one sequence [length, size]."""
    width = own["out_proj.weight"].shape[0]
    if "in_proj_weight" in own:
        weights = np.split(own["in_proj_weight"], 3)
    else:
        weights = [own[f"{letter}_proj_weight"] for letter in "qkv"]
    biases = np.split(own.get("in_proj_bias", np.zeros(3 * width)), 3)
    parts = zip((query, key, value), weights, biases, strict=True)
    q, k, v = (x @ weight.T + bias for x, weight, bias in parts)
    made = attend_by_heads(q, k, v, width // heads, **options)
    return made @ own["out_proj.weight"].T + own.get("out_proj.bias", 0)


def layer_norm(x: Array, own: Any, name: str, eps: float = 1e-5) -> Array:
    """Rows less their mean, over their deviation, times a weight, plus a bias."""
    centred = x - x.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    return normal * own[f"{name}.weight"] + own.get(f"{name}.bias", 0)


def within(own: Any, prefix: str) -> dict[str, Array]:
    """The parameters of a part."""
    start = f"{prefix}."
    return {name[len(start) :]: each for name, each in own.items() if name.startswith(start)}


def rotated(x: Array, base: float, interleaved: bool, offset: int = 0) -> Array:
    """Pairs of each row as complex numbers, turned by angles that grow with the row's number."""
    size = x.shape[-1]
    one, other = (x[:, 0::2], x[:, 1::2]) if interleaved else np.split(x, 2, axis=-1)
    frequencies = base ** (-2 * np.arange(size // 2) / size)
    angles = (np.arange(len(x)) + offset)[:, None] * frequencies
    turned = (one + 1j * other) * np.exp(1j * angles)
    if not interleaved:
        return np.concatenate([turned.real, turned.imag], axis=-1)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def feed_forward(x: Array, own: Any, curve: Any) -> Array:
    """Wider, through a curve, and narrow again."""
    hidden = curve(x @ own["linear1.weight"].T + own.get("linear1.bias", 0))
    return hidden @ own["linear2.weight"].T + own.get("linear2.bias", 0)


def transformer_layer(x: Array, own: Any, heads: int, memory: Any = None, **options: Any) -> Array:
    """One layer of an encoder, or of a decoder if there is a memory; one sequence."""
    first, curve = options.pop("norm_first", False), options.pop("curve", rectified)
    normed = options.pop("normed", layer_norm)

    def itself(x: Array) -> Array:
        return multi_head(x, x, x, within(own, "self_attn"), heads, **options)

    def of_memory(x: Array) -> Array:
        return multi_head(x, memory, memory, within(own, "multihead_attn"), heads)

    def alone(x: Array) -> Array:
        return feed_forward(x, own, curve)

    parts = [itself, alone] if memory is None else [itself, of_memory, alone]
    for number, part in enumerate(parts, 1):
        norm = f"norm{number}"
        x = x + part(normed(x, own, norm)) if first else normed(x + part(x), own, norm)
    return x


def rectified(x: Array) -> Array:
    """What is above 0."""
    return np.maximum(x, 0)
