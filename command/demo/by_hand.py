"""The demo's step in numpy, op by op, with derivatives that are worked out on paper.

Comes in: first weights by path, and a batch. Goes out: a function that trains one step of Adam and
gives the loss before it.
Never: anything of Brimstone's that computes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...data import Example
from .digits import Array

RATE, BETAS, SMALL = 1e-3, (0.9, 0.999), 1e-8
"""What Adam is run with where libraries are timed."""

Weights = dict[str, Array]


def with_numpy(weights: Mapping[str, Array], batch: Example) -> Callable[[], Any]:
    """A step that changes weights of its own."""
    weights = {name: value.copy() for name, value in weights.items()}
    mean, square = ({name: np.zeros_like(each) for name, each in weights.items()} for _ in "ms")
    (one, two), count = BETAS, 0

    def advance() -> Any:
        nonlocal count
        count += 1
        value, slopes = slopes_of(weights, batch)
        rate = RATE * (1 - two**count) ** 0.5 / (1 - one**count)
        for name, slope in slopes.items():
            mean[name] = one * mean[name] + (1 - one) * slope
            square[name] = two * square[name] + (1 - two) * slope * slope
            weights[name] -= rate * mean[name] / (np.sqrt(square[name]) + SMALL)
        return value

    return advance


def slopes_of(weights: Weights, batch: Example) -> tuple[Any, Weights]:
    """The loss and its derivatives."""
    count = len(batch.label)
    seen, strokes = convolved(weights, "strokes", batch.input)
    felt, shapes = convolved(weights, "shapes", strokes)
    squares = shapes.reshape(count, -1, 4, 2, 4, 2)
    largest = squares.max(axis=(3, 5), keepdims=True)
    places = largest.reshape(count, -1)
    parts = np.maximum(dense(weights, "parts", places), 0)
    scores = dense(weights, "digits", parts)
    scores = scores - scores.max(axis=1, keepdims=True)
    known = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    rows = np.arange(count)

    slopes: Weights = {}
    behind = np.exp(known)
    behind[rows, batch.label] -= 1
    behind = behind_dense(weights, slopes, "digits", parts, behind / np.float32(count))
    behind = behind_dense(weights, slopes, "parts", places, behind * (parts > 0))
    behind = np.where(squares == largest, behind.reshape(largest.shape), 0).reshape(shapes.shape)
    behind = behind_convolved(weights, slopes, "shapes", felt, behind * (shapes > 0))
    behind_convolved(weights, slopes, "strokes", seen, behind * (strokes > 0))
    return -known[rows, batch.label].mean(), slopes


def dense(weights: Weights, name: str, inputs: Array) -> Array:
    """inputs @ weight.T + bias"""
    return inputs @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def behind_dense(
    weights: Weights, slopes: Weights, name: str, inputs: Array, slope: Array
) -> Array:
    """The slope by the inputs; those by the weights are left in `slopes`."""
    slopes[f"{name}.weight"], slopes[f"{name}.bias"] = slope.T @ inputs, slope.sum(axis=0)
    return slope @ weights[f"{name}.weight"]


def convolved(weights: Weights, name: str, images: Array) -> tuple[Array, Array]:
    """The windows of images as rows, and what a convolution and a ReLU make of them."""
    kernel, rows = weights[f"{name}.weight"], windows(images)
    made = rows @ kernel.reshape(len(kernel), -1).T + weights[f"{name}.bias"]
    return rows, np.maximum(as_images(made, images), 0)


def behind_convolved(
    weights: Weights, slopes: Weights, name: str, rows: Array, slope: Array
) -> Array:
    """The slope by the images; those by the weights are left in `slopes`."""
    kernel = weights[f"{name}.weight"]
    flat = slope.transpose(0, 2, 3, 1).reshape(-1, len(kernel))
    slopes[f"{name}.weight"] = (flat.T @ rows).reshape(kernel.shape)
    slopes[f"{name}.bias"] = flat.sum(axis=0)
    turned = kernel[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return as_images(windows(slope) @ turned.reshape(len(turned), -1).T, slope)


def windows(images: Array) -> Array:
    """All windows of 3 by 3 pixels, each as a row, in all channels."""
    padded = np.pad(images, [(0, 0), (0, 0), (1, 1), (1, 1)])
    found = sliding_window_view(padded, (3, 3), axis=(2, 3)).transpose(0, 2, 3, 1, 4, 5)
    return np.ascontiguousarray(found).reshape(-1, images.shape[1] * 9)


def as_images(rows: Array, like: Array) -> Array:
    """A row for each pixel, as images of the size of others."""
    count, _, height, width = like.shape
    return np.ascontiguousarray(rows.reshape(count, height, width, -1).transpose(0, 3, 1, 2))
