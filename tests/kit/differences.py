"""Gradients beside differences: how a number changes along one direction, by both.

Comes in: a function of tensors of float64 that is smooth there. Goes out: nothing; complains where
the two disagree.
Never: a function whose values jump.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import brimstone as bs

STEP = 1e-6


def direction(tensor: bs.Tensor) -> bs.Tensor:
    """A number for each element, all of them different."""
    return bs.asarray(np.cos(1.0 + np.arange(float(tensor.size))).reshape(tensor.shape))


def check_gradients(function: Callable[..., bs.Tensor], *tensors: bs.Tensor) -> None:
    """Complain unless the gradient by each tensor agrees with a central difference."""

    def loss(*tensors: bs.Tensor) -> bs.Tensor:
        made = function(*tensors)
        return (made * direction(made)).sum()

    slopes: Any = bs.grad(loss, argnums=tuple(range(len(tensors))))(*tensors)
    for at, (tensor, slope) in enumerate(zip(tensors, slopes, strict=True)):
        along = direction(tensor)
        ahead, back = [
            float(loss(*tensors[:at], tensor + by * along, *tensors[at + 1 :]))
            for by in (STEP, -STEP)
        ]
        expected = (ahead - back) / (2 * STEP)
        np.testing.assert_allclose(float((slope * along).sum()), expected, rtol=1e-6, atol=1e-7)
