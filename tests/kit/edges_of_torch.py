"""The edges of functions beside those of PyTorch: kinks, ties, and formulas that divide by zero.

Comes in: nothing. Goes out: the table `EDGES`, and `DIFFERENCES`, where PyTorch decides otherwise.
Never: a need for PyTorch: where it is not installed, a test that imports this module is skipped.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

import brimstone as bs
from kit.beside_torch import F, Row, alike, named, pair, torch

ZEROS, POINTS, TIES = np.zeros((2, 3)), np.array([0.0, -1.0, 1.0]), np.array([0.0, 2.0, 1.0])
TIED = np.array([[1.0, 3.0, 3.0, -2.0], [0.0, 0.0, 0.0, 0.0], [5.0, 1.0, 5.0, 5.0]])

# Where functions have kinks, or formulas divide by zero; second derivatives where there are some.
EDGES = {
    **named("silu gelu softplus", POINTS,
            prefix="nn.functional."),
    **named("relu elu leaky_relu", POINTS, prefix="nn.functional.", order=1),
    **named("abs sign square sinc", POINTS, order=1),
    **named("maximum minimum atan2 remainder copysign", POINTS, TIES, order=1),
    **named("logaddexp", POINTS, POINTS * [1, 1, 2]),
    **named("pow", TIES, TIES, order=1),
    **named("xlogy", POINTS, TIES + 0.5),
    **named("linalg.vector_norm linalg.matrix_norm", ZEROS, order=1),
    "log_sigmoid": pair(bs.log_sigmoid, F.logsigmoid, POINTS),
    "whole powers": alike(lambda lib, x: (x ** 0, x ** 1, x ** 2, x ** 3), POINTS),
    "max": pair(partial(bs.max, axis=1), partial(torch.amax, dim=1), TIED, order=1),
    "min": pair(partial(bs.min, axis=1), partial(torch.amin, dim=1), TIED, order=1),
    "max of all": pair(bs.max, torch.max, TIED, order=1),
    "argmax": alike(lambda lib, x: lib.argmax(x, dim=1), TIED, order=0),
    "cumulative_max": pair(partial(bs.cumulative_max, axis=1),
                           lambda x: torch.cummax(x, 1).values, TIED, order=1),
    "sort": pair(bs.sort, lambda x: torch.sort(x, stable=True).values, TIED, order=1),
    "logsumexp": alike(lambda lib, x: lib.logsumexp(x, dim=1), TIED),
    "softmax": alike(lambda lib, x: lib.softmax(x, dim=1), TIED),
    "std": alike(lambda lib, x: lib.std(x, dim=1, correction=0), TIED, order=1),
    "largest length": alike(lambda lib, x: lib.linalg.vector_norm(x, ord=np.inf, dim=1), TIED,
                            order=1),
    **{
        f"vector_norm of zeros, {order}": alike(
            lambda lib, x, order=order: lib.linalg.vector_norm(x, ord=order, dim=1), ZEROS,
            order=1)
        for order in (1, 3, np.inf)
    },
}  # fmt: skip


class Difference(NamedTuple):
    """A program that returns one number, whose gradients differ: ours, and why."""

    row: Row
    gradients: tuple[list[float], ...]
    why: str


HALF = "equals share, as they do in `maximum` of both libraries"
LIMIT = "PyTorch gives NaN where a factor of 0 takes the place of an infinite one"
DIFFERENCES = {
    "clip": Difference(pair(lambda x: bs.clip(x, 0, 1).sum(), lambda x: x.clip(0, 1).sum(), POINTS),
                       ([0.5, 0, 0.5],), HALF),
    "max along an axis": Difference(
        pair(lambda x: bs.max(x, axis=0), lambda x: torch.max(x, 0).values, np.array([2.0, 2.0])),
        ([0.5, 0.5],), HALF),
    "median of two": Difference(pair(bs.median, torch.median, np.array([1.0, 2.0])), ([0.5, 0.5],),
                                "it is the average of the middle two; PyTorch takes the lower"),
    "hypot": Difference(named("hypot", POINTS[:1], POINTS[:1])["hypot"], ([0], [0]), LIMIT),
    "xlogy": Difference(named("xlogy", POINTS[:1], POINTS[:1])["xlogy"], ([0], [0]), LIMIT),
    "entropy": Difference(pair(bs.entropy, torch.special.entr, POINTS[:1]), ([0],), LIMIT),
}  # fmt: skip
