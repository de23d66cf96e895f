"""A network of products and ReLU, which learns to tell images of noise around a picture each.

Comes in: sizes. Goes out: a case.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

import brimstone as bs
from benchmarks.learning.case import MATMUL, UPDATING, Batch, Case
from brimstone import nn


def network(layers: Sequence[int]) -> Any:
    """Images in, scores of classes out."""
    keys = bs.random.split(bs.random.key(0), len(layers))
    pairs = zip(pairwise(layers), keys, strict=False)
    modules = [each for sizes, key in pairs for each in (nn.Linear(*sizes, key=key), nn.ReLU())]
    return nn.Sequential(*modules[:-1])


def case(layers: Sequence[int], batch: int) -> Case:
    """The network at these sizes."""
    products = [rows * columns for rows, columns in pairwise(layers)]
    return Case(
        name=f"MLP, {'-'.join(map(str, layers))}, batch {batch}",
        ours=partial(network, layers),
        peer=lambda: import_module("benchmarks.learning.peers").mlp(layers),
        batches=partial(batches, layers[0], layers[-1], batch),
        operations={
            MATMUL: 2 * batch * (2 * sum(products) - products[0]),  # nor here of what it is given
            UPDATING: 2 * batch * sum(products),
        },
    )


def batches(size: int, classes: int, batch: int) -> Iterator[Batch]:
    """A picture for each class, under more noise than there is of it."""
    draws = np.random.default_rng(0)
    pictures = draws.standard_normal((classes, size), np.float32) * np.float32(0.06)
    while True:
        wanted = draws.integers(0, classes, batch)
        yield pictures[wanted] + draws.standard_normal((batch, size), np.float32), wanted
