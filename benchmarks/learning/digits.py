"""The network of `examples/digits.py`: convolutions that learn to read digits of 8 by 8 pixels.

Comes in: sizes. Goes out: a case.
Never: dropout, which the example has besides.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import brimstone as bs
from benchmarks.learning.case import CONVOLUTION, MATMUL, UPDATING, Batch, Case
from brimstone import nn

SIZE, WINDOW, CLASSES = 8, 3, 10


def network(first: int, second: int, hidden: int) -> Any:
    """Images in, scores of digits out."""
    keys = bs.random.split(bs.random.key(0), 4)
    return nn.Sequential(
        nn.Conv2d(1, first, WINDOW, padding=1, key=keys[0]),
        nn.ReLU(),
        nn.Conv2d(first, second, WINDOW, padding=1, key=keys[1]),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * (SIZE // 2) ** 2, hidden, key=keys[2]),
        nn.ReLU(),
        nn.Linear(hidden, CLASSES, key=keys[3]),
    )


def case(channels: Sequence[int], hidden: int, batch: int) -> Case:
    """The network at these sizes."""
    first, second = channels
    weights = hidden * (second * (SIZE // 2) ** 2 + CLASSES)
    outer, inner = (SIZE**2 * WINDOW**2 * each for each in (first, first * second))
    return Case(
        name=f"digits CNN, {first}-{second} channels, batch {batch}",
        ours=partial(network, first, second, hidden),
        peer=lambda: import_module("benchmarks.learning.peers").digits(first, second, hidden),
        batches=partial(batches, batch),
        operations={
            MATMUL: 2 * 2 * batch * weights,
            UPDATING: 2 * batch * weights,
            CONVOLUTION: 2 * batch * (2 * outer + 3 * inner),  # nobody asks for slopes of images
        },
        rate=2e-3,
    )


def batches(batch: int) -> Iterator[Batch]:
    """Images and their digits, of scikit-learn, in another order each time they are through."""
    datasets = import_module("sklearn.datasets")
    images, digits = datasets.load_digits(return_X_y=True)
    images = (images / 8 - 1).astype(np.float32).reshape(-1, 1, SIZE, SIZE)
    draws = np.random.default_rng(0)
    while True:
        order = draws.permutation(len(images))
        for first in range(0, len(order) - batch + 1, batch):
            places = order[first : first + batch]
            yield images[places], digits[places].astype(np.int64)
