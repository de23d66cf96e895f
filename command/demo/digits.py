"""What the demo learns: to read digits of 8 by 8 pixels, by a convolutional network.

Comes in: the digits that scikit-learn brings, which were written by hand. Goes out: those to learn
from and those held out, as numpy's arrays; a network, its loss, and how often it is right.
Never: a download, or a digit held out that the network has learned from.
"""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ... import float32, max_pool, random, relu
from ...data import Example
from ...nn import Conv2d, Linear, Module, cross_entropy

Array = np.ndarray[Any, np.dtype[Any]]

CLASSES = 10
SIDE, MARGIN = 8, 1
"""How many pixels a side has, and how far an image is moved."""
INK = 16
"""The darkest pixel, of a pen; 0 is paper."""
HELD_OUT = 360


class Network(Module):
    """Two convolutions find strokes and what they form, two dense layers the digit in that."""

    def __init__(self, key: Any) -> None:
        one, two, three, four = random.split(key, 4)
        self.strokes = Conv2d(1, 16, 3, padding=1, key=one)
        self.shapes = Conv2d(16, 32, 3, padding=1, key=two)
        self.parts = Linear(32 * (SIDE // 2) ** 2, 64, key=three)
        self.digits = Linear(64, CLASSES, key=four)

    def forward(self, images: Any) -> Any:
        strokes = relu(self.strokes(images))
        shapes = relu(self.shapes(strokes))
        places = max_pool(shapes, 2).reshape(len(images), -1)
        parts = relu(self.parts(places))
        return self.digits(parts)


def loss(network: Network, batch: Example) -> tuple[Any, Any]:
    """How surprising the labels are, on average; and the scores of each digit."""
    scores = network(batch.input)
    return cross_entropy(scores, batch.label), scores


def accuracy(scores: Any, batch: Example) -> Any:
    """The part of the images that is read right."""
    return (scores.argmax(axis=1) == batch.label).astype(float32).mean()


def handwritten() -> tuple[Example, Example]:
    """Those to learn from and those held out, the same for every seed: images from -1 (paper) to 1,
    float32[n, 1, 8, 8], and the digits that they show."""
    from sklearn.datasets import load_digits  # pyright: ignore[reportMissingImports]

    images, labels = load_digits(return_X_y=True)
    images = (images / (INK / 2) - 1).astype(np.float32).reshape(-1, 1, SIDE, SIDE)
    order = np.random.default_rng(0).permutation(len(labels))
    held, learned = order[:HELD_OUT], order[HELD_OUT:]
    return Example(images[learned], labels[learned]), Example(images[held], labels[held])


def with_margin(each: Example) -> Example:
    """The same images on larger paper."""
    around = [(0, 0), (0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)]
    return Example(np.pad(each.input, around, constant_values=-1), each.label)


def moved(batch: Example, generator: np.random.Generator) -> Example:
    """Images with a margin, each cut out a pixel further up, down, left or right, or not moved."""
    count = len(batch.label)
    down, right = generator.integers(0, 2 * MARGIN + 1, (2, count))
    windows = sliding_window_view(batch.input, (SIDE, SIDE), axis=(2, 3))
    return Example(windows[np.arange(count), :, down, right], batch.label)
